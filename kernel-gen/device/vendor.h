/* What the DSP's runtime gives: threads and semaphores (QuRT), VTCM, HMX and power (HAP), the log and the packet queue.
 *
 * PF_SDK: the SDK's own headers. Otherwise these are declarations of our own, by the public signatures, layouts and numbers,
 * of the little this project uses; no phone has confirmed them. Enumerations are as wide as the SDK's compiler makes them.
 */
#ifndef PF_VENDOR_H
#define PF_VENDOR_H

#if defined(PF_SDK)

#include <AEEStdErr.h>
#include <HAP_compute_res.h>
#include <HAP_farf.h>
#include <HAP_power.h>
#include <dspqueue.h>
#include <qurt.h>
#include <remote.h>

#else

#include <stdint.h>

/* Results. */
#define AEE_SUCCESS 0
#define AEE_EBADPARM ((int)0x8000040Eu)
#define AEE_EUNSUPPORTED ((int)0x80000414u)
#define AEE_EWOULDBLOCK 516

/* FastRPC: arguments of a call, in buffers, out buffers, in handles, out handles. */
typedef uint64_t remote_handle64;
typedef union {
    struct {
        void *pv;
        uint32_t nLen;
    } buf;
    uint32_t h;
    remote_handle64 h64;
} remote_arg;
#define REMOTE_SCALARS_METHOD(sc) ((sc) >> 24 & 0x1Fu)
#define REMOTE_SCALARS_INBUFS(sc) ((sc) >> 16 & 0xFFu)
#define REMOTE_SCALARS_OUTBUFS(sc) ((sc) >> 8 & 0xFFu)
#define REMOTE_SCALARS_INHANDLES(sc) ((sc) >> 4 & 0xFu)
#define REMOTE_SCALARS_OUTHANDLES(sc) ((sc) & 0xFu)

/* QuRT. */
#define QURT_EOK 0
typedef uint32_t qurt_thread_t;
typedef union {
    uint32_t raw[2];
    uint64_t whole;
} qurt_sem_t;
typedef struct {
    char name[16];
    uint8_t tcb_partition, stid;
    uint16_t priority;
    uint8_t flags, bus_priority;
    uint16_t timetest_id;
    uint32_t stack_size;
    void *stack_addr;
    uint32_t detach_state;
    uint32_t reserved[8]; /* later versions may have more fields; zero is their default */
} qurt_thread_attr_t;

int qurt_thread_create(qurt_thread_t *thread, qurt_thread_attr_t *attributes, void (*entry)(void *), void *argument);
void qurt_thread_exit(int status);
int qurt_thread_join(unsigned int thread, int *status);
qurt_thread_t qurt_thread_get_id(void);
int qurt_thread_get_priority(qurt_thread_t thread);
int qurt_hvx_get_units(void);
void qurt_sem_init_val(qurt_sem_t *semaphore, unsigned short value);
int qurt_sem_add(qurt_sem_t *semaphore, unsigned int amount);
int qurt_sem_down(qurt_sem_t *semaphore);
void qurt_sem_destroy(qurt_sem_t *semaphore);

static inline int qurt_sem_up(qurt_sem_t *semaphore) { return qurt_sem_add(semaphore, 1); }

static inline void qurt_thread_attr_init(qurt_thread_attr_t *attributes)
{
    volatile uint8_t *bytes = (volatile uint8_t *)attributes; /* volatile: a loop that must not become memset */
    for (uint32_t i = 0; i < sizeof *attributes; i++)
        bytes[i] = 0;
    attributes->priority = 256;
    attributes->bus_priority = 255;
    attributes->timetest_id = (uint16_t)-2;
}

static inline void qurt_thread_attr_set_name(qurt_thread_attr_t *attributes, const char *name)
{
    for (uint32_t i = 0; i + 1u < sizeof attributes->name && name[i]; i++)
        attributes->name[i] = name[i];
}

static inline void qurt_thread_attr_set_stack_addr(qurt_thread_attr_t *attributes, void *stack)
{
    attributes->stack_addr = stack;
}

static inline void qurt_thread_attr_set_stack_size(qurt_thread_attr_t *attributes, uint32_t bytes)
{
    attributes->stack_size = bytes;
}

static inline void qurt_thread_attr_set_priority(qurt_thread_attr_t *attributes, unsigned short priority)
{
    attributes->priority = priority;
}

/* VTCM and HMX. The SDK's HAP_ functions are inline ones that call these. */
typedef struct {
    unsigned long long attributes[8];
} compute_res_attr_t;

int compute_resource_attr_init(compute_res_attr_t *attributes);
int compute_resource_attr_set_serialize(compute_res_attr_t *attributes, unsigned char on);
int compute_resource_attr_set_cache_mode(compute_res_attr_t *attributes, unsigned char on);
int compute_resource_attr_set_hmx_param(compute_res_attr_t *attributes, unsigned char on);
int compute_resource_attr_set_vtcm_param_v2(compute_res_attr_t *attributes, unsigned int bytes, unsigned int least_page,
                                            unsigned int least_bytes);
int compute_resource_attr_set_release_callback(compute_res_attr_t *attributes,
                                               int (*callback)(unsigned int context, void *client), void *client);
int compute_resource_attr_get_vtcm_ptr_v2(compute_res_attr_t *attributes, void **vtcm, unsigned int *bytes);
int compute_resource_query_VTCM(unsigned int application, unsigned int *total, void *total_pages, unsigned int *available,
                                void *available_pages);
unsigned int compute_resource_acquire(compute_res_attr_t *attributes, unsigned int timeout_us);
int compute_resource_release(unsigned int context);
int compute_resource_acquire_cached(unsigned int context, unsigned int timeout_us);
int compute_resource_release_cached(unsigned int context);
int compute_resource_hmx_lock(unsigned int context);
int compute_resource_hmx_unlock(unsigned int context);

#define HAP_compute_res_attr_init compute_resource_attr_init
#define HAP_compute_res_attr_set_serialize compute_resource_attr_set_serialize
#define HAP_compute_res_attr_set_cache_mode compute_resource_attr_set_cache_mode
#define HAP_compute_res_attr_set_hmx_param compute_resource_attr_set_hmx_param
#define HAP_compute_res_attr_set_vtcm_param_v2 compute_resource_attr_set_vtcm_param_v2
#define HAP_compute_res_attr_set_release_callback compute_resource_attr_set_release_callback
#define HAP_compute_res_attr_get_vtcm_ptr_v2 compute_resource_attr_get_vtcm_ptr_v2
#define HAP_compute_res_query_VTCM compute_resource_query_VTCM
#define HAP_compute_res_acquire compute_resource_acquire
#define HAP_compute_res_release compute_resource_release
#define HAP_compute_res_acquire_cached compute_resource_acquire_cached
#define HAP_compute_res_release_cached compute_resource_release_cached
#define HAP_compute_res_hmx_lock compute_resource_hmx_lock
#define HAP_compute_res_hmx_unlock compute_resource_hmx_unlock

/* Power. */
enum {
    HAP_power_set_HVX = 2,
    HAP_power_set_apptype = 3,
    HAP_power_set_DCVS_v3 = 12,
    HAP_power_set_HMX_v2 = 14
};
#define HAP_POWER_COMPUTE_CLIENT_CLASS 4
#define HAP_DCVS_V2_PERFORMANCE_MODE 0x10
#define HAP_DCVS_VCORNER_MAX 0xFF
#define HAP_DCVS_EXP_VCORNER_MAX 0xFFFF
#define HAP_CLK_PERF_HIGH 0

typedef struct {
    uint8_t target_corner, min_corner, max_corner;
    uint32_t params[3];
} pf_power_corners;

typedef struct {
    uint8_t type;
    union {
        uint64_t aligned;
        uint8_t apptype;
        struct {
            uint8_t set_dcvs_enable, dcvs_enable, dcvs_option, set_latency;
            uint32_t latency;
            uint8_t set_core_params;
            pf_power_corners core_params;
            uint8_t set_bus_params;
            pf_power_corners bus_params;
            uint8_t set_dcvs_v3_params;
            uint32_t params[6];
            uint8_t set_sleep_disable, sleep_disable;
        } dcvs_v3;
        struct {
            uint8_t power_up;
        } hvx;
        struct {
            uint8_t set_power, power_up, set_clock, pick_default;
            uint16_t target_corner, min_corner, max_corner;
            uint8_t perf_mode;
            uint32_t freq_mhz, floor_freq_mhz, params[3];
        } hmx_v2;
        uint8_t bytes[112];
    };
} HAP_power_request_t;

_Static_assert(sizeof(pf_power_corners) == 16, "layout of the runtime");
_Static_assert(sizeof(((HAP_power_request_t *)0)->dcvs_v3) == 80, "layout of the runtime");
_Static_assert(sizeof(((HAP_power_request_t *)0)->hmx_v2) == 32, "layout of the runtime");
_Static_assert(sizeof(HAP_power_request_t) == 120, "layout of the runtime");

int HAP_power_set(void *context, HAP_power_request_t *request);

/* The log. */
#define PF_LOG_HIGH 2
#define PF_LOG_ERROR 3
void HAP_debug_v2(int level, const char *file, int line, const char *format, ...);
#define FARF(level, ...) HAP_debug_v2(PF_LOG_##level, __FILE_NAME__, __LINE__, __VA_ARGS__)

/* The packet queue. */
typedef struct dspqueue *dspqueue_t;
typedef void (*dspqueue_callback_t)(dspqueue_t queue, int error, void *context);
struct dspqueue_buffer {
    uint32_t fd, size, offset, flags;
    union {
        void *ptr;
        uint64_t address;
    };
};
enum {
    DSPQUEUE_BUFFER_FLAG_REF = 0x04,
    DSPQUEUE_BUFFER_FLAG_DEREF = 0x08,
    DSPQUEUE_BUFFER_FLAG_FLUSH_SENDER = 0x10,
    DSPQUEUE_BUFFER_FLAG_INVALIDATE_RECIPIENT = 0x80
};
int dspqueue_import(uint64_t id, dspqueue_callback_t packet, dspqueue_callback_t error, void *context, dspqueue_t *queue);
int dspqueue_close(dspqueue_t queue);
int dspqueue_read_noblock(dspqueue_t queue, uint32_t *flags, uint32_t most_buffers, uint32_t *buffer_count,
                          struct dspqueue_buffer *buffers, uint32_t most_bytes, uint32_t *bytes, uint8_t *message);
int dspqueue_write(dspqueue_t queue, uint32_t flags, uint32_t buffer_count, struct dspqueue_buffer *buffers, uint32_t bytes,
                   const uint8_t *message, uint32_t timeout_us);

#endif

#endif
