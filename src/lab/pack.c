#include "lab/pack.h"

#include <endian.h>
#include <string.h>

void bal_pack_doubles(const double *value, size_t count, uint8_t *bytes) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &value[i], sizeof word);
        word = htole64(word);
        memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
}

void bal_unpack_doubles(const uint8_t *bytes, size_t count, double *value) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        word = le64toh(word);
        memcpy(&value[i], &word, sizeof word);
    }
}

static uint8_t *put(uint8_t *bytes, uint64_t number) {
    for (; number >= 128; number >>= 7)
        *bytes++ = (uint8_t)(number | 128);
    *bytes++ = (uint8_t)number;
    return bytes;
}

/* NULL when the bytes end inside the number or it has too many bits. */
static const uint8_t *get(const uint8_t *bytes, const uint8_t *end, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; bytes < end && shift < 64; shift += 7) {
        *number |= (uint64_t)(*bytes & 127) << shift;
        if (*bytes++ < 128)
            return bytes;
    }
    return NULL;
}

size_t bal_pack_histogram(const struct bal_histogram *histogram, uint8_t *bytes) {
    uint8_t *at = bytes;
    unsigned next = 0;
    for (unsigned bin = 0; bin < BAL_HISTOGRAM_BINS; bin++)
        if (histogram->count[bin]) {
            at = put(at, bin - next);
            at = put(at, histogram->count[bin]);
            next = bin + 1;
        }
    return (size_t)(at - bytes);
}

bool bal_unpack_histogram(const uint8_t *bytes, size_t size, struct bal_histogram *into) {
    const uint8_t *end = bytes + size;
    uint64_t bin = 0;
    while (bytes < end) {
        uint64_t skipped, count = 0;
        bytes = get(bytes, end, &skipped);
        if (bytes)
            bytes = get(bytes, end, &count);
        if (!bytes || skipped >= BAL_HISTOGRAM_BINS - bin)
            return false;
        bin += skipped;
        into->count[bin++] += count;
    }
    return true;
}
