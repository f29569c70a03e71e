/* SPDX-License-Identifier: BSD-2-Clause */
/* Experiments: the contents of an experiment file, its points, and its results.
 *
 * An experiment is a model with some of its fields swept over axes, a list of policies, the length and number
 * of runs, and what to do with the results: figures to draw and claims to judge. Files are YAML;
 * docs/experiments.md describes every field.
 *
 *     struct bli_experiment *e;
 *     if (bli_experiment_read("load.yaml", BLI_MODE_PLAIN, &e, &err))
 *         ... err.text says why: "load.yaml:7: load: ..."
 *     for (size_t point = 0; point < e->points; point++)
 *         for (size_t policy = 0; policy < e->policies; policy++) {
 *             struct bli_case c;
 *             bli_experiment_case(e, point, policy, &c); ... model, policy and run, ready to simulate
 *         }
 *     bli_experiment_free(e);
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
    BLI_AXES_MAX = 4,         /* axes of a sweep */
    BLI_AXIS_FIELDS_MAX = 4,  /* fields that one axis sets together */
    BLI_PLOT_METRICS_MAX = 8, /* metrics of a figure */
    BLI_EXPERIMENT_POLICIES = 64,
};
#define BLI_CELLS_MAX 100000u             /* points x policies */
#define BLI_EXPERIMENT_BYTES (128u << 10) /* of a file */

/* A file may have settings for a quick run and for a full run; they override its other settings. */
enum bli_mode { BLI_MODE_PLAIN, BLI_MODE_QUICK, BLI_MODE_FULL };
const char *bli_mode_text(enum bli_mode mode); /* "plain", "quick", "full" */

/* ---- quantities: what can be measured of a cell ---- */

/* A metric; the fraction of servers with at least i jobs, called "queue.tail.i"; or a percentile that is not
 * one of the metrics: "response.p95", in short "p95". */
struct bli_quantity {
    int metric;      /* enum bli_metric, of a percentile the median; BLI_METRIC_COUNT: a tail */
    int level;       /* of the tail, 0 to BLI_TAIL_LEVELS - 1; of a percentile enum bli_distribution */
    double quantile; /* of a percentile; else 0 */
};

/* The one of that name. BAL_E_UNKNOWN: there is none; BAL_E_RANGE: it names a percentile that does not exist,
 * and err explains it. */
enum bal_code bli_quantity_find(const char *name, struct bli_quantity *quantity, struct bal_error *err);
/* Its name, written into text when it is no metric. */
enum { BLI_QUANTITY_TEXT = 48 };
const char *bli_quantity_text(struct bli_quantity quantity, char text[BLI_QUANTITY_TEXT]);
/* Does it grow without bound when the system is unstable, so that its mean has no meaning? */
bool bli_quantity_diverges(struct bli_quantity quantity);
double bli_quantity_of_trial(struct bli_quantity quantity, const struct bli_trial *trial);
/* What theory predicts; NaN where there is no prediction. */
double bli_quantity_of_known(struct bli_quantity quantity, const struct bli_model *model,
                             const struct bli_prediction *known);
/* The same for a case: where its run measures a given span of time, what is known about that span; else what
 * is known about the stationary state. *source names the theory where there is one; it may be NULL. */
double bli_quantity_of_case(struct bli_quantity quantity, const struct bli_case *c, const char **source);
/* The bound that is proved for it, and what the figures of the paper show in its place; NaN where there is
 * none.
 */
double bli_quantity_bound(struct bli_quantity quantity, const struct bli_prediction *known);
double bli_quantity_cut(struct bli_quantity quantity, const struct bli_prediction *known);

/* ---- what is swept ---- */

struct bli_sweep_value {
    const char *text[BLI_AXIS_FIELDS_MAX]; /* for each field of the axis: "0.9", "50x1,50x10" */
    const char *label;                     /* for people: "50:50"; without one in the file text[0] */
    double number;                         /* text[0] as a number; NaN when it is none */
};

struct bli_sweep_axis {
    const char *name;  /* its first field: "load", "servers", "pod.d"; figures and claims refer to it by this
                          name */
    const char *label; /* for people; without one in the file the name */
    unsigned fields;
    const char *field[BLI_AXIS_FIELDS_MAX]; /* what it sets: field[0] is the name */
    size_t count;
    const struct bli_sweep_value *value;
    bool numeric; /* all values are numbers, in increasing order */
    bool log;     /* they were given as spaced logarithmically */
};

/* What dispatches the requests of a live system. */
enum bli_proxy { BLI_PROXY_BALLAST, BLI_PROXY_NGINX, BLI_PROXY_HAPROXY };

struct bli_experiment_policy {
    const char *label;           /* unique; without one in the file the text */
    const char *text;            /* as written in the file */
    struct bal_policy_spec spec; /* as written; parameters that are swept differ from point to point. Of a
                                  * baseline proxy: the policy that is its model */
    /* Of what is measured on real processes: */
    const char *real; /* all that is started, as text; NULL: it is simulated */
    enum bli_proxy proxy;
    int twin; /* the policy that is its prediction in the lab; -1: it has none */
};

/* Some of the values of each axis, and some policies. */
struct bli_selection {
    const bool *value[BLI_AXES_MAX]; /* one flag for each value of the axis */
    const bool *policy;              /* one flag for each policy */
};

/* ---- figures that are asked for ---- */

enum bli_plot_kind {
    BLI_PLOT_AXIS, /* metrics against an axis */
    BLI_PLOT_CDF,  /* distribution of the response or waiting time */
    BLI_PLOT_CCDF, /* one minus it */
    BLI_PLOT_TAIL, /* fraction of servers with at least i jobs, against i */
    BLI_PLOT_BARS, /* metrics as bars, one group for each value or policy */
    BLI_PLOT_MAP,  /* which points of the plane of two axes are stable */
};

enum { BLI_BY_POLICY = -1, BLI_BY_METRIC = -2, BLI_BY_NOTHING = -3 };

struct bli_plot {
    const char *id;      /* unique; fits a file name: letters, digits, '-', '_' */
    const char *title;   /* NULL: none */
    const char *caption; /* NULL: none */
    const char *section; /* which figure of the paper; NULL: none */
    enum bli_plot_kind kind;
    int x;      /* axis of the sweep, or BLI_BY_POLICY (bars), or BLI_BY_NOTHING (distributions, tails) */
    int series; /* what the curves differ in: an axis, BLI_BY_POLICY or BLI_BY_METRIC; of a map: its y axis */
    int panels; /* what the panels differ in: an axis, BLI_BY_POLICY, BLI_BY_METRIC or BLI_BY_NOTHING */
    int rows;   /* the same for rows of panels; then `panels` are the columns */
    unsigned metrics;
    struct bli_quantity metric[BLI_PLOT_METRICS_MAX]; /* what is drawn; for distributions response.mean or
                                                       * waiting.mean says which */
    struct bli_selection where;
    int over; /* the policy whose metric at the same point each value is divided by; -1: none */
    struct bli_quantity over_metric; /* of that policy; its metric is -1: the same as what is drawn */
    bool inverse;                    /* draw the inverse of that ratio */
    bool theory;                     /* draw the prediction of theory too */
    bool bound;                      /* and proved bounds */
    bool log_x, log_y;
    double x_range[2], y_range[2]; /* NaN: as the data demand */
    const char *x_label, *y_label; /* NULL: from the axis and the metric */
    unsigned columns;              /* panels side by side; 0: as many as look good */
};

/* ---- claims ---- */

enum bli_measure {
    BLI_MEASURE_VALUE,      /* a quantity of a policy */
    BLI_MEASURE_RATIO,      /* one over another */
    BLI_MEASURE_DIFFERENCE, /* one minus another */
    BLI_MEASURE_EXPONENT,   /* a of the fitted function quantity = constant x^a */
    BLI_MEASURE_SLOPE,      /* a of the fitted function quantity = constant + a log x */
    BLI_MEASURE_RANK,       /* place of the policy among the others, 1 for the smallest */
    BLI_MEASURE_VERDICT,    /* is it stable? */
    BLI_MEASURE_CRITICAL,   /* where along an axis it ceases to be stable */
    BLI_MEASURE_CROSSING,   /* where along an axis one becomes larger than another */
    BLI_MEASURE_LIMIT,      /* where a quantity tends along an axis, extrapolated */
};

enum bli_over { BLI_OVER_EACH, BLI_OVER_SOME, BLI_OVER_LARGEST, BLI_OVER_SMALLEST };

/* What a side of a comparison is. */
enum bli_reference {
    BLI_REFERENCE_POLICY, /* measured */
    BLI_REFERENCE_THEORY, /* what theory predicts for the policy, or for the critical load */
    BLI_REFERENCE_BOUND,  /* a proved bound */
    BLI_REFERENCE_CUT,    /* what the figures of a paper show in its place, `bound-3` */
    BLI_REFERENCE_FLOOR,  /* the mean response time of one common queue, M/M/N */
    BLI_REFERENCE_NUMBER,
};

/* One side of a comparison. */
struct bli_operand {
    enum bli_reference reference;
    struct bli_quantity quantity;
    int policy;              /* its index */
    double number;           /* of BLI_REFERENCE_NUMBER */
    int fixed[BLI_AXES_MAX]; /* value of an axis at which this side is taken, -1: the same value as on the
                                other side */
};

/* Where the numbers of a check come from. */
enum bli_evidence {
    BLI_EVIDENCE_RUNS,    /* from trials */
    BLI_EVIDENCE_FORMULA, /* what is known of each policy, evaluated; no trial takes part */
    BLI_EVIDENCE_KNOWN,   /* the same where something is known, else trials */
};

/* One thing that is measured, and what is expected of it. */
struct bli_check {
    enum bli_measure measure;
    enum bli_evidence evidence;
    struct bli_operand of, to; /* `to` where the measure compares */
    bool compares;
    enum bli_over over;
    int along;  /* axis of a fit, a critical value, a crossing or a limit; -1: none */
    bool slack; /* x stands for 1/(1-x) in fits */
    struct bli_selection where;
    double low, high;         /* what is expected, both ends included; not of BLI_MEASURE_LIMIT */
    enum bli_verdict verdict; /* of BLI_MEASURE_VERDICT */
    const char *expected;     /* the same for people: "at most 1.1" */
};

/* What kind of statement a claim is: each has its own rule, described in docs/papers.md. */
enum bli_kind {
    BLI_KIND_ANY,        /* of findings, and in files that belong to no paper */
    BLI_KIND_VALUE,      /* a number that is printed */
    BLI_KIND_COMPARISON, /* more, less, close to */
    BLI_KIND_LIMIT,      /* as something grows */
    BLI_KIND_FORMULA,    /* evaluated, not simulated */
    BLI_KIND_BOUND,      /* proved, evaluated where an exact value is known */
    BLI_KIND_STABILITY,
    BLI_KIND_DEFINITION, /* cannot fail; not counted */
};
extern const char *const bli_kinds[]; /* "any", "value", ..., ended by NULL */

/* A claim, usually of a paper, or a finding: what we found instead of it or in addition. Both are judged by
 * the same rules and counted separately. It holds where all its checks hold. */
struct bli_claim {
    const char *id;      /* unique */
    const char *section; /* of the paper, NULL: none */
    const char *quote;   /* the sentence that is judged, in the paper's words; NULL: none */
    const char *says;    /* how it is read, in our words */
    const char *error;   /* why the paper is wrong, where it is; NULL: nothing is known to be wrong */
    const char *reason;  /* why it does not hold as it is read, though the paper is not wrong; NULL: none */
    enum bli_kind kind;
    bool finding; /* ours, not the paper's */
    int answers;  /* of a finding: index of the claim that it answers; -1: none */
    size_t checks;
    const struct bli_check *check;
    unsigned line; /* in the file */
};

/* ---- real processes ---- */

/* What can happen to a live fleet. */
enum bli_fault_kind {
    BLI_FAULT_RELOAD,          /* the dispatcher's nginx or HAProxy reads its configuration again */
    BLI_FAULT_WORKER,          /* a worker of the dispatcher is killed with -9 */
    BLI_FAULT_DISPATCHER,      /* the dispatcher is ended and started again */
    BLI_FAULT_STATION,         /* the station's nginx is killed with -9, and started again */
    BLI_FAULT_KEEPER,          /* the keeper is killed with -9, and started again */
    BLI_FAULT_FAIL,            /* a server fails fast: 500 after a millisecond */
    BLI_FAULT_HANG,            /* a server takes requests and never answers */
    BLI_FAULT_SLOW,            /* a server takes `factor` times as long */
    BLI_FAULT_REFUSE,          /* a server does not listen */
    BLI_FAULT_LOSS,            /* every tenth datagram is lost */
    BLI_FAULT_KILL_DISPATCHER, /* the dispatcher's nginx or HAProxy is killed with -9, and started again */
    BLI_FAULT_STOP_DISPATCHER, /* its processes are stopped */
    BLI_FAULT_STOP_WORKER,     /* one of them, a worker, is stopped */
    BLI_FAULT_END_STATION,     /* the station's nginx is ended in order, and started again */
    BLI_FAULT_STOP_STATION,    /* it is stopped */
    BLI_FAULT_ABORT,           /* clients send requests to the dispatcher and leave after 20 ms */
    BLI_FAULT_DEPLOY,          /* one server after the other does not listen for a while */
    BLI_FAULT_LINK,            /* nothing goes to the host or comes from it */
    BLI_FAULT_CUT,             /* nothing passes between two hosts */
    BLI_FAULT_DEAF,            /* a share of the datagrams to the host is lost */
    BLI_FAULT_MUTE,            /* a share of those from it */
    BLI_FAULT_DELAY,           /* packets to the host and from it take longer */
    BLI_FAULT_MTU,             /* packets from the host are smaller */
    BLI_FAULT_MOVE,            /* the dispatcher goes to the next host, with its address, and back */
    BLI_FAULT_RELOAD_STATION,  /* the station's nginx reads its configuration again */
    BLI_FAULT_FREEZE, /* all processes of the host are stopped, as in a virtual machine that is migrated */
    BLI_FAULTS
};

/* What the number of a fault is a number of. */
enum bli_fault_place {
    BLI_FAULT_OF_NONE,
    BLI_FAULT_OF_DISPATCHER,
    BLI_FAULT_OF_SERVER,
    BLI_FAULT_OF_HOST,
};

struct bli_fault_trait {
    enum bli_fault_place place;
    bool ends;           /* after a time */
    bool needs_stations; /* it does nothing to other proxies */
    bool needs_hosts;
};
extern const struct bli_fault_trait bli_fault_traits[BLI_FAULTS];

struct bli_fault {
    enum bli_fault_kind kind;
    double at;    /* seconds from the beginning of a block */
    double lasts; /* seconds, where it has an end; else 0 */
    unsigned of;  /* number of the server, station, dispatcher or host */
    unsigned to;  /* of BLI_FAULT_CUT: the other host */
    double factor;
    double share;   /* of datagrams that are lost */
    double delay;   /* seconds, each way */
    unsigned bytes; /* of the largest packet */
    unsigned line;  /* in the file */
};

enum bli_stations { BLI_STATIONS_AUTO, BLI_STATIONS_YES, BLI_STATIONS_NO };

/* How the policies of a file are measured on real processes. Times of its model are seconds. */
struct bli_live {
    double seconds; /* of a block; a block is a trial */
    double timeout; /* seconds that a dispatcher waits for an answer */
    enum bli_stations stations;
    bool apart;     /* each station is an nginx of its own */
    bool keepers;   /* ballastd starts the apps */
    bool burn;      /* servers use their processor instead of sleeping */
    unsigned hosts; /* network namespaces that the fleet is spread over; 0: all is on loopback */
    bool ipv6;      /* they have addresses of IPv6 */
    bool urgent;    /* all of it has a higher priority than other processes, where that is allowed */
    size_t faults;
    const struct bli_fault *fault; /* in the order of their times */
};

/* ---- the experiment ---- */

struct bli_experiment {
    const char *name; /* of the file, without directory and suffix */
    const char *spec; /* the text of the file */
    enum bli_mode mode;
    const char *title;
    const char *about;   /* NULL: none */
    const char *unit;    /* of time, for figures; NULL: what the model counts in */
    const char *paper;   /* short name of the paper it belongs to; NULL: none */
    const char *section; /* of the paper; NULL: none */
    uint64_t seed;
    size_t axes;
    const struct bli_sweep_axis *axis;
    size_t points; /* product of the axes' counts, the last axis varying fastest; 1 without axes */
    size_t policies;
    const struct bli_experiment_policy *policy;
    size_t baseline; /* the policy that the others are compared with */
    size_t metrics;
    const struct bli_quantity *metric; /* shown in tables */
    bool distributions; /* a percentile of something other than the response and waiting times of all jobs is
                           wanted */
    size_t plots;
    const struct bli_plot *plot;
    size_t claims; /* findings among them */
    const struct bli_claim *claim;
    const struct bli_live *live; /* NULL: all is simulated. Else policies are measured, and each is followed
                                  * by its prediction */
    struct bli_experiment_private *own;
};

/* Reads, checks and resolves a file; everything about it is known to be right afterwards: every cell can be
 * simulated, every reference exists. On failure err names the file, the line, the field and what would be
 * right. */
enum bal_code bli_experiment_read(const char *path, enum bli_mode mode, struct bli_experiment **experiment,
                                  struct bal_error *err);
/* The same for a text; name stands for the path in messages. A file may name others, which become part of
 * its text when it is read; a text may not. */
enum bal_code bli_experiment_parse(const char *text, size_t length, const char *name, enum bli_mode mode,
                                   struct bli_experiment **experiment, struct bal_error *err);
void bli_experiment_free(struct bli_experiment *experiment);

/* All mistakes of a file, each reported like such an error, in the order of their lines. Returns how many
 * there are; 0: bli_experiment_read() reads it. A mistake that follows from another one is not reported. One
 * that depends on another (whether a policy can run a model that is wrong) is reported only when the other
 * one is corrected. */
size_t bli_experiment_errors(const char *path, enum bli_mode mode,
                             void (*tell)(void *context, const char *mistake), void *context);

/* Index into each axis of a point, and back. */
void bli_experiment_coordinates(const struct bli_experiment *experiment, size_t point,
                                size_t index[BLI_AXES_MAX]);
size_t bli_experiment_point(const struct bli_experiment *experiment, const size_t index[BLI_AXES_MAX]);
/* "load=0.9 servers=50:50" with labels; "" without axes. Always terminated. */
void bli_experiment_point_text(const struct bli_experiment *experiment, size_t point, char *text,
                               size_t size);

bool bli_selection_has(const struct bli_selection *selection, const struct bli_experiment *experiment,
                       size_t point);

/* The cell, ready to simulate. */
void bli_experiment_case(const struct bli_experiment *experiment, size_t point, size_t policy,
                         struct bli_case *c);

/* Is the policy that models a baseline proxy what that proxy does on this fleet? Some proxies behave
 * differently where servers have different weights, and none has a model with classes. */
bool bli_baseline_is_modelled(const struct bli_experiment_policy *entry, const struct bli_model *model);

/* ---- documentation ---- */

/* The fields of experiment files: as a JSON schema for editors, and as the tables of docs/experiments.md. */
void bli_experiment_write_schema(FILE *out);
void bli_experiment_write_fields(FILE *out);

#ifdef __cplusplus
}
#endif
#endif
