/* SPDX-License-Identifier: BSD-2-Clause */
/* Packs trials and histograms into bytes that are the same on every machine. */
#include "store/serialize.h"

#include <endian.h>
#include <string.h>

void bli_pack_doubles(const double *value, size_t count, uint8_t *bytes) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, &value[i], sizeof word);
        word = htole64(word);
        memcpy(bytes + i * sizeof word, &word, sizeof word);
    }
}

void bli_unpack_doubles(const uint8_t *bytes, size_t count, double *value) {
    for (size_t i = 0; i < count; i++) {
        uint64_t word;
        memcpy(&word, bytes + i * sizeof word, sizeof word);
        word = le64toh(word);
        memcpy(&value[i], &word, sizeof word);
    }
}

static uint8_t *put_varint(uint8_t *bytes, uint64_t number) {
    for (; number >= 128; number >>= 7)
        *bytes++ = (uint8_t)(number | 128);
    *bytes++ = (uint8_t)number;
    return bytes;
}

/* NULL when the bytes end inside the number or it has too many bits. */
static const uint8_t *get_varint(const uint8_t *bytes, const uint8_t *end, uint64_t *number) {
    *number = 0;
    for (unsigned shift = 0; bytes < end && shift < 64; shift += 7) {
        *number |= (uint64_t)(*bytes & 127) << shift;
        if (*bytes++ < 128)
            return bytes;
    }
    return NULL;
}

size_t bli_pack_histogram(const struct bli_histogram *histogram, uint8_t *bytes) {
    uint8_t *at = bytes;
    unsigned next = 0;
    for (unsigned bin = 0; bin < BLI_HISTOGRAM_BINS; bin++)
        if (histogram->count[bin]) {
            at = put_varint(at, bin - next);
            at = put_varint(at, histogram->count[bin]);
            next = bin + 1;
        }
    return (size_t)(at - bytes);
}

bool bli_unpack_histogram(const uint8_t *bytes, size_t size, struct bli_histogram *into) {
    const uint8_t *end = bytes + size;
    uint64_t bin = 0;
    while (bytes < end) {
        uint64_t skipped, count = 0;
        bytes = get_varint(bytes, end, &skipped);
        if (bytes)
            bytes = get_varint(bytes, end, &count);
        if (!bytes || skipped >= BLI_HISTOGRAM_BINS - bin)
            return false;
        bin += skipped;
        into->count[bin++] += count;
    }
    return true;
}

static void put_word(uint8_t *bytes, uint64_t word) {
    word = htole64(word);
    memcpy(bytes, &word, sizeof word);
}

static uint64_t get_word(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return le64toh(word);
}

size_t bli_pack_histograms(const struct bli_trial *trial, unsigned first, uint8_t *bytes) {
    uint8_t *at = bytes + 8 * (BLI_DISTRIBUTIONS - first);
    for (unsigned d = first; d < BLI_DISTRIBUTIONS; d++) {
        const size_t size = trial->histogram[d] ? bli_pack_histogram(trial->histogram[d], at) : 0;
        put_word(bytes + 8 * (d - first), size);
        at += size;
    }
    return (size_t)(at - bytes);
}

bool bli_unpack_histograms(const uint8_t *bytes, size_t size, unsigned first, struct bli_trial *trial) {
    const uint8_t *at = bytes + 8 * (BLI_DISTRIBUTIONS - first);
    if (size < (size_t)(at - bytes))
        return false;
    size -= (size_t)(at - bytes);
    for (unsigned d = first; d < BLI_DISTRIBUTIONS; d++) {
        const uint64_t length = get_word(bytes + 8 * (d - first));
        if (length > size)
            return false;
        if (trial->histogram[d] && !bli_unpack_histogram(at, (size_t)length, trial->histogram[d]))
            return false;
        at += length;
        size -= (size_t)length;
    }
    return size == 0;
}

/* metrics, tail, quarters, warm-up, seconds; jobs, events, engine; the histograms. */
enum { DOUBLES = BLI_METRIC_COUNT + BLI_TAIL_LEVELS + 4 + 2, WORDS = 3, HEAD = 8 * (DOUBLES + WORDS) };

size_t bli_pack_trial(const struct bli_trial *trial, uint8_t *bytes) {
    uint8_t *at = bytes;
    bli_pack_doubles(trial->metric, BLI_METRIC_COUNT, at);
    at += 8 * BLI_METRIC_COUNT;
    bli_pack_doubles(trial->tail, BLI_TAIL_LEVELS, at);
    at += 8 * BLI_TAIL_LEVELS;
    bli_pack_doubles(trial->quarter, 4, at);
    at += 8 * 4;
    bli_pack_doubles(&trial->warmup, 1, at);
    bli_pack_doubles(&trial->seconds, 1, at + 8);
    put_word(at + 16, trial->jobs);
    put_word(at + 24, trial->events);
    put_word(at + 32, trial->engine);
    return HEAD + bli_pack_histograms(trial, 0, bytes + HEAD);
}

bool bli_unpack_trial(const uint8_t *bytes, size_t size, struct bli_trial *trial) {
    if (size < HEAD)
        return false;
    const uint8_t *at = bytes;
    bli_unpack_doubles(at, BLI_METRIC_COUNT, trial->metric);
    at += 8 * BLI_METRIC_COUNT;
    bli_unpack_doubles(at, BLI_TAIL_LEVELS, trial->tail);
    at += 8 * BLI_TAIL_LEVELS;
    bli_unpack_doubles(at, 4, trial->quarter);
    at += 8 * 4;
    bli_unpack_doubles(at, 1, &trial->warmup);
    bli_unpack_doubles(at + 8, 1, &trial->seconds);
    trial->jobs = get_word(at + 16);
    trial->events = get_word(at + 24);
    const uint64_t engine = get_word(at + 32);
    if (engine >= BLI_ENGINE_COUNT)
        return false;
    trial->engine = (enum bli_engine)engine;
    return bli_unpack_histograms(bytes + HEAD, size - HEAD, 0, trial);
}
