/* What the numbers of a log say where names leave something open. */
#ifndef LOG_JUDGE_H
#define LOG_JUDGE_H

#include "log/bind.h"

/* Sets units that are open, finds decimal commas, and checks that lengths of time look as the program writes
 * them. An error when several readings remain, which it lists with what each would mean. */
enum bal_code bal_log_judge(const struct bal_log_format *format, const struct bal_log_words *words,
                            const struct bal_log_sample *sample, struct bal_log_binding *binding,
                            struct bal_error *err);

#endif
