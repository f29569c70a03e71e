/* SPDX-License-Identifier: BSD-2-Clause */
/* What differs between SUNDIALS 6 and 7: whose the contexts are, and how errors are reported. */
#ifndef THEORY_SUNDIALS_H
#define THEORY_SUNDIALS_H

#include <stdbool.h>
#include <sundials/sundials_context.h>

/* What is called with the text of an error. */
typedef void bli_sundials_error_fn(void *data, const char *text);

/* For one integrator (CVODE) on one thread; not to be moved between init and fini. */
struct bli_sundials {
    SUNContext context; /* for all that is made for this integrator */
    bli_sundials_error_fn *report;
    void *data;
};

/* Errors go to report(data, text), and to no file. False without memory; to be ended with fini in any case,
 * after all that was made with the context. */
bool bli_sundials_init(struct bli_sundials *sundials, bli_sundials_error_fn *report, void *data);
void bli_sundials_fini(struct bli_sundials *sundials);

/* To be called when the integrator was created with the context; false if it could not be set. */
bool bli_sundials_attach(struct bli_sundials *sundials, void *cvode);

#endif
