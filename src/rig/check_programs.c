/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the programs which an experiment needs are installed. */
#include "rig/rig.h"

static bool uses_proxy(const struct bal_experiment *e, enum bal_proxy proxy) {
    for (size_t p = 0; p < e->policies; p++)
        if (e->policy[p].real && e->policy[p].proxy == proxy)
            return true;
    return false;
}

static bool has_loss_fault(const struct bal_experiment *e) {
    for (size_t i = 0; i < e->live->faults; i++)
        if (e->live->fault[i].kind == BAL_FAULT_LOSS)
            return true;
    return false;
}

enum bal_code bal_rig_check(const struct rig_programs *programs, const struct bal_experiment *e,
                            struct bal_error *err) {
    const bool ours = uses_proxy(e, BAL_PROXY_BALLAST);
    if ((ours || uses_proxy(e, BAL_PROXY_NGINX)) && !programs->nginx)
        return bal_fail(err, BAL_E_IO, "nginx is not installed: `sudo apt install nginx`");
    if (ours && !programs->module)
        return bal_fail(
            err, BAL_E_IO,
            "the module for nginx is not there: `make nginx` builds it; or name it with --module");
    if (uses_proxy(e, BAL_PROXY_HAPROXY) && !programs->haproxy)
        return bal_fail(err, BAL_E_IO,
                        "haproxy is not installed: `sudo apt install haproxy`, or leave its policies out");
    if (e->live->keepers && !programs->keeper)
        return bal_fail(err, BAL_E_IO, "ballastd is not there: `make` builds it next to ballast");
    const enum bal_code code = e->live->hosts ? bal_hosts_check(err) : BAL_OK;
    if (code)
        return code;
    if (has_loss_fault(e) && !programs->lossy_preload)
        return bal_fail(err, BAL_E_IO, "the library that loses datagrams is not there: `make` builds it");
    return BAL_OK;
}
