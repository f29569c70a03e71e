/* What known.c and known_classes.c share. */
#ifndef BALLAST_THEORY_UNIFORM_H
#define BALLAST_THEORY_UNIFORM_H

#include "ballast/known.h"

/* A model with equal servers in the units of theory.h: mean size 1, unit speed. */
struct bal_uniform {
    double lambda;
    uint32_t servers;
    double unit; /* mean service time */
    bool exponential;
};

/* Is the model one of these? Sets *uniform if so. */
bool bal_uniform_of(const struct bal_model *model, struct bal_uniform *uniform);

#define BAL_KNOWN_NO_CLASS                                                                                   \
    { NAN, NAN, NAN, {NAN, NAN, NAN, NAN}, NAN }
extern const struct bal_known bal_known_nothing;
extern const double bal_known_quantiles[4];

/* What is known of all jobs together while servers are first come, first served. */
struct bal_known bal_known_fifo(const struct bal_model *model, const struct bal_policy_spec *policy,
                                const struct bal_uniform *u);

/* What is known where there are two classes. */
struct bal_known bal_known_classes(const struct bal_model *model, const struct bal_policy_spec *policy,
                                   const struct bal_uniform *u);

#endif
