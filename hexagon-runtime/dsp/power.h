/* Clock and power votes of a session. */
#ifndef PF_POWER_H
#define PF_POWER_H

#define PF_LATENCY_US 100u

static inline void pf_power_none(HAP_power_request_t *request)
{
    volatile uint8_t *bytes = (volatile uint8_t *)request; /* volatile: a loop that must not become memset */
    for (uint32_t i = 0; i < sizeof *request; i++)
        bytes[i] = 0;
}

/* Any address tells this client of the power manager from others. */
static inline int pf_power_ask(HAP_power_request_t *request)
{
    return HAP_power_set(&pf_session, request) ? PF_NO_POWER : PF_OK;
}

static int pf_power_units(uint8_t on)
{
    HAP_power_request_t request;
    pf_power_none(&request);
    request.type = HAP_power_set_HVX;
    request.hvx.power_up = on;
    if (pf_power_ask(&request))
        return PF_NO_POWER;
    pf_power_none(&request);
    request.type = HAP_power_set_HMX_v2;
    request.hmx_v2.set_power = 1;
    request.hmx_v2.power_up = on;
    if (on) {
        request.hmx_v2.set_clock = 1;
        request.hmx_v2.target_corner = HAP_DCVS_EXP_VCORNER_MAX;
        request.hmx_v2.min_corner = HAP_DCVS_EXP_VCORNER_MAX;
        request.hmx_v2.max_corner = HAP_DCVS_EXP_VCORNER_MAX;
        request.hmx_v2.perf_mode = HAP_CLK_PERF_HIGH;
    }
    return pf_power_ask(&request);
}

static int pf_power_up(void)
{
    HAP_power_request_t request;
    pf_power_none(&request);
    request.type = HAP_power_set_apptype;
    request.apptype = HAP_POWER_COMPUTE_CLIENT_CLASS;
    if (pf_power_ask(&request))
        return PF_NO_POWER;
    pf_power_none(&request);
    request.type = HAP_power_set_DCVS_v3;
    request.dcvs_v3.set_dcvs_enable = 1;
    request.dcvs_v3.dcvs_enable = 1;
    request.dcvs_v3.dcvs_option = HAP_DCVS_V2_PERFORMANCE_MODE;
    request.dcvs_v3.set_latency = 1;
    request.dcvs_v3.latency = PF_LATENCY_US;
    request.dcvs_v3.set_core_params = 1;
    request.dcvs_v3.core_params.min_corner = HAP_DCVS_VCORNER_MAX;
    request.dcvs_v3.core_params.max_corner = HAP_DCVS_VCORNER_MAX;
    request.dcvs_v3.core_params.target_corner = HAP_DCVS_VCORNER_MAX;
    request.dcvs_v3.set_bus_params = 1;
    request.dcvs_v3.bus_params.min_corner = HAP_DCVS_VCORNER_MAX;
    request.dcvs_v3.bus_params.max_corner = HAP_DCVS_VCORNER_MAX;
    request.dcvs_v3.bus_params.target_corner = HAP_DCVS_VCORNER_MAX;
    if (pf_power_ask(&request))
        return PF_NO_POWER;
    return pf_power_units(1);
}

/* Takes the votes back; nothing could be done about a refusal. */
static void pf_power_down(void)
{
    HAP_power_request_t request;
    (void)pf_power_units(0);
    pf_power_none(&request);
    request.type = HAP_power_set_DCVS_v3;
    request.dcvs_v3.set_dcvs_enable = 1;
    (void)pf_power_ask(&request);
}

#endif
