/* The device layer: every name that emitted kernels may use, with one of three backends behind it.
 *
 *   PF_HEXAGON        the phone: HVX intrinsics, user DMA, HMX as assembler text (PF_SDK) or encoded words
 *   PF_MODEL_CHECKED  the functional model that traps on every rule the hardware breaks silently
 *   PF_MODEL_FAST     the functional model with SIMD bodies and no traps; same bits as the checked one
 */
#ifndef PF_DEVICE_H
#define PF_DEVICE_H

#if defined(PF_HEXAGON) + defined(PF_MODEL_CHECKED) + defined(PF_MODEL_FAST) != 1
#error "define exactly one of PF_HEXAGON, PF_MODEL_CHECKED, PF_MODEL_FAST"
#endif

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "half.h"
#include "tile.h"

#if defined(PF_HEXAGON)
#include "hexagon_device.h"
#else
#include <string.h>

#include "model.h"
#include "model_device.h"
#endif

#include "trap.h"
#include "race.h"
#include "own_step.h"
#include "shadow.h"
#include "vtcm.h"
#include "enter.h"
#include "mirror.h"

#if defined(PF_HEXAGON)
#include "dma_hexagon.h"
#include "hmx_hexagon.h"
#include "workers_hexagon.h"
#else
#include "dma_model.h"
#include "hmx_model.h"
#include "workers_model.h"
#endif

#include "strips.h"

#endif
