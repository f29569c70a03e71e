#include "ballast/paths.h"

#include <math.h>

void bal_lengths_of(const double *s, size_t n, uint32_t servers, uint32_t *length) {
    size_t level = n;
    for (uint32_t server = 0; server < servers; server++) {
        /* server i has at least so many jobs as have more than i servers */
        while (level > 0 && floor(s[level - 1] * servers + 0.5) <= server)
            level--;
        length[server] = (uint32_t)level;
    }
}

struct bal_distance bal_path_distance(const struct bal_path *path, const struct bal_fluid_path *fluid) {
    struct bal_distance apart = {.level = 1};
    for (size_t k = 0; k < path->times; k++) {
        double sum = 0;
        for (size_t i = 0; i < path->levels; i++) {
            const double difference =
                fabs(path->fraction[k * path->levels + i] - bal_fluid_path_at(fluid, k, i));
            sum += ldexp(difference * difference, -(int)(i + 1));
            if (difference <= apart.difference)
                continue;
            apart.difference = difference;
            apart.time = path->time[k];
            apart.level = i + 1;
        }
        apart.norm = fmax(apart.norm, sqrt(sum));
    }
    return apart;
}
