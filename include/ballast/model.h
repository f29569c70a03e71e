/* What is simulated: the servers and the work that arrives. */
#ifndef BALLAST_MODEL_H
#define BALLAST_MODEL_H

#include "ballast/error.h"
#include "ballast/law.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BAL_GROUPS_MAX = 32 };
#define BAL_SERVERS_MAX 100000000u

/* Servers of equal speed. A job of size x takes x / speed units of time. */
struct bal_group {
    uint32_t count;
    double speed;
};

struct bal_servers {
    unsigned groups;
    struct bal_group group[BAL_GROUPS_MAX];
};

/* Reads "100", "10k" or "50x1,50x10" (COUNTxSPEED). On failure *servers is untouched. */
enum bal_code bal_servers_parse(const char *text, struct bal_servers *servers, struct bal_error *err);
/* The canonical text; always terminated; returns the length needed. */
size_t bal_servers_print(const struct bal_servers *servers, char *text, size_t size);
uint32_t bal_servers_count(const struct bal_servers *servers);
double bal_servers_capacity(const struct bal_servers *servers); /* work per unit of time */

/* Jobs arrive in a Poisson process of rate load * capacity / mean size and are served first come, first served. */
struct bal_model {
    struct bal_servers servers;
    struct bal_law size;
    double load;
};

double bal_model_arrival_rate(const struct bal_model *model);

/* Does it make sense? The load must be positive, the mean size finite and positive. */
enum bal_code bal_model_check(const struct bal_model *model, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
