/* SPDX-License-Identifier: BSD-2-Clause */
/* The C locale for this thread, for a moment: a program that we are part of may have another one, in which
 * numbers are printed and read with a comma. */
#ifndef BASE_C_LOCALE_H
#define BASE_C_LOCALE_H

#include <locale.h>

struct bli_locale_swap {
    locale_t c;
    locale_t before;
};

/* Other threads keep theirs. Costs some dozens of nanoseconds; may be nested. */
struct bli_locale_swap bli_locale_enter_c(void);
void bli_locale_leave(struct bli_locale_swap swap);

#endif
