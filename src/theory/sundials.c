/* SPDX-License-Identifier: BSD-2-Clause */
/* SUNDIALS 6 has an error handler for each integrator, and its contexts do nothing: one for all threads is
 * made when the program is loaded, because that cannot survive a lack of memory. SUNDIALS 7 keeps error
 * handlers and the last error in the context, so each integrator has its own. */
#include "theory/sundials.h"

#include <cvode/cvode.h>
#include <stddef.h>

#ifdef SUNDIALS_BUILD_WITH_PROFILING
#error "SUNDIALS was built with profiling: its contexts keep counts, and one for all threads will not do"
#endif

#if SUNDIALS_VERSION_MAJOR >= 7

static void error_pass_on(int line, const char *function, const char *file, const char *text, SUNErrCode code,
                          void *data, SUNContext context) {
    (void)line, (void)function, (void)file, (void)context;
    const struct bli_sundials *sundials = data;
    sundials->report(sundials->data, text ? text : SUNGetErrMsg(code));
}

/* Warnings would go to the logger, which prints them. */
bool bli_sundials_init(struct bli_sundials *sundials, bli_sundials_error_fn *report, void *data) {
    *sundials = (struct bli_sundials){.report = report, .data = data};
    if (SUNContext_Create(SUN_COMM_NULL, &sundials->context)) {
        sundials->context = NULL;
        return false;
    }
    return !SUNContext_ClearErrHandlers(sundials->context) &&
           !SUNContext_SetLogger(sundials->context, NULL) &&
           !SUNContext_PushErrHandler(sundials->context, error_pass_on, sundials);
}

void bli_sundials_fini(struct bli_sundials *sundials) {
    SUNContext_Free(&sundials->context);
}

bool bli_sundials_attach(struct bli_sundials *sundials, void *cvode) {
    (void)sundials, (void)cvode;
    return true;
}

#else

static SUNContext shared;

__attribute__((constructor)) static void shared_create(void) {
    if (SUNContext_Create(NULL, &shared))
        shared = NULL;
}

__attribute__((destructor)) static void shared_free(void) {
    SUNContext_Free(&shared);
}

bool bli_sundials_init(struct bli_sundials *sundials, bli_sundials_error_fn *report, void *data) {
    *sundials = (struct bli_sundials){.context = shared, .report = report, .data = data};
    return shared != NULL;
}

void bli_sundials_fini(struct bli_sundials *sundials) {
    sundials->context = NULL;
}

static void error_pass_on(int code, const char *module, const char *function, char *text, void *data) {
    (void)module, (void)function;
    const struct bli_sundials *sundials = data;
    if (code < 0) /* no warning */
        sundials->report(sundials->data, text);
}

bool bli_sundials_attach(struct bli_sundials *sundials, void *cvode) {
    return CVodeSetErrHandlerFn(cvode, error_pass_on, sundials) == CV_SUCCESS;
}

#endif
