/* The kernels of a library, and the table they are found in. */
#include "device.h"
#include "permafrost_kernels.c"

const struct pf_kernel *pf_module_kernels(uint32_t *count)
{
    *count = sizeof pf_kernels / sizeof pf_kernels[0];
    return pf_kernels;
}
