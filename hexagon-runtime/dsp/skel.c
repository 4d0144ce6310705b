/* The skeleton entry: takes FastRPC's calls apart. Arguments lie as qaic lays them out for permafrost.idl: all scalars that go
 * in are one buffer, all that come out another, each field at its natural alignment. */
#define PF_VENDOR 1
#include "vendor.h"

#include "module.h"

enum { PF_OPEN = 0, PF_CLOSE = 1, PF_QUERY = 2, PF_START = 3, PF_STOP = 4 };

#define PF_COUNTS(sc) ((sc) & 0x00FFFFFFu)
#define PF_SCALARS(in, out, in_handles, out_handles) \
    ((uint32_t)(in) << 16 | (uint32_t)(out) << 8 | (uint32_t)(in_handles) << 4 | (uint32_t)(out_handles))

/* FastRPC gives every application a process of its own, so the process is the session and the handle only has to be no 0. */
#define PF_HANDLE 1u

static int pf_holds(const remote_arg *argument, uint32_t bytes)
{
    return argument->buf.pv && argument->buf.nLen >= bytes;
}

__attribute__((visibility("default"))) int permafrost_skel_handle_invoke(remote_handle64 handle, uint32_t sc, remote_arg *args)
{
    struct pf_hello hello;
    (void)handle;
    switch (REMOTE_SCALARS_METHOD(sc)) {
    case PF_OPEN: /* the length of the URI, the URI, the handle to make */
        if (PF_COUNTS(sc) != PF_SCALARS(2, 0, 0, 1))
            return AEE_EBADPARM;
        args[2].h64 = PF_HANDLE;
        return AEE_SUCCESS;
    case PF_CLOSE:
        if (PF_COUNTS(sc) != PF_SCALARS(0, 0, 1, 0))
            return AEE_EBADPARM;
        pf_module_stop(&hello); /* of a session that was not started, this does nothing */
        return AEE_SUCCESS;
    case PF_QUERY:
        if (PF_COUNTS(sc) != PF_SCALARS(0, 1, 0, 0) || !pf_holds(&args[0], sizeof hello))
            return AEE_EBADPARM;
        pf_module_query(args[0].buf.pv);
        return AEE_SUCCESS;
    case PF_START:
        if (PF_COUNTS(sc) != PF_SCALARS(1, 1, 0, 0) || !pf_holds(&args[0], sizeof(struct pf_start))
            || !pf_holds(&args[1], sizeof hello))
            return AEE_EBADPARM;
        pf_module_start(args[0].buf.pv, args[1].buf.pv);
        return AEE_SUCCESS;
    case PF_STOP:
        if (PF_COUNTS(sc) != PF_SCALARS(0, 1, 0, 0) || !pf_holds(&args[0], sizeof hello))
            return AEE_EBADPARM;
        pf_module_stop(args[0].buf.pv);
        return AEE_SUCCESS;
    default:
        return AEE_EUNSUPPORTED;
    }
}
