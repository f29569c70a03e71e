/* SPDX-License-Identifier: BSD-2-Clause */
/* What is sent for a health check, and what the bytes that come back mean. No socket: bytes are handed in as
 * they come.
 *
 *     size_t size = bal_check_request(&expected, buffer, sizeof buffer);
 *     struct bal_check_reader reader;
 *     bal_check_reader_init(&reader, &expected);
 *     result = bal_check_reader_add(&reader, bytes, count);      BAL_CHECK_NONE: it is not known yet
 *     result = bal_check_reader_end(&reader);                    the connection was closed */
#ifndef BALLAST_LIVE_CHECK_RESPONSE_H
#define BALLAST_LIVE_CHECK_RESPONSE_H

#include "ballast/live/check.h"

#ifdef __cplusplus
extern "C" {
#endif

enum bal_check_protocol {
    BAL_CHECK_TCP,  /* a connection is enough */
    BAL_CHECK_HTTP, /* GET, as HTTP/1.0, whose body has no chunks */
    BAL_CHECK_GRPC, /* grpc.health.v1.Health/Check: one request over a connection of HTTP/2 */
};

enum {
    BAL_CHECK_TEXT = 256,        /* bytes of a host, a service, a text at most, the terminator included */
    BAL_CHECK_URI = 1024,        /* and of a URI */
    BAL_CHECK_REQUEST = 2048,    /* a request fits into so many bytes */
    BAL_CHECK_RANGES = 16,       /* of statuses */
    BAL_CHECK_HEADER = 16384,    /* bytes of a header at most */
    BAL_CHECK_BODY_READ = 65536, /* bytes of a body in which a text is searched */
    BAL_CHECK_FRAMES = 65536,    /* bytes of frames at most, whatever they are */
};

struct bal_check_expected {
    enum bal_check_protocol protocol;
    bool tls;                  /* gRPC: the scheme is https */
    char uri[BAL_CHECK_URI];   /* HTTP */
    char host[BAL_CHECK_TEXT]; /* HTTP and gRPC */
    char text[BAL_CHECK_TEXT]; /* HTTP: must be in the body; gRPC: the service; empty: any */
    uint32_t ranges;           /* HTTP: these statuses pass */
    struct {
        uint16_t from, to;
    } range[BAL_CHECK_RANGES];
};

/* Reads "200-399,404"; false: it is no list of statuses from 100 to 599. */
bool bal_check_ranges_parse(struct bal_check_expected *expected, const char *text, size_t length);

/* The request, not terminated; returns its size: 0 for TCP. room: at least BAL_CHECK_REQUEST. */
size_t bal_check_request(const struct bal_check_expected *expected, char *buffer, size_t room);

struct bal_check_reader {
    const struct bal_check_expected *expected;
    uint32_t state;
    uint32_t at;      /* bytes of the line, of the frame's header, or of the message so far */
    uint32_t matched; /* bytes of the text that the last bytes of the body are */
    uint64_t seen;    /* bytes of the header, of the body, or of all frames */
    uint64_t length;  /* of the body, of what is left of the frame; UINT64_MAX: unknown */
    uint8_t kind, flags, padding;
    bool ours;              /* the frame belongs to our stream */
    uint32_t message, need; /* bytes of the message so far, and of all of it */
    unsigned char line[64];
    unsigned char frame[16];
};

void bal_check_reader_init(struct bal_check_reader *reader, const struct bal_check_expected *expected);
/* Not after there was a result. */
enum bal_check_result bal_check_reader_add(struct bal_check_reader *reader, const unsigned char *bytes,
                                           size_t count);
enum bal_check_result bal_check_reader_end(const struct bal_check_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
