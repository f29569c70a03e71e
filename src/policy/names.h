/* Names under which people know policies: those of nginx, HAProxy, Envoy, Traefik, Linkerd, Knative, IPVS and
 * of the literature. */
#ifndef POLICY_NAMES_H
#define POLICY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Is it that name? And the policy that is meant by a name such as "least conn". In both dashes, underscores
 * or nothing may stand for the blanks, and capitals for small letters. NULL: unknown. */
bool bal_name_is(const char *known, const char *name, size_t length);
const char *bal_known_name_find(const char *name, size_t length);

#endif
