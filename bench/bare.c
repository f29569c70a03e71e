#include "bare.h"

#include "ballast/random.h"

#include <stdlib.h>

double bare_speed(uint64_t events) {
    enum { SERVERS = 1000 };
    static uint32_t queue[SERVERS];
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    const double lambda = 0.9 * SERVERS;
    uint64_t done = 0;
    const double start = processor_time();
    while (done < events) {
        const double which = bal_rng_uniform(&rng) * (lambda + SERVERS);
        if (which < lambda) {
            const uint32_t a = bal_rng_below(&rng, SERVERS), b = bal_rng_below(&rng, SERVERS);
            queue[queue[b] < queue[a] ? b : a]++;
            done++;
        } else {
            const uint32_t server = (uint32_t)(which - lambda);
            if (queue[server] > 0) {
                queue[server]--;
                done++;
            }
        }
    }
    return (double)done / (processor_time() - start);
}
