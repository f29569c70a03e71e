/* Lines that tell the second of their end alone, but stand in the order of their ends: the records of a
 * second are put into it at random, in that order. */
#ifndef LOG_SPREAD_H
#define LOG_SPREAD_H

#include "ballast/log.h"
#include "ballast/random.h"

struct bal_log_spread {
    struct bal_log_record *record; /* of the second at hand */
    double *moment;
    size_t count, room;
    int64_t second;
};

/* Begins as all zero bytes. */
void bal_log_spread_fini(struct bal_log_spread *spread);

/* Records of one second come with the same time, and those of another must not be there any more. */
enum bal_code bal_log_spread_add(struct bal_log_spread *spread, int64_t second,
                                 const struct bal_log_record *record, struct bal_error *err);
static inline bool bal_log_spread_is_over(const struct bal_log_spread *spread, int64_t second) {
    return spread->count > 0 && spread->second != second;
}

/* Draws the moments of all that are there, whose times were those of the beginning of the second. They stay
 * in record[0..count) until the next one is added. */
void bal_log_spread_draw(struct bal_log_spread *spread, struct bal_rng *rng);

#endif
