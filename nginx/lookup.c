/* SPDX-License-Identifier: BSD-2-Clause */
/* Looks up names again that could not be resolved at configuration. */
#include "lookup.h"

static const uint64_t pause_ns = UINT64_C(5000000000);

static void start_lookup(struct bli_ngx_lookup *lookup) {
    static const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct gaicb *list[] = {&lookup->request};
    lookup->request = (struct gaicb){.ar_name = lookup->host, .ar_request = &hints};
    lookup->busy = getaddrinfo_a(GAI_NOWAIT, list, 1, NULL) == 0;
}

struct addrinfo *bli_ngx_lookup_step(struct bli_ngx_lookup *lookup, uint64_t now) {
    if (!lookup->busy) {
        if (now >= lookup->next_ns)
            start_lookup(lookup);
        return NULL;
    }
    const int code = gai_error(&lookup->request);
    if (code == EAI_INPROGRESS)
        return NULL;
    lookup->busy = false;
    lookup->next_ns = now + pause_ns;
    return code == 0 ? lookup->request.ar_result : NULL;
}
