/* SPDX-License-Identifier: BSD-2-Clause */
/* The C locale for this thread. */
#include "base/c_locale.h"

#include <assert.h>

struct bli_locale_swap bli_locale_enter_c(void) {
    struct bli_locale_swap swap = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    assert(swap.c); /* the C locale is built in */
    swap.before = uselocale(swap.c);
    return swap;
}

void bli_locale_leave(struct bli_locale_swap swap) {
    uselocale(swap.before);
    freelocale(swap.c);
}
