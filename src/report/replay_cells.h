/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tables of a replay are made of: numbers, marks and columns. */
#ifndef REPORT_REPLAY_CELLS_H
#define REPORT_REPLAY_CELLS_H

#include "format/table.h"
#include "report/replay_report.h"

enum { BAL_CELL = 32 };

/* Three or four digits, whatever the size; empty if unknown. Returns text. */
const char *bal_cell_number(double value, char text[BAL_CELL]);
void bal_cell_add(struct table *table, double value);
/* With its half-width, if there is one, to so many digits of it; the mark follows. */
void bal_cell_add_estimate(struct table *table, struct bal_estimate value, int digits, const char *mark);
struct bal_estimate bal_in_unit(struct bal_estimate time, struct bal_replay_unit unit);
/* A quantile; and what a target is about, which may also be the mean. */
void bal_cell_add_time(struct table *table, struct bal_estimate time, struct bal_replay_unit unit);
void bal_cell_add_wanted(struct table *table, const struct bal_target *target, struct bal_estimate time,
                         struct bal_replay_unit unit);

/* The quantiles that a table shows, in order: those that were asked for, else p50 and p99, and the one that
 * is wanted, if it is none of them. Returns how many. */
unsigned bal_shown_quantiles(const struct bal_replay_report *report,
                             enum bal_response_time shown[BAL_REPLAY_TIMES]);
/* "p99.9"; and as data have it: "mean", "p999", "target". */
const char *bal_quantile_name(const struct bal_replay_report *report, enum bal_response_time which,
                              char text[BAL_PERCENTILE_TEXT]);
const char *bal_time_name(const struct bal_replay_report *report, enum bal_response_time which,
                          char text[BAL_PERCENTILE_TEXT]);
/* Is it printed in csv and JSON? Quantiles that were asked for and are usual are printed once. */
bool bal_time_is_told(const struct bal_replay_report *report, enum bal_response_time which);

/* Columns of a table: the quantiles that it shows. */
void bal_put_quantiles(struct table *table, const struct bal_replay_report *report,
                       const struct bal_estimate *time, struct bal_replay_unit unit);

struct bal_replay_unit bal_energy_unit(double joules);

bool bal_is_priced(const struct bal_replay_report *report);
/* The total cost of servers that are on; NaN if no price is given. */
double bal_replay_cost(const struct bal_replay_report *report, const struct bal_case *c,
                       const struct bal_result *result);

/* The mark for each row whose numbers depend on doubtful service times; and the note below the table. */
bool bal_is_marked(const struct bal_replay_report *report);
void bal_put_mark(struct table *table, const struct bal_replay_report *report);
void bal_replay_doubt(const struct bal_replay_report *report, FILE *out);

/* What a fleet costs: energy, power, and the price where there is one. result: NULL where it is not known. */
void bal_put_costs(struct table *table, const struct bal_replay_report *report, const struct bal_case *c,
                   const struct bal_result *result, struct bal_replay_unit energy);

/* The share of all jobs that was turned away. */
double bal_turned_away(const struct bal_result *result);

/* The time by which policies are compared. */
enum bal_response_time bal_leading(const struct bal_replay_report *report);
const char *bal_leading_name(const struct bal_replay_report *report);

/* Parts of the text, each with a title and a blank line behind it: how many servers are needed, and how kinds
 * of jobs fare. */
void bal_sizing_text(const struct bal_replay_report *report, const size_t *order, enum bal_table_style style,
                     FILE *out);
void bal_kinds_text(const struct bal_replay_report *report, const size_t *order, enum bal_table_style style,
                    FILE *out);

#endif
