/* A fluid path, and a simulated one beside it, as tables and figures. */
#ifndef REPORT_FLUID_REPORT_H
#define REPORT_FLUID_REPORT_H

#include "ballast/known.h"
#include "ballast/paths.h"
#include "report/head.h"

/* A fraction of servers beside the levels, at all times. */
struct bal_fluid_extra {
    const char *name; /* "off": in tables */
    const double *fluid;
    const double *simulated; /* NULL: none */
};

enum { BAL_FLUID_EXTRAS = 3 };

struct bal_fluid_report {
    const struct bal_policy_spec *policy;
    const struct bal_known_fluid *known;
    const char *from; /* the starting state, as the user named it */
    double load;
    const struct bal_draft *draft; /* the settings that were given */
    size_t times;                  /* of both paths */
    const double *time;
    size_t every;        /* every so many of them are printed; all are drawn */
    size_t levels;       /* how many are shown, >= 1 ... */
    const size_t *level; /* ... and which: from 1, rising */
    const struct bal_fluid_path *fluid;
    const struct bal_path *simulated; /* NULL: none */
    size_t extras;
    struct bal_fluid_extra extra[BAL_FLUID_EXTRAS];
    uint32_t servers; /* of the simulated one */
    uint64_t seed;
};

void bal_fluid_text(const struct bal_fluid_report *report, FILE *out);
void bal_fluid_csv(const struct bal_fluid_report *report, FILE *out);
void bal_fluid_json(const struct bal_fluid_report *report, FILE *out);
enum bal_code bal_fluid_figure(const struct bal_fluid_report *report, const char *path,
                               struct bal_error *err);

#endif
