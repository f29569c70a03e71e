/* SPDX-License-Identifier: BSD-2-Clause */
/* Members are unpacked one after the other. A table holds what differs between the libraries: their streams
 * all take some input, give some output, and report the end of a member. */
#include "log/decompress.h"

#include <bzlib.h>
#include <limits.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum { MEMORY_MAX = 128 << 20 };

/* Internal, not returned to callers: the member is at its end. */
enum { MEMBER_ENDS = BLI_LOG_NO_MEMORY + 1 };

union stream {
    z_stream gzip;
    lzma_stream xz;
    bz_stream bzip2;
    ZSTD_DStream *zstd;
};

struct packing {
    const char *name, *magic;
    size_t length;
    bool (*begin)(union stream *stream);
    bool (*restart)(union stream *stream); /* for the next member */
    int (*step)(union stream *stream, struct bli_log_buffers *buffers);
    void (*end)(union stream *stream);
};

struct bli_log_decompressor {
    const struct packing *packing;
    union stream stream;
    bool busy;
};

/* What the libraries count with is narrower than size_t. */
static unsigned clamp_to_unsigned(size_t size) {
    return size < UINT_MAX ? (unsigned)size : UINT_MAX;
}

static void advance_buffers(struct bli_log_buffers *buffers, size_t taken, size_t given) {
    buffers->in += taken;
    buffers->in_left -= taken;
    buffers->out += given;
    buffers->out_left -= given;
}

static bool begin_gzip(union stream *stream) {
    stream->gzip = (z_stream){0};
    return inflateInit2(&stream->gzip, 16 + MAX_WBITS) == Z_OK; /* 16: the header of gzip is expected */
}

static int step_gzip(union stream *stream, struct bli_log_buffers *buffers) {
    z_stream *gzip = &stream->gzip;
    const unsigned in = clamp_to_unsigned(buffers->in_left), out = clamp_to_unsigned(buffers->out_left);
    gzip->next_in = (unsigned char *)(uintptr_t)buffers->in;
    gzip->avail_in = in;
    gzip->next_out = buffers->out;
    gzip->avail_out = out;
    const int code = inflate(gzip, Z_NO_FLUSH);
    advance_buffers(buffers, in - gzip->avail_in, out - gzip->avail_out);
    return code == Z_STREAM_END                  ? MEMBER_ENDS
           : code == Z_OK || code == Z_BUF_ERROR ? BLI_LOG_UNPACKED
           : code == Z_MEM_ERROR                 ? BLI_LOG_NO_MEMORY
                                                 : BLI_LOG_DAMAGED;
}

static bool restart_gzip(union stream *stream) {
    return inflateReset(&stream->gzip) == Z_OK;
}

static void end_gzip(union stream *stream) {
    inflateEnd(&stream->gzip);
}

static bool restart_xz(union stream *stream) {
    return lzma_stream_decoder(&stream->xz, MEMORY_MAX, 0) == LZMA_OK;
}

static bool begin_xz(union stream *stream) {
    stream->xz = (lzma_stream)LZMA_STREAM_INIT;
    return restart_xz(stream);
}

static int step_xz(union stream *stream, struct bli_log_buffers *buffers) {
    lzma_stream *xz = &stream->xz;
    xz->next_in = buffers->in;
    xz->avail_in = buffers->in_left;
    xz->next_out = buffers->out;
    xz->avail_out = buffers->out_left;
    const lzma_ret code = lzma_code(xz, LZMA_RUN);
    advance_buffers(buffers, buffers->in_left - xz->avail_in, buffers->out_left - xz->avail_out);
    return code == LZMA_STREAM_END                     ? MEMBER_ENDS
           : code == LZMA_OK || code == LZMA_BUF_ERROR ? BLI_LOG_UNPACKED
           : code == LZMA_MEMLIMIT_ERROR               ? BLI_LOG_TOO_LARGE
           : code == LZMA_MEM_ERROR                    ? BLI_LOG_NO_MEMORY
                                                       : BLI_LOG_DAMAGED;
}

static void end_xz(union stream *stream) {
    lzma_end(&stream->xz);
}

static bool begin_bzip2(union stream *stream) {
    stream->bzip2 = (bz_stream){0};
    return BZ2_bzDecompressInit(&stream->bzip2, 0, 0) == BZ_OK;
}

static int step_bzip2(union stream *stream, struct bli_log_buffers *buffers) {
    bz_stream *bzip2 = &stream->bzip2;
    const unsigned in = clamp_to_unsigned(buffers->in_left), out = clamp_to_unsigned(buffers->out_left);
    bzip2->next_in = (char *)(uintptr_t)buffers->in;
    bzip2->avail_in = in;
    bzip2->next_out = (char *)buffers->out;
    bzip2->avail_out = out;
    const int code = BZ2_bzDecompress(bzip2);
    advance_buffers(buffers, in - bzip2->avail_in, out - bzip2->avail_out);
    return code == BZ_STREAM_END  ? MEMBER_ENDS
           : code == BZ_OK        ? BLI_LOG_UNPACKED
           : code == BZ_MEM_ERROR ? BLI_LOG_NO_MEMORY
                                  : BLI_LOG_DAMAGED;
}

static void end_bzip2(union stream *stream) {
    BZ2_bzDecompressEnd(&stream->bzip2);
}

static bool restart_bzip2(union stream *stream) {
    end_bzip2(stream);
    return begin_bzip2(stream);
}

static bool begin_zstd(union stream *stream) {
    stream->zstd = ZSTD_createDStream();
    return stream->zstd != NULL;
}

static int step_zstd(union stream *stream, struct bli_log_buffers *buffers) {
    ZSTD_inBuffer in = {buffers->in, buffers->in_left, 0};
    ZSTD_outBuffer out = {buffers->out, buffers->out_left, 0};
    const size_t code = ZSTD_decompressStream(stream->zstd, &out, &in);
    advance_buffers(buffers, in.pos, out.pos);
    if (!ZSTD_isError(code))
        return code == 0 ? MEMBER_ENDS : BLI_LOG_UNPACKED;
    const char *why = ZSTD_getErrorName(code); /* codes are no part of the library's stable interface */
    return strstr(why, "too much memory") ? BLI_LOG_TOO_LARGE
           : strstr(why, "memory")        ? BLI_LOG_NO_MEMORY
                                          : BLI_LOG_DAMAGED;
}

static bool restart_zstd(union stream *stream) {
    (void)stream; /* it continues with the next member by itself */
    return true;
}

static void end_zstd(union stream *stream) {
    ZSTD_freeDStream(stream->zstd);
}

static const struct packing packings[] = {
    {"gzip", "\x1f\x8b", 2, begin_gzip, restart_gzip, step_gzip, end_gzip},
    {"zstd", "\x28\xb5\x2f\xfd", 4, begin_zstd, restart_zstd, step_zstd, end_zstd},
    {"zstd", "\x50\x2a\x4d\x18", 4, begin_zstd, restart_zstd, step_zstd, end_zstd}, /* a frame of pzstd to be
                                                                                       skipped */
    {"xz", "\xfd\x37zXZ", 5, begin_xz, restart_xz, step_xz, end_xz},
    {"bzip2", "BZh", 3, begin_bzip2, restart_bzip2, step_bzip2, end_bzip2},
};

const char *bli_log_packed_name(const void *first, size_t size) {
    for (size_t i = 0; i < sizeof packings / sizeof *packings; i++)
        if (size >= packings[i].length && memcmp(first, packings[i].magic, packings[i].length) == 0)
            return packings[i].name;
    return NULL;
}

enum bal_code bli_log_decompressor_new(const char *name, struct bli_log_decompressor **unpacker,
                                       struct bal_error *err) {
    size_t i = 0;
    while (strcmp(packings[i].name, name) != 0)
        i++;
    struct bli_log_decompressor *u = *unpacker = calloc(1, sizeof *u);
    if (u && packings[i].begin(&u->stream)) {
        u->packing = &packings[i];
        return BAL_OK;
    }
    free(u);
    *unpacker = NULL;
    return bal_fail(err, BAL_E_MEMORY, "not enough memory to decompress %s", name);
}

void bli_log_decompressor_free(struct bli_log_decompressor *unpacker) {
    if (unpacker)
        unpacker->packing->end(&unpacker->stream);
    free(unpacker);
}

/* Zeros may stand behind a member, to fill a block of a tape or a disk. */
static void skip_zeros(struct bli_log_buffers *buffers) {
    size_t zeros = 0;
    while (zeros < buffers->in_left && buffers->in[zeros] == 0)
        zeros++;
    advance_buffers(buffers, zeros, 0);
}

enum bli_log_unpacked bli_log_decompress(struct bli_log_decompressor *unpacker,
                                         struct bli_log_buffers *buffers) {
    while (buffers->out_left > 0) {
        if (!unpacker->busy)
            skip_zeros(buffers);
        const size_t in = buffers->in_left, out = buffers->out_left;
        if (!unpacker->busy && in == 0)
            return BLI_LOG_UNPACKED;
        unpacker->busy = true;
        const int result = unpacker->packing->step(&unpacker->stream, buffers);
        if (result == MEMBER_ENDS) {
            unpacker->busy = false;
            if (!unpacker->packing->restart(&unpacker->stream))
                return BLI_LOG_NO_MEMORY;
        } else if (result != BLI_LOG_UNPACKED) {
            return (enum bli_log_unpacked)result;
        } else if (buffers->in_left == in && buffers->out_left == out) {
            return BLI_LOG_UNPACKED; /* it needs more input */
        }
    }
    return BLI_LOG_UNPACKED;
}

bool bli_log_decompressor_busy(const struct bli_log_decompressor *unpacker) {
    return unpacker->busy;
}
