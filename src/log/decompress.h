/* SPDX-License-Identifier: BSD-2-Clause */
/* Compressed files: gzip, zstd, xz and bzip2, each of one or several members one after the other. */
#ifndef LOG_DECOMPRESS_H
#define LOG_DECOMPRESS_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

struct bal_log_decompressor;

/* The input that is left, and the space that is left for the output. */
struct bal_log_buffers {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t out_left;
};

enum bal_log_unpacked {
    BAL_LOG_UNPACKED,  /* until input or space ran out */
    BAL_LOG_DAMAGED,   /* what follows is no compressed data */
    BAL_LOG_TOO_LARGE, /* more memory than 128 MiB would be needed */
    BAL_LOG_NO_MEMORY,
};

/* Recognises the compression by the first bytes of a file; NULL when there is none. path is for errors. */
const char *bal_log_packed_name(const void *first, size_t size);
enum bal_code bal_log_decompressor_new(const char *name, struct bal_log_decompressor **unpacker,
                                       struct bal_error *err);
void bal_log_decompressor_free(struct bal_log_decompressor *unpacker); /* NULL is allowed */
enum bal_log_unpacked bal_log_decompress(struct bal_log_decompressor *unpacker,
                                         struct bal_log_buffers *buffers);
/* Is it in the middle of a member? A file that ends there ends too early. */
bool bal_log_decompressor_busy(const struct bal_log_decompressor *unpacker);

#endif
