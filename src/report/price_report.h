/* SPDX-License-Identifier: BSD-2-Clause */
/* Prices of policies, and the offers that meet a target, as text, csv and JSON. */
#ifndef REPORT_PRICE_REPORT_H
#define REPORT_PRICE_REPORT_H

#include "ballast/price.h"
#include "report/head.h"
#include "report/rows.h"
#include "report/theory_row.h"

/* Policies of one model, in the order in which they are printed. */
struct bli_price_list {
    const struct bli_case *cases;
    const struct bli_result *results;
    const struct bli_price *prices;
    const struct bli_theory_row *theory_row; /* what theory says of each */
    size_t count;
    const struct bli_draft *draft; /* the settings that were given */
    bool cut_short;                /* not all replications were run */
};

void bli_price_list_print(const struct bli_price_list *list, struct bli_rows *rows);

/* draft: the model and the runs that the offers were found with. */
void bli_price_offers_print(const struct bli_price_offers *offers, const struct bli_draft *draft,
                            const struct bli_wish *wish, struct bli_rows *rows);

#endif
