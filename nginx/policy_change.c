/* SPDX-License-Identifier: BSD-2-Clause */
/* The policy of an upstream at run time: that of ballast_api, if it can be used, else the configured one. */
#include "journal.h"
#include "plugin_directive.h"
#include "upstream.h"

#include <string.h>

/* Weights are for policies that look at them; others would ignore them without a word. */
static enum bal_code check_weights(const struct bli_ngx_upstream *b, const struct bal_policy_spec *policy,
                                   const char *text, struct bal_error *err) {
    const ngx_http_upstream_server_t *server = b->us->servers->elts;
    if (bal_policy_flags(policy) & (BAL_NEEDS_OWN | BAL_TAKES_WEIGHTS))
        return BAL_OK;
    for (ngx_uint_t i = 0; i < b->us->servers->nelts; i++)
        if (server[i].weight != 1)
            return bal_fail(err, BAL_E_MODEL,
                            "policy '%s' does not look at weights, but servers of upstream \"%s\" have some; "
                            "use one that does, such as jiq:else=least-conn",
                            text, bli_ngx_upstream_name(b));
    return BAL_OK;
}

static enum bal_code check_setting(const struct bli_ngx_upstream *b, const struct bal_policy_spec *policy,
                                   const char *text, struct bal_error *err) {
    const unsigned flags = bal_policy_flags(policy);
    if (*bli_ngx_plugin_hash(policy->policy))
        return bal_fail(err, BAL_E_MODEL,
                        "policy '%s' is from a file: name it in the configuration, and reload", text);
    if (flags & BAL_MAY_HOLD && !b->slots_given && !b->stations)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy '%s' lets requests wait until a server has a free slot, and slots= is missing "
            "in the configuration",
            text);
    if (b->class && (flags ^ bal_policy_flags(&b->policy)) & BAL_TAKES_RANKS)
        return bal_fail(
            err, BAL_E_MODEL,
            "policy '%s' has another number of classes than '%s'; change it in the configuration, "
            "and reload",
            text, b->text);
    return check_weights(b, policy, text, err);
}

enum bal_code bli_ngx_policy_check(const struct bli_ngx_upstream *b, const char *text,
                                   struct bli_ngx_policy *policy, struct bal_error *err) {
    enum bal_code code = bal_policy_parse(text, &policy->spec, err);
    if (code)
        return code;
    bal_policy_wait_for_power(&policy->spec);
    if (bal_policy_print(&policy->spec, policy->text, sizeof policy->text) >= sizeof policy->text)
        return bal_fail(err, BAL_E_RANGE, "the policy's text is too long");
    if (strcmp(policy->text, b->text) == 0) {
        policy->spec = b->policy;
        return BAL_OK;
    }
    code = check_setting(b, &policy->spec, policy->text, err);
    for (ngx_uint_t k = 0; !code && k < b->peer_sets; k++)
        code = bal_dispatcher_check_policy(&b->policy, &b->peers[k].config, &policy->spec, err);
    return code;
}

void bli_ngx_policy_update(struct bli_ngx_upstream *b, const char *text) {
    struct bal_error err;
    struct bli_ngx_policy policy;
    const char *wanted = text ? text : b->text;
    if (strcmp(wanted, b->wanted) == 0)
        return;
    ngx_cpystrn((u_char *)b->wanted, (u_char *)wanted, sizeof b->wanted);
    b->now = (struct bli_ngx_policy){.spec = b->policy};
    strcpy(b->now.text, b->text);
    if (text && bli_ngx_policy_check(b, text, &policy, &err))
        bli_ngx_journal_add(NGX_LOG_ERR,
                            "ballast: upstream \"%V\": the policy of ballast_state is not used, but '%s': %s",
                            &b->us->host, b->text, err.text);
    else if (text)
        b->now = policy;
}
