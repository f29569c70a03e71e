/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between SUNDIALS 6 and 7: whose the contexts are, and how errors are reported. */
#ifndef THEORY_SUNDIALS_H
#define THEORY_SUNDIALS_H

#include <stdbool.h>
#include <sundials/sundials_context.h>

/* What is called with the text of an error. */
typedef void bal_sundials_error_fn(void *data, const char *text);

/* For one integrator (CVODE) on one thread; not to be moved between init and fini. */
struct bal_sundials {
    SUNContext context; /* for all that is made for this integrator */
    bal_sundials_error_fn *report;
    void *data;
};

/* Errors go to report(data, text), and to no file. False without memory; to be ended with fini in any case,
 * after all that was made with the context. */
bool bal_sundials_init(struct bal_sundials *sundials, bal_sundials_error_fn *report, void *data);
void bal_sundials_fini(struct bal_sundials *sundials);

/* To be called when the integrator was created with the context; false if it could not be set. */
bool bal_sundials_attach(struct bal_sundials *sundials, void *cvode);

#endif
