/* SPDX-License-Identifier: BSD-2-Clause */
/* Compressed files: gzip, zstd, xz and bzip2, each of one or several members one after the other. */
#ifndef LOG_DECOMPRESS_H
#define LOG_DECOMPRESS_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

struct bli_log_decompressor;

/* The input that is left, and the space that is left for the output. */
struct bli_log_buffers {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t out_left;
};

enum bli_log_unpacked {
    BLI_LOG_UNPACKED,  /* until input or space ran out */
    BLI_LOG_DAMAGED,   /* what follows is no compressed data */
    BLI_LOG_TOO_LARGE, /* more memory than 128 MiB would be needed */
    BLI_LOG_NO_MEMORY,
};

/* Recognises the compression by the first bytes of a file; NULL when there is none. path is for errors. */
const char *bli_log_packed_name(const void *first, size_t size);
enum bal_code bli_log_decompressor_new(const char *name, struct bli_log_decompressor **unpacker,
                                       struct bal_error *err);
void bli_log_decompressor_free(struct bli_log_decompressor *unpacker); /* NULL is allowed */
enum bli_log_unpacked bli_log_decompress(struct bli_log_decompressor *unpacker,
                                         struct bli_log_buffers *buffers);
/* Is it in the middle of a member? A file that ends there ends too early. */
bool bli_log_decompressor_busy(const struct bli_log_decompressor *unpacker);

#endif
