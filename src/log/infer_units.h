/* SPDX-License-Identifier: BSD-2-Clause */
/* Infers units from the numbers of a log where the names leave them open. */
#ifndef LOG_INFER_UNITS_H
#define LOG_INFER_UNITS_H

#include "log/bind.h"

/* Sets units that are open, finds decimal commas, and checks that lengths of time look as the program writes
 * them. An error when several units remain possible; it lists them with what each would mean. */
enum bal_code bli_log_infer_units(const struct bli_log_format *format,
                                  const struct bli_log_field_names *words,
                                  const struct bli_log_sample *sample, struct bli_log_binding *binding,
                                  struct bal_error *err);

#endif
