/* What stands behind the common or combined format, of which many logs are made. */
#ifndef LOG_TRAIL_H
#define LOG_TRAIL_H

#include "log/format.h"

/* Finds a format for lines that begin so. program: whose they are, "apache", "varnish", "lighttpd" or
 * "tomcat", when that was said; NULL: of nginx, if the numbers look like its own, or of nobody knows whom.
 * service: the field that was asked for, may be NULL. BAL_E_UNKNOWN when most lines do not begin so,
 * BAL_E_FORMAT when it cannot be told which number is the time, or when there is none. */
enum bal_code bal_log_trail_new(const struct bal_log_sample *sample, const char *program, const char *service,
                                struct bal_log_format *format, struct bal_error *err);

#endif
