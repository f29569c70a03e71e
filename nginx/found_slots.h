/* SPDX-License-Identifier: BSD-2-Clause */
/* slots=auto in log, status and metrics: what was found, and how certain it is. */
#ifndef NGINX_FOUND_SLOTS_H
#define NGINX_FOUND_SLOTS_H

#include "ballast/live/concurrency.h"
#include "text_buffer.h"

enum { BAL_NGX_FOUND_TEXT = 256 };

/* A sentence for the log, terminated. before: the limit that was logged last; 0: none was. */
void bal_ngx_found_print(u_char text[BAL_NGX_FOUND_TEXT], const struct bal_concurrency_view *found,
                         uint32_t before);
/* ,"found":{...} where slots are found; otherwise nothing. */
void bal_ngx_found_json(struct bal_ngx_text *text, const struct bal_concurrency_view *found);

/* Numbers of metrics. */
enum { BAL_NGX_FOUND_NUMBERS = 5 };
extern const struct bal_ngx_found_number {
    const char *name, *help; /* behind "ballast_station_slots_" and "ballast_server_slots_" */
} bal_ngx_found_number[BAL_NGX_FOUND_NUMBERS];
double bal_ngx_found_value(const struct bal_concurrency_view *found, int number);

#endif
