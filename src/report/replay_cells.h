/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tables of a replay are made of: numbers, marks and columns. */
#ifndef REPORT_REPLAY_CELLS_H
#define REPORT_REPLAY_CELLS_H

#include "format/table.h"
#include "report/replay_report.h"

enum { BLI_CELL = 32 };

/* Three or four digits, whatever the size; empty if unknown. Returns text. */
const char *bli_cell_number(double value, char text[BLI_CELL]);
void bli_cell_add(struct table *table, double value);
/* With its half-width, if there is one, to so many digits of it; the mark follows. */
void bli_cell_add_estimate(struct table *table, struct bli_estimate value, int digits, const char *mark);
struct bli_estimate bli_in_unit(struct bli_estimate time, struct bli_replay_unit unit);
/* A quantile; and what a target is about, which may also be the mean. */
void bli_cell_add_time(struct table *table, struct bli_estimate time, struct bli_replay_unit unit);
void bli_cell_add_wanted(struct table *table, const struct bli_target *target, struct bli_estimate time,
                         struct bli_replay_unit unit);

/* The quantiles that a table shows, in order: those that were asked for, else p50 and p99, and the one that
 * is wanted, if it is none of them. Returns how many. */
unsigned bli_shown_quantiles(const struct bli_replay_report *report,
                             enum bli_response_time shown[BLI_REPLAY_TIMES]);
/* "p99.9"; and as data have it: "mean", "p999", "target". */
const char *bli_quantile_name(const struct bli_replay_report *report, enum bli_response_time which,
                              char text[BLI_PERCENTILE_TEXT]);
const char *bli_time_name(const struct bli_replay_report *report, enum bli_response_time which,
                          char text[BLI_PERCENTILE_TEXT]);
/* Is it printed in csv and JSON? Quantiles that were asked for and are usual are printed once. */
bool bli_time_is_told(const struct bli_replay_report *report, enum bli_response_time which);

/* Columns of a table: the quantiles that it shows. */
void bli_put_quantiles(struct table *table, const struct bli_replay_report *report,
                       const struct bli_estimate *time, struct bli_replay_unit unit);

struct bli_replay_unit bli_energy_unit(double joules);

bool bli_is_priced(const struct bli_replay_report *report);
/* The total cost of servers that are on; NaN if no price is given. */
double bli_replay_cost(const struct bli_replay_report *report, const struct bli_case *c,
                       const struct bli_result *result);

/* The mark for each row whose numbers depend on doubtful service times; and the note below the table. */
bool bli_is_marked(const struct bli_replay_report *report);
void bli_put_mark(struct table *table, const struct bli_replay_report *report);
void bli_replay_doubt(const struct bli_replay_report *report, FILE *out);

/* What a fleet costs: energy, power, and the price where there is one. result: NULL where it is not known. */
void bli_put_costs(struct table *table, const struct bli_replay_report *report, const struct bli_case *c,
                   const struct bli_result *result, struct bli_replay_unit energy);

/* The share of all jobs that was turned away. */
double bli_turned_away(const struct bli_result *result);

/* The time by which policies are compared. */
enum bli_response_time bli_leading(const struct bli_replay_report *report);
const char *bli_leading_name(const struct bli_replay_report *report);

/* Parts of the text, each with a title and a blank line behind it: how many servers are needed, and how kinds
 * of jobs fare. */
void bli_sizing_text(const struct bli_replay_report *report, const size_t *order, enum bli_table_style style,
                     FILE *out);
void bli_kinds_text(const struct bli_replay_report *report, const size_t *order, enum bli_table_style style,
                    FILE *out);

#endif
