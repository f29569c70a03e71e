/* SPDX-License-Identifier: BSD-2-Clause */
/* slots=auto in log, status and metrics: what was found, and how certain it is. */
#ifndef NGINX_FOUND_SLOTS_H
#define NGINX_FOUND_SLOTS_H

#include "ballast/live/concurrency.h"
#include "text_buffer.h"

enum { BLI_NGX_FOUND_TEXT = 256 };

/* A sentence for the log, terminated. before: the limit that was logged last; 0: none was. */
void bli_ngx_found_print(u_char text[BLI_NGX_FOUND_TEXT], const struct bal_concurrency_view *found,
                         uint32_t before);
/* ,"found":{...} where slots are found; otherwise nothing. */
void bli_ngx_found_json(struct bli_ngx_text *text, const struct bal_concurrency_view *found);

/* Numbers of metrics. */
enum { BLI_NGX_FOUND_NUMBERS = 5 };
extern const struct bli_ngx_found_number {
    const char *name, *help; /* behind "ballast_station_slots_" and "ballast_server_slots_" */
} bli_ngx_found_number[BLI_NGX_FOUND_NUMBERS];
double bli_ngx_found_value(const struct bal_concurrency_view *found, int number);

#endif
