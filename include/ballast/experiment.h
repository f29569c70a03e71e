/* SPDX-License-Identifier: BSD-2-Clause */
/* Experiments: the contents of an experiment file, its points, and its results.
 *
 * An experiment is a model with some of its fields swept over axes, a list of policies, the length and number
 * of runs, and what to do with the results: figures to draw and claims to judge. Files are YAML;
 * docs/experiments.md describes every field.
 *
 *     struct bal_experiment *e;
 *     if (bal_experiment_read("load.yaml", BAL_MODE_PLAIN, &e, &err))
 *         ... err.text says why: "load.yaml:7: load: ..."
 *     for (size_t point = 0; point < e->points; point++)
 *         for (size_t policy = 0; policy < e->policies; policy++) {
 *             struct bal_case c;
 *             bal_experiment_case(e, point, policy, &c); ... model, policy and run, ready to simulate
 *         }
 *     bal_experiment_free(e);
 *
 * A cell is one policy at one point; its replications are trials. Trials are kept in a store
 * (ballast/store.h), which also returns the results of cells. The same file read in the same mode always
 * gives the same points, seeds and trials; adding points or policies changes none of the others. */
#ifndef BALLAST_EXPERIMENT_H
#define BALLAST_EXPERIMENT_H

#include "ballast/lab.h"
#include "ballast/predict.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    BAL_AXES_MAX = 4,         /* axes of a sweep */
    BAL_AXIS_FIELDS_MAX = 4,  /* fields that one axis sets together */
    BAL_PLOT_METRICS_MAX = 8, /* metrics of a figure */
    BAL_EXPERIMENT_POLICIES = 64,
};
#define BAL_CELLS_MAX 100000u             /* points x policies */
#define BAL_EXPERIMENT_BYTES (128u << 10) /* of a file */

/* A file may have settings for a quick run and for a full run; they override its other settings. */
enum bal_mode { BAL_MODE_PLAIN, BAL_MODE_QUICK, BAL_MODE_FULL };
const char *bal_mode_text(enum bal_mode mode); /* "plain", "quick", "full" */

/* ---- quantities: what can be measured of a cell ---- */

/* A metric; the fraction of servers with at least i jobs, called "queue.tail.i"; or a percentile that is not
 * one of the metrics: "response.p95", in short "p95". */
struct bal_quantity {
    int metric;      /* enum bal_metric, of a percentile the median; BAL_METRIC_COUNT: a tail */
    int level;       /* of the tail, 0 to BAL_TAIL_LEVELS - 1; of a percentile enum bal_distribution */
    double quantile; /* of a percentile; else 0 */
};

/* The one of that name. BAL_E_UNKNOWN: there is none; BAL_E_RANGE: it names a percentile that does not exist,
 * and err explains it. */
enum bal_code bal_quantity_find(const char *name, struct bal_quantity *quantity, struct bal_error *err);
/* Its name, written into text when it is no metric. */
enum { BAL_QUANTITY_TEXT = 48 };
const char *bal_quantity_text(struct bal_quantity quantity, char text[BAL_QUANTITY_TEXT]);
/* Does it grow without bound when the system is unstable, so that its mean has no meaning? */
bool bal_quantity_diverges(struct bal_quantity quantity);
double bal_quantity_of_trial(struct bal_quantity quantity, const struct bal_trial *trial);
/* What theory predicts; NaN where there is no prediction. */
double bal_quantity_of_known(struct bal_quantity quantity, const struct bal_model *model,
                             const struct bal_prediction *known);
/* The same for a case: where its run measures a given span of time, what is known about that span; else what
 * is known about the stationary state. *source names the theory where there is one; it may be NULL. */
double bal_quantity_of_case(struct bal_quantity quantity, const struct bal_case *c, const char **source);
/* The bound that is proved for it, and what the figures of the paper show in its place; NaN where there is
 * none.
 */
double bal_quantity_bound(struct bal_quantity quantity, const struct bal_prediction *known);
double bal_quantity_cut(struct bal_quantity quantity, const struct bal_prediction *known);

/* ---- what is swept ---- */

struct bal_sweep_value {
    const char *text[BAL_AXIS_FIELDS_MAX]; /* for each field of the axis: "0.9", "50x1,50x10" */
    const char *label;                     /* for people: "50:50"; without one in the file text[0] */
    double number;                         /* text[0] as a number; NaN when it is none */
};

struct bal_sweep_axis {
    const char *name;  /* its first field: "load", "servers", "pod.d"; figures and claims refer to it by this
                          name */
    const char *label; /* for people; without one in the file the name */
    unsigned fields;
    const char *field[BAL_AXIS_FIELDS_MAX]; /* what it sets: field[0] is the name */
    size_t count;
    const struct bal_sweep_value *value;
    bool numeric; /* all values are numbers, in increasing order */
    bool log;     /* they were given as spaced logarithmically */
};

/* What dispatches the requests of a live system. */
enum bal_proxy { BAL_PROXY_BALLAST, BAL_PROXY_NGINX, BAL_PROXY_HAPROXY };

struct bal_experiment_policy {
    const char *label;           /* unique; without one in the file the text */
    const char *text;            /* as written in the file */
    struct bal_policy_spec spec; /* as written; parameters that are swept differ from point to point. Of a
                                  * baseline proxy: the policy that is its model */
    /* Of what is measured on real processes: */
    const char *real; /* all that is started, as text; NULL: it is simulated */
    enum bal_proxy proxy;
    int twin; /* the policy that is its prediction in the lab; -1: it has none */
};

/* Some of the values of each axis, and some policies. */
struct bal_selection {
    const bool *value[BAL_AXES_MAX]; /* one flag for each value of the axis */
    const bool *policy;              /* one flag for each policy */
};

/* ---- figures that are asked for ---- */

enum bal_plot_kind {
    BAL_PLOT_AXIS, /* metrics against an axis */
    BAL_PLOT_CDF,  /* distribution of the response or waiting time */
    BAL_PLOT_CCDF, /* one minus it */
    BAL_PLOT_TAIL, /* fraction of servers with at least i jobs, against i */
    BAL_PLOT_BARS, /* metrics as bars, one group for each value or policy */
    BAL_PLOT_MAP,  /* which points of the plane of two axes are stable */
};

enum { BAL_BY_POLICY = -1, BAL_BY_METRIC = -2, BAL_BY_NOTHING = -3 };

struct bal_plot {
    const char *id;      /* unique; fits a file name: letters, digits, '-', '_' */
    const char *title;   /* NULL: none */
    const char *caption; /* NULL: none */
    const char *section; /* which figure of the paper; NULL: none */
    enum bal_plot_kind kind;
    int x;      /* axis of the sweep, or BAL_BY_POLICY (bars), or BAL_BY_NOTHING (distributions, tails) */
    int series; /* what the curves differ in: an axis, BAL_BY_POLICY or BAL_BY_METRIC; of a map: its y axis */
    int panels; /* what the panels differ in: an axis, BAL_BY_POLICY, BAL_BY_METRIC or BAL_BY_NOTHING */
    int rows;   /* the same for rows of panels; then `panels` are the columns */
    unsigned metrics;
    struct bal_quantity metric[BAL_PLOT_METRICS_MAX]; /* what is drawn; for distributions response.mean or
                                                       * waiting.mean says which */
    struct bal_selection where;
    int over; /* the policy whose metric at the same point each value is divided by; -1: none */
    struct bal_quantity over_metric; /* of that policy; its metric is -1: the same as what is drawn */
    bool inverse;                    /* draw the inverse of that ratio */
    bool theory;                     /* draw the prediction of theory too */
    bool bound;                      /* and proved bounds */
    bool log_x, log_y;
    double x_range[2], y_range[2]; /* NaN: as the data demand */
    const char *x_label, *y_label; /* NULL: from the axis and the metric */
    unsigned columns;              /* panels side by side; 0: as many as look good */
};

/* ---- claims ---- */

enum bal_measure {
    BAL_MEASURE_VALUE,      /* a quantity of a policy */
    BAL_MEASURE_RATIO,      /* one over another */
    BAL_MEASURE_DIFFERENCE, /* one minus another */
    BAL_MEASURE_EXPONENT,   /* a of the fitted function quantity = constant x^a */
    BAL_MEASURE_SLOPE,      /* a of the fitted function quantity = constant + a log x */
    BAL_MEASURE_RANK,       /* place of the policy among the others, 1 for the smallest */
    BAL_MEASURE_VERDICT,    /* is it stable? */
    BAL_MEASURE_CRITICAL,   /* where along an axis it ceases to be stable */
    BAL_MEASURE_CROSSING,   /* where along an axis one becomes larger than another */
    BAL_MEASURE_LIMIT,      /* where a quantity tends along an axis, extrapolated */
};

enum bal_over { BAL_OVER_EACH, BAL_OVER_SOME, BAL_OVER_LARGEST, BAL_OVER_SMALLEST };

/* What a side of a comparison is. */
enum bal_reference {
    BAL_REFERENCE_POLICY, /* measured */
    BAL_REFERENCE_THEORY, /* what theory predicts for the policy, or for the critical load */
    BAL_REFERENCE_BOUND,  /* a proved bound */
    BAL_REFERENCE_CUT,    /* what the figures of a paper show in its place, `bound-3` */
    BAL_REFERENCE_FLOOR,  /* the mean response time of one common queue, M/M/N */
    BAL_REFERENCE_NUMBER,
};

/* One side of a comparison. */
struct bal_operand {
    enum bal_reference reference;
    struct bal_quantity quantity;
    int policy;              /* its index */
    double number;           /* of BAL_REFERENCE_NUMBER */
    int fixed[BAL_AXES_MAX]; /* value of an axis at which this side is taken, -1: the same value as on the
                                other side */
};

/* Where the numbers of a check come from. */
enum bal_evidence {
    BAL_EVIDENCE_RUNS,    /* from trials */
    BAL_EVIDENCE_FORMULA, /* what is known of each policy, evaluated; no trial takes part */
    BAL_EVIDENCE_KNOWN,   /* the same where something is known, else trials */
};

/* One thing that is measured, and what is expected of it. */
struct bal_check {
    enum bal_measure measure;
    enum bal_evidence evidence;
    struct bal_operand of, to; /* `to` where the measure compares */
    bool compares;
    enum bal_over over;
    int along;  /* axis of a fit, a critical value, a crossing or a limit; -1: none */
    bool slack; /* x stands for 1/(1-x) in fits */
    struct bal_selection where;
    double low, high;         /* what is expected, both ends included; not of BAL_MEASURE_LIMIT */
    enum bal_verdict verdict; /* of BAL_MEASURE_VERDICT */
    const char *expected;     /* the same for people: "at most 1.1" */
};

/* What kind of statement a claim is: each has its own rule, described in docs/papers.md. */
enum bal_kind {
    BAL_KIND_ANY,        /* of findings, and in files that belong to no paper */
    BAL_KIND_VALUE,      /* a number that is printed */
    BAL_KIND_COMPARISON, /* more, less, close to */
    BAL_KIND_LIMIT,      /* as something grows */
    BAL_KIND_FORMULA,    /* evaluated, not simulated */
    BAL_KIND_BOUND,      /* proved, evaluated where an exact value is known */
    BAL_KIND_STABILITY,
    BAL_KIND_DEFINITION, /* cannot fail; not counted */
};
extern const char *const bal_kinds[]; /* "any", "value", ..., ended by NULL */

/* A claim, usually of a paper, or a finding: what we found instead of it or in addition. Both are judged by
 * the same rules and counted separately. It holds where all its checks hold. */
struct bal_claim {
    const char *id;      /* unique */
    const char *section; /* of the paper, NULL: none */
    const char *quote;   /* the sentence that is judged, in the paper's words; NULL: none */
    const char *says;    /* how it is read, in our words */
    const char *error;   /* why the paper is wrong, where it is; NULL: nothing is known to be wrong */
    const char *reason;  /* why it does not hold as it is read, though the paper is not wrong; NULL: none */
    enum bal_kind kind;
    bool finding; /* ours, not the paper's */
    int answers;  /* of a finding: index of the claim that it answers; -1: none */
    size_t checks;
    const struct bal_check *check;
    unsigned line; /* in the file */
};

/* ---- real processes ---- */

/* What can happen to a live fleet. */
enum bal_fault_kind {
    BAL_FAULT_RELOAD,          /* the dispatcher's nginx or HAProxy reads its configuration again */
    BAL_FAULT_WORKER,          /* a worker of the dispatcher is killed with -9 */
    BAL_FAULT_DISPATCHER,      /* the dispatcher is ended and started again */
    BAL_FAULT_STATION,         /* the station's nginx is killed with -9, and started again */
    BAL_FAULT_KEEPER,          /* the keeper is killed with -9, and started again */
    BAL_FAULT_FAIL,            /* a server fails fast: 500 after a millisecond */
    BAL_FAULT_HANG,            /* a server takes requests and never answers */
    BAL_FAULT_SLOW,            /* a server takes `factor` times as long */
    BAL_FAULT_REFUSE,          /* a server does not listen */
    BAL_FAULT_LOSS,            /* every tenth datagram is lost */
    BAL_FAULT_KILL_DISPATCHER, /* the dispatcher's nginx or HAProxy is killed with -9, and started again */
    BAL_FAULT_STOP_DISPATCHER, /* its processes are stopped */
    BAL_FAULT_STOP_WORKER,     /* one of them, a worker, is stopped */
    BAL_FAULT_END_STATION,     /* the station's nginx is ended in order, and started again */
    BAL_FAULT_STOP_STATION,    /* it is stopped */
    BAL_FAULT_ABORT,           /* clients send requests to the dispatcher and leave after 20 ms */
    BAL_FAULT_DEPLOY,          /* one server after the other does not listen for a while */
    BAL_FAULT_LINK,            /* nothing goes to the host or comes from it */
    BAL_FAULT_CUT,             /* nothing passes between two hosts */
    BAL_FAULT_DEAF,            /* a share of the datagrams to the host is lost */
    BAL_FAULT_MUTE,            /* a share of those from it */
    BAL_FAULT_DELAY,           /* packets to the host and from it take longer */
    BAL_FAULT_MTU,             /* packets from the host are smaller */
    BAL_FAULT_MOVE,            /* the dispatcher goes to the next host, with its address, and back */
    BAL_FAULT_RELOAD_STATION,  /* the station's nginx reads its configuration again */
    BAL_FAULT_FREEZE, /* all processes of the host are stopped, as in a virtual machine that is migrated */
    BAL_FAULTS
};

/* What the number of a fault is a number of. */
enum bal_fault_place {
    BAL_FAULT_OF_NONE,
    BAL_FAULT_OF_DISPATCHER,
    BAL_FAULT_OF_SERVER,
    BAL_FAULT_OF_HOST,
};

struct bal_fault_trait {
    enum bal_fault_place place;
    bool ends;           /* after a time */
    bool needs_stations; /* it does nothing to other proxies */
    bool needs_hosts;
};
extern const struct bal_fault_trait bal_fault_traits[BAL_FAULTS];

struct bal_fault {
    enum bal_fault_kind kind;
    double at;    /* seconds from the beginning of a block */
    double lasts; /* seconds, where it has an end; else 0 */
    unsigned of;  /* number of the server, station, dispatcher or host */
    unsigned to;  /* of BAL_FAULT_CUT: the other host */
    double factor;
    double share;   /* of datagrams that are lost */
    double delay;   /* seconds, each way */
    unsigned bytes; /* of the largest packet */
    unsigned line;  /* in the file */
};

enum bal_stations { BAL_STATIONS_AUTO, BAL_STATIONS_YES, BAL_STATIONS_NO };

/* How the policies of a file are measured on real processes. Times of its model are seconds. */
struct bal_live {
    double seconds; /* of a block; a block is a trial */
    double timeout; /* seconds that a dispatcher waits for an answer */
    enum bal_stations stations;
    bool apart;     /* each station is an nginx of its own */
    bool keepers;   /* ballastd starts the apps */
    bool burn;      /* servers use their processor instead of sleeping */
    unsigned hosts; /* network namespaces that the fleet is spread over; 0: all is on loopback */
    bool ipv6;      /* they have addresses of IPv6 */
    bool urgent;    /* all of it has a higher priority than other processes, where that is allowed */
    size_t faults;
    const struct bal_fault *fault; /* in the order of their times */
};

/* ---- the experiment ---- */

struct bal_experiment {
    const char *name; /* of the file, without directory and suffix */
    const char *spec; /* the text of the file */
    enum bal_mode mode;
    const char *title;
    const char *about;   /* NULL: none */
    const char *unit;    /* of time, for figures; NULL: what the model counts in */
    const char *paper;   /* short name of the paper it belongs to; NULL: none */
    const char *section; /* of the paper; NULL: none */
    uint64_t seed;
    size_t axes;
    const struct bal_sweep_axis *axis;
    size_t points; /* product of the axes' counts, the last axis varying fastest; 1 without axes */
    size_t policies;
    const struct bal_experiment_policy *policy;
    size_t baseline; /* the policy that the others are compared with */
    size_t metrics;
    const struct bal_quantity *metric; /* shown in tables */
    bool distributions; /* a percentile of something other than the response and waiting times of all jobs is
                           wanted */
    size_t plots;
    const struct bal_plot *plot;
    size_t claims; /* findings among them */
    const struct bal_claim *claim;
    const struct bal_live *live; /* NULL: all is simulated. Else policies are measured, and each is followed
                                  * by its prediction */
    struct bal_experiment_private *own;
};

/* Reads, checks and resolves a file; everything about it is known to be right afterwards: every cell can be
 * simulated, every reference exists. On failure err names the file, the line, the field and what would be
 * right. */
enum bal_code bal_experiment_read(const char *path, enum bal_mode mode, struct bal_experiment **experiment,
                                  struct bal_error *err);
/* The same for a text; name stands for the path in messages. A file may name others, which become part of
 * its text when it is read; a text may not. */
enum bal_code bal_experiment_parse(const char *text, size_t length, const char *name, enum bal_mode mode,
                                   struct bal_experiment **experiment, struct bal_error *err);
void bal_experiment_free(struct bal_experiment *experiment);

/* All mistakes of a file, each reported like such an error, in the order of their lines. Returns how many
 * there are; 0: bal_experiment_read() reads it. A mistake that follows from another one is not reported. One
 * that depends on another (whether a policy can run a model that is wrong) is reported only when the other
 * one is corrected. */
size_t bal_experiment_errors(const char *path, enum bal_mode mode,
                             void (*tell)(void *context, const char *mistake), void *context);

/* Index into each axis of a point, and back. */
void bal_experiment_coordinates(const struct bal_experiment *experiment, size_t point,
                                size_t index[BAL_AXES_MAX]);
size_t bal_experiment_point(const struct bal_experiment *experiment, const size_t index[BAL_AXES_MAX]);
/* "load=0.9 servers=50:50" with labels; "" without axes. Always terminated. */
void bal_experiment_point_text(const struct bal_experiment *experiment, size_t point, char *text,
                               size_t size);

bool bal_selection_has(const struct bal_selection *selection, const struct bal_experiment *experiment,
                       size_t point);

/* The cell, ready to simulate. */
void bal_experiment_case(const struct bal_experiment *experiment, size_t point, size_t policy,
                         struct bal_case *c);

/* Is the policy that models a baseline proxy what that proxy does on this fleet? Some proxies behave
 * differently where servers have different weights, and none has a model with classes. */
bool bal_baseline_is_modelled(const struct bal_experiment_policy *entry, const struct bal_model *model);

/* ---- documentation ---- */

/* The fields of experiment files: as a JSON schema for editors, and as the tables of docs/experiments.md. */
void bal_experiment_write_schema(FILE *out);
void bal_experiment_write_fields(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
