/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of the keeper: as JSON, as metrics of Prometheus, and as one word for probes. */
#ifndef KEEPER_KEEPER_STATUS_H
#define KEEPER_KEEPER_STATUS_H

#include "app_table.h"
#include "http.h"

/* The answer to a GET; context: the struct app_table. */
http_answer_fn status_answer;

#endif
