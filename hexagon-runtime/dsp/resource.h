/* VTCM and HMX of a session. They are reserved once, and held only while a request runs (pf_vtcm_acquire). */
#ifndef PF_RESOURCE_H
#define PF_RESOURCE_H

#define PF_GRANT_WAIT_US 2000000u

/* A client of higher priority wants VTCM. It is given back when the request that holds it ends, which needs no word from here:
 * every request takes it anew and writes all it reads. */
static int pf_resource_wanted(unsigned int context, void *client)
{
    struct pf_session *session = client;
    (void)context;
    session->asked_back++;
    return 0;
}

static uint32_t pf_vtcm_there(void)
{
    unsigned int total = 0;
    if (HAP_compute_res_query_VTCM(0, &total, NULL, NULL, NULL))
        return 0;
    return total;
}

/* All VTCM there is, in one page, so that no operand of HMX crosses the edge of a mapping. */
static int pf_resource_take(struct pf_session *session)
{
    compute_res_attr_t *attributes = &session->attributes;
    uint32_t bytes = pf_vtcm_there();
    void *vtcm = NULL;
    unsigned int granted = 0;
    if (!bytes || HAP_compute_res_attr_init(attributes) || HAP_compute_res_attr_set_serialize(attributes, 0)
        || HAP_compute_res_attr_set_cache_mode(attributes, 1)
        || HAP_compute_res_attr_set_vtcm_param_v2(attributes, bytes, bytes, bytes)
        || HAP_compute_res_attr_set_release_callback(attributes, pf_resource_wanted, session))
        return PF_NO_VTCM;
    if (HAP_compute_res_attr_set_hmx_param(attributes, 1))
        return PF_NO_HMX;
    session->dev.resource = HAP_compute_res_acquire(attributes, PF_GRANT_WAIT_US);
    if (!session->dev.resource)
        return PF_NO_VTCM;
    if (HAP_compute_res_attr_get_vtcm_ptr_v2(attributes, &vtcm, &granted) || !vtcm || granted < PF_CORNER_BYTES
        || (uintptr_t)vtcm % PF_TILE_BYTES) {
        HAP_compute_res_release(session->dev.resource);
        session->dev.resource = 0;
        return PF_NO_VTCM;
    }
    session->dev.vtcm = vtcm;
    session->dev.vtcm_bytes = granted;
    return PF_OK;
}

static void pf_resource_give(struct pf_session *session)
{
    if (session->dev.resource)
        HAP_compute_res_release(session->dev.resource);
    session->dev.resource = 0;
    session->dev.vtcm = NULL;
    session->dev.vtcm_bytes = 0;
}

#endif
