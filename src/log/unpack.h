/* Compressed files: gzip, zstd, xz and bzip2, each perhaps of several members one behind the other. */
#ifndef LOG_UNPACK_H
#define LOG_UNPACK_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

struct bal_log_unpacker;

/* What is left of the bytes that are read, and of the room for what they say. */
struct bal_log_buffers {
    const unsigned char *in;
    size_t in_left;
    unsigned char *out;
    size_t out_left;
};

enum bal_log_unpacked {
    BAL_LOG_UNPACKED,  /* as much as there is input or room */
    BAL_LOG_DAMAGED,   /* what follows is no compressed data */
    BAL_LOG_TOO_LARGE, /* more memory than 128 MiB would be needed */
    BAL_LOG_NO_MEMORY,
};

/* Which way a file is compressed is told by its first bytes; NULL when by none. path is for errors. */
const char *bal_log_packed_name(const void *first, size_t size);
enum bal_code bal_log_unpacker_new(const char *name, struct bal_log_unpacker **unpacker,
                                   struct bal_error *err);
void bal_log_unpacker_free(struct bal_log_unpacker *unpacker); /* NULL is allowed */
enum bal_log_unpacked bal_log_unpack(struct bal_log_unpacker *unpacker, struct bal_log_buffers *buffers);
/* Is it in the middle of a member? A file that ends there ends too early. */
bool bal_log_unpacker_busy(const struct bal_log_unpacker *unpacker);

#endif
