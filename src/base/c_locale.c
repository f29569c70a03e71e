/* SPDX-License-Identifier: BSD-2-Clause */
/* The C locale for this thread. */
#include "base/c_locale.h"

#include <assert.h>

struct bal_locale_swap bal_locale_enter_c(void) {
    struct bal_locale_swap swap = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    assert(swap.c); /* the C locale is built in */
    swap.before = uselocale(swap.c);
    return swap;
}

void bal_locale_leave(struct bal_locale_swap swap) {
    uselocale(swap.before);
    freelocale(swap.c);
}
