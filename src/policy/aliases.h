/* SPDX-License-Identifier: BSD-2-Clause */
/* Names under which people know policies: those of nginx, HAProxy, Envoy, Traefik, Linkerd, Knative, IPVS and
 * of the literature. */
#ifndef POLICY_ALIASES_H
#define POLICY_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

/* Is it that name? And the policy that is meant by a name such as "least conn". In both dashes, underscores
 * or nothing may stand for the blanks, and capitals for small letters. NULL: unknown. */
bool bli_name_is(const char *known, const char *name, size_t length);
const char *bli_policy_alias_find(const char *name, size_t length);

/* What a name, or a word of a parameter, of an earlier version is called now; NULL: it is none. */
const char *bli_deprecated_name_find(const char *name, size_t length);

#endif
