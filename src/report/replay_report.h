/* SPDX-License-Identifier: BSD-2-Clause */
/* A replay as text, csv, JSON, figure and page. */
#ifndef REPORT_REPLAY_REPORT_H
#define REPORT_REPLAY_REPORT_H

#include "ballast/log.h"
#include "ballast/replay.h"
#include "format/table.h"
#include "report/head.h"
#include "report/recovery_report.h"
#include "report/rows.h"

struct bli_replay_report {
    const struct bli_log_summary *summary;
    const struct bli_recovery_report *times;
    const struct bli_demand *demand;
    const struct bli_replay *replay;
    double sized_for;  /* the load that the fleet was chosen for; 0: it was given, or ... */
    bool recorded;     /* ... it is that of the log */
    const char *title; /* of figure and page: "access.log" */
    size_t count;      /* of policies, and of what follows */
    const struct bli_case *cases;
    const struct bli_replay_outcome *outcomes;
    const struct bli_history *history; /* BLI_REPLAY_SPANS spans each */
    const struct bli_target *target;   /* NULL: none is wanted */
    const struct bli_sizing *sizing;   /* NULL without a target */
    size_t kinds;            /* of jobs that are reported separately, not counting the rest; 0: none */
    const char *const *kind; /* their names */
    double price;            /* of an hour of a server; NaN: not given */
    const struct bli_log_servers *servers; /* of the log */
    bool nginx;                            /* the upstream block is wanted too ... */
    bool explain;                          /* in sentences, below the tables */
    const char *command;                   /* ... with this command in its comment; NULL: without */
    const char *high_pattern, *high_field; /* of the high class; NULL: there is none, or the path */
    bool keeper;                           /* and the hours for which servers are on */
};

/* csv has one row for each policy: every metric with its half-width, energy, and what the target needs. */
void bli_replay_print(const struct bli_replay_report *report, struct bli_rows *rows);

/* Arrivals, 99th percentiles and power over the time of the log; needs gnuplot. */
enum bal_code bli_replay_figure(const struct bli_replay_report *report, const char *path,
                                struct bal_error *err);
/* All of it in one self-contained page. Without gnuplot it has no figure and prints why. */
enum bal_code bli_replay_page(const struct bli_replay_report *report, FILE *out, struct bal_error *err);

/* What is recommended, why, and the upstream block of nginx for it. */
void bli_replay_nginx(const struct bli_replay_report *report, FILE *out);
/* A paragraph: the recommended policy, the reason, and which numbers are not reliable. */
void bli_replay_explain(const struct bli_replay_report *report, FILE *out);

/* ---- parts that text and page share ---- */

/* What bli_replay_print does for people; the order is that of the policies. */
void bli_replay_text(const struct bli_replay_report *report, const size_t *order, enum bli_table_style style,
                     FILE *out);

enum { BLI_REPLAY_LABEL = 200 };

/* The name of the policy in tables. Default parameters are left out. So are the rates of a policy that
 * switches servers off: its times are those of the fleet. */
struct bli_policy_name bli_replay_name(const struct bal_policy_spec *policy); /* for an expression */
void bli_replay_label(const struct bal_policy_spec *policy, char text[BLI_REPLAY_LABEL]);

/* The settings of the replay, its fleet included. */
struct bli_draft bli_replay_settings(const struct bli_replay_report *report);

/* Indices of the results, best first: by the metric of the target, or the mean; those that turn more than a
 * hundredth of the jobs away come last. The caller frees it; NULL without memory. */
size_t *bli_replay_order(const struct bli_replay_report *report);

/* The unit that suits a time, and the times of the report. */
struct bli_replay_unit {
    const char *name;
    double seconds;
};
struct bli_replay_unit bli_time_unit(double seconds);
struct bli_replay_unit bli_replay_unit(const struct bli_replay_report *report);

/* Fill a table, which the caller prints, as its columns are aligned, and ends. */
void bli_replay_table(const struct bli_replay_report *report, const size_t *order, struct table *table);
void bli_sizing_table(const struct bli_replay_report *report, const size_t *order, struct table *table);
void bli_kinds_table(const struct bli_replay_report *report, const size_t *order, struct table *table);

/* Is the target out of reach for any fleet? Then there is no table of it. */
bool bli_sizing_is_hopeless(const struct bli_replay_report *report);

/* Lines; one that continues the previous line begins with a blank: what was read and what load that is for
 * the fleet; what the tables mean and what follows from them. */
void bli_replay_head(const struct bli_replay_report *report, FILE *out);
void bli_replay_notes(const struct bli_replay_report *report, const size_t *order, FILE *out);
void bli_sizing_title(const struct bli_replay_report *report, FILE *out);
void bli_sizing_notes(const struct bli_replay_report *report, FILE *out);

#endif
