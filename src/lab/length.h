/* Runs that are made longer because they were too short to settle. */
#ifndef LAB_LENGTH_H
#define LAB_LENGTH_H

#include "ballast/lab.h"

/* What became of a case so far. All zero at first. */
struct growth {
    bool grown;   /* its runs were made longer for a doubt ... */
    bool spare;   /* ... and once more when there was hardly any left */
    bool planned; /* its length was thought over when the first runs told how far from its precision it is */
};

/* Does the case ask for runs of twice the length after this result? */
bool bal_growth_ask(struct growth *growth, const struct bal_case *c, const struct bal_result *result);

/* The length of runs that are so many times as long: rounded up to what can be typed. */
double bal_longer_time(const struct bal_case *c, double factor);

#endif
