/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of health checks, and their responses. */
#include "ballast/live/check_response.h"

#include <stdio.h>
#include <string.h>

/* ---- HTTP ---- */

enum http_state { STATUS_LINE, HEADER_LINE, BODY };

static int digit_of(unsigned char c) {
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

/* "HTTP/1.1 200 OK"; -1: it is none. */
static int parse_status(const unsigned char *line, uint32_t length) {
    if (length < 12 || memcmp(line, "HTTP/", 5) != 0 || digit_of(line[5]) < 0 || line[6] != '.' ||
        digit_of(line[7]) < 0 || line[8] != ' ' || (length > 12 && line[12] != ' '))
        return -1;
    int status = 0;
    for (int i = 9; i < 12; i++) {
        if (digit_of(line[i]) < 0)
            return -1;
        status = 10 * status + digit_of(line[i]);
    }
    return status;
}

static bool has_range(const struct bal_check_expected *e, int status) {
    for (uint32_t i = 0; i < e->ranges; i++)
        if (status >= e->range[i].from && status <= e->range[i].to)
            return true;
    return false;
}

/* "Content-Length: 12" is all of a header that matters. */
static void parse_header(struct bal_check_reader *r, uint32_t length) {
    static const char name[] = "content-length:";
    const uint32_t end = sizeof name - 1;
    uint64_t bytes = 0;
    uint32_t i = 0;
    for (; i < end && i < length; i++)
        if ((r->line[i] | (r->line[i] >= 'A' && r->line[i] <= 'Z' ? 0x20 : 0)) != (unsigned char)name[i])
            return;
    while (i < length && (r->line[i] == ' ' || r->line[i] == '\t'))
        i++;
    if (i < end || i == length || length == sizeof r->line)
        return;
    for (; i < length && digit_of(r->line[i]) >= 0 && bytes < UINT64_MAX / 100; i++)
        bytes = 10 * bytes + (uint64_t)digit_of(r->line[i]);
    r->length = bytes;
}

/* The header is over. */
static enum bal_check_result begin_body(struct bal_check_reader *r) {
    r->state = BODY;
    r->seen = 0;
    if (r->expected->text[0] == '\0')
        return BAL_CHECK_PASSED;
    return r->length == 0 ? BAL_CHECK_BODY : BAL_CHECK_NONE;
}

static enum bal_check_result end_line(struct bal_check_reader *r) {
    uint32_t length = r->at;
    r->at = 0;
    if (length && length < sizeof r->line && r->line[length - 1] == '\r')
        length--;
    if (r->state == STATUS_LINE) {
        const int status = parse_status(r->line, length);
        r->state = HEADER_LINE;
        if (status < 0)
            return BAL_CHECK_MALFORMED;
        return has_range(r->expected, status) ? BAL_CHECK_NONE : BAL_CHECK_STATUS;
    }
    if (length == 0)
        return begin_body(r);
    parse_header(r, length);
    return BAL_CHECK_NONE;
}

/* Only the beginning of a line is kept. A line that cannot be a status line is found out at its fifth byte.
 */
static enum bal_check_result add_to_line(struct bal_check_reader *r, unsigned char c) {
    if (++r->seen > BAL_CHECK_HEADER)
        return BAL_CHECK_MALFORMED;
    if (c == '\n')
        return end_line(r);
    if (r->at < sizeof r->line)
        r->line[r->at++] = c;
    const bool wrong = r->state == STATUS_LINE && r->at == 5 && memcmp(r->line, "HTTP/", 5) != 0;
    return wrong ? BAL_CHECK_MALFORMED : BAL_CHECK_NONE;
}

/* How many bytes of the text would be matched if its first `matched` bytes were followed by this one: the
 * longest end of them that is a beginning of the text. */
static uint32_t extend_match(const char *text, uint32_t matched, unsigned char c) {
    for (uint32_t n = matched + 1; n > 0; n--)
        if ((unsigned char)text[n - 1] == c && memcmp(text, text + (matched + 1 - n), n - 1) == 0)
            return n;
    return 0;
}

static enum bal_check_result add_to_body(struct bal_check_reader *r, unsigned char c) {
    const char *text = r->expected->text;
    r->matched = extend_match(text, r->matched, c);
    if (text[r->matched] == '\0')
        return BAL_CHECK_PASSED;
    return ++r->seen == r->length || r->seen == BAL_CHECK_BODY_READ ? BAL_CHECK_BODY : BAL_CHECK_NONE;
}

static enum bal_check_result add_http(struct bal_check_reader *r, const unsigned char *bytes, size_t count) {
    enum bal_check_result result = BAL_CHECK_NONE;
    for (size_t i = 0; result == BAL_CHECK_NONE && i < count; i++)
        result = r->state == BODY ? add_to_body(r, bytes[i]) : add_to_line(r, bytes[i]);
    return result;
}

static size_t http_request(const struct bal_check_expected *e, char *buffer, size_t room) {
    return (size_t)snprintf(buffer, room,
                            "GET %s HTTP/1.0\r\nHost: %s\r\nUser-Agent: ballast-check\r\nAccept: */*\r\n"
                            "Connection: close\r\n\r\n",
                            e->uri, e->host);
}

bool bal_check_ranges_parse(struct bal_check_expected *e, const char *text, size_t length) {
    const char *end = text + length;
    e->ranges = 0;
    while (text < end && e->ranges < BAL_CHECK_RANGES) {
        int from = 0, to = 0, digits = 0;
        for (; text < end && digit_of((unsigned char)*text) >= 0 && digits < 3; text++, digits++)
            from = 10 * from + digit_of((unsigned char)*text);
        if (digits != 3)
            return false;
        to = from;
        if (text < end && *text == '-') {
            text++;
            for (to = digits = 0; text < end && digit_of((unsigned char)*text) >= 0 && digits < 3;
                 text++, digits++)
                to = 10 * to + digit_of((unsigned char)*text);
        }
        if (digits != 3 || from < 100 || to > 599 || from > to)
            return false;
        e->range[e->ranges].from = (uint16_t)from;
        e->range[e->ranges++].to = (uint16_t)to;
        if (text == end)
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

/* ---- gRPC ---- */

/* Of RFC 9113. The header fields of the response are not decoded: a service that is healthy sends a message,
 * and one that is not known, or fails, sends none. Our settings are the defaults, and those of the server do
 * not matter for one small request, so they are not acknowledged: the connection ends before that is due. */
enum { FRAME_HEAD = 9, FRAME_MAX = 16384, OUR_STREAM = 1 };
enum frame_kind { DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4, GOAWAY = 7 };
enum { END_STREAM = 1, END_HEADERS = 4, PADDED = 8 };
enum grpc_state { FRAME_HEADER, PAD_LENGTH, PAYLOAD };
enum { MESSAGE_PREFIX = 5, SERVING = 1 };

static char *append_frame(char *at, size_t size, unsigned kind, unsigned flags, unsigned stream) {
    const unsigned char head[FRAME_HEAD] = {(unsigned char)(size >> 16),
                                            (unsigned char)(size >> 8),
                                            (unsigned char)size,
                                            (unsigned char)kind,
                                            (unsigned char)flags,
                                            0,
                                            0,
                                            0,
                                            (unsigned char)stream};
    memcpy(at, head, sizeof head);
    return at + sizeof head;
}

/* A string of RFC 7541, not compressed: its length takes seven bits, or those and more bytes. */
static char *append_string(char *at, const char *text) {
    size_t size = strlen(text);
    const size_t length = size;
    *at++ = (char)(size < 127 ? size : 127);
    for (size = size < 127 ? 0 : size - 127; length >= 127; size >>= 7) {
        *at++ = (char)(size < 128 ? size : (size & 127) | 128);
        if (size < 128)
            break;
    }
    memcpy(at, text, length);
    return at + length;
}

/* Literals without indexing: the name from the static table (below 15, or two bytes), or a new one. */
static char *append_headers(char *at, const struct bal_check_expected *e) {
    *at++ = (char)0x83;                   /* :method POST */
    *at++ = (char)(e->tls ? 0x87 : 0x86); /* :scheme */
    *at++ = 4;                            /* :path */
    at = append_string(at, "/grpc.health.v1.Health/Check");
    *at++ = 1; /* :authority */
    at = append_string(at, e->host);
    *at++ = 15; /* content-type: 15 + 16 */
    *at++ = 16;
    at = append_string(at, "application/grpc");
    *at++ = 0;
    at = append_string(at, "te");
    at = append_string(at, "trailers");
    *at++ = 0;
    at = append_string(at, "user-agent");
    return append_string(at, "ballast-check");
}

/* HealthCheckRequest { string service = 1; }, behind its prefix. */
static char *append_message(char *at, const char *service) {
    const size_t length = strlen(service);
    const size_t size = length > 127 ? 3 + length : length ? 2 + length : 0;
    const unsigned char prefix[MESSAGE_PREFIX] = {0, 0, 0, (unsigned char)(size >> 8), (unsigned char)size};
    memcpy(at, prefix, sizeof prefix);
    at += sizeof prefix;
    if (!length)
        return at;
    *at++ = 0x0a;
    *at++ = (char)(length > 127 ? (length & 127) | 128 : length);
    if (length > 127)
        *at++ = (char)(length >> 7);
    memcpy(at, service, length);
    return at + length;
}

static size_t grpc_request(const struct bal_check_expected *e, char *buffer) {
    static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    char *at = buffer;
    memcpy(at, preface, sizeof preface - 1);
    at = append_frame(at + sizeof preface - 1, 0, SETTINGS, 0, 0);
    char *frame = at;
    at = append_headers(at + FRAME_HEAD, e);
    append_frame(frame, (size_t)(at - frame) - FRAME_HEAD, HEADERS, END_HEADERS, OUR_STREAM);
    frame = at;
    at = append_message(at + FRAME_HEAD, e->text);
    append_frame(frame, (size_t)(at - frame) - FRAME_HEAD, DATA, END_STREAM, OUR_STREAM);
    return (size_t)(at - buffer);
}

/* Is the frame one that ends it all? Otherwise its payload follows. The first one is of settings. */
static enum bal_check_result begin_frame(struct bal_check_reader *r) {
    const unsigned char *f = r->frame;
    r->length = (uint64_t)f[0] << 16 | (uint64_t)f[1] << 8 | f[2];
    r->kind = f[3];
    r->flags = f[4];
    r->padding = 0;
    r->at = 0;
    const uint32_t stream = (uint32_t)(f[5] & 127) << 24 | (uint32_t)f[6] << 16 | (uint32_t)f[7] << 8 | f[8];
    r->ours = stream == OUR_STREAM;
    if (r->length > FRAME_MAX || (r->seen == FRAME_HEAD && r->kind != SETTINGS))
        return BAL_CHECK_MALFORMED;
    if (r->kind == GOAWAY)
        return BAL_CHECK_CLOSED;
    if (r->kind == RST_STREAM && r->ours)
        return BAL_CHECK_STATUS;
    r->state = r->kind == DATA && r->ours && r->flags & PADDED ? PAD_LENGTH : PAYLOAD;
    return BAL_CHECK_NONE;
}

/* A frame is over. Without a message the service is not known, or has failed. */
static enum bal_check_result end_frame(struct bal_check_reader *r) {
    const bool ends = r->ours && (r->kind == DATA || r->kind == HEADERS) && r->flags & END_STREAM;
    r->state = FRAME_HEADER;
    r->at = 0;
    return ends ? BAL_CHECK_STATUS : BAL_CHECK_NONE;
}

/* HealthCheckResponse { ServingStatus status = 1; }: a message of two bytes, or of none, which is UNKNOWN.
 * What newer servers might add behind it does not matter. */
static enum bal_check_result add_to_message(struct bal_check_reader *r, unsigned char c) {
    if (r->message < sizeof r->line)
        r->line[r->message] = c;
    r->message++;
    if (r->message < MESSAGE_PREFIX)
        return BAL_CHECK_NONE;
    if (r->message == MESSAGE_PREFIX) {
        const unsigned char *p = r->line;
        r->need = (uint32_t)p[1] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 8 | p[4];
        if (p[0] != 0 || r->need > FRAME_MAX)
            return BAL_CHECK_MALFORMED;
    }
    if (r->message < MESSAGE_PREFIX + r->need)
        return BAL_CHECK_NONE;
    const bool serving = r->need >= 2 && r->line[5] == 0x08 && r->line[6] == SERVING;
    return serving ? BAL_CHECK_PASSED : BAL_CHECK_STATUS;
}

static enum bal_check_result add_to_payload(struct bal_check_reader *r, unsigned char c) {
    enum bal_check_result result = BAL_CHECK_NONE;
    if (r->kind == DATA && r->ours && r->length > r->padding)
        result = add_to_message(r, c);
    r->length--;
    if (result == BAL_CHECK_NONE && r->length == 0)
        return end_frame(r);
    return result;
}

static enum bal_check_result add_to_frame(struct bal_check_reader *r, unsigned char c) {
    enum bal_check_result result = BAL_CHECK_NONE;
    switch ((enum grpc_state)r->state) {
    case FRAME_HEADER:
        r->frame[r->at++] = c;
        if (r->at < FRAME_HEAD)
            return BAL_CHECK_NONE;
        result = begin_frame(r);
        if (result == BAL_CHECK_NONE && r->length == 0)
            return r->state == PAD_LENGTH ? BAL_CHECK_MALFORMED : end_frame(r);
        return result;
    case PAD_LENGTH:
        r->padding = c;
        r->state = PAYLOAD;
        if (--r->length < r->padding)
            return BAL_CHECK_MALFORMED;
        return r->length == 0 ? end_frame(r) : BAL_CHECK_NONE;
    case PAYLOAD:
        return add_to_payload(r, c);
    }
    return result;
}

static enum bal_check_result add_grpc(struct bal_check_reader *r, const unsigned char *bytes, size_t count) {
    enum bal_check_result result = BAL_CHECK_NONE;
    for (size_t i = 0; result == BAL_CHECK_NONE && i < count; i++)
        result = ++r->seen > BAL_CHECK_FRAMES ? BAL_CHECK_MALFORMED : add_to_frame(r, bytes[i]);
    return result;
}

/* ---- any of them ---- */

size_t bal_check_request(const struct bal_check_expected *e, char *buffer, size_t room) {
    switch (e->protocol) {
    case BAL_CHECK_HTTP:
        return http_request(e, buffer, room);
    case BAL_CHECK_GRPC:
        return grpc_request(e, buffer);
    case BAL_CHECK_TCP:
        break;
    }
    return 0;
}

void bal_check_reader_init(struct bal_check_reader *r, const struct bal_check_expected *e) {
    *r = (struct bal_check_reader){.expected = e, .length = UINT64_MAX};
}

enum bal_check_result bal_check_reader_add(struct bal_check_reader *r, const unsigned char *bytes,
                                           size_t count) {
    return r->expected->protocol == BAL_CHECK_GRPC ? add_grpc(r, bytes, count) : add_http(r, bytes, count);
}

enum bal_check_result bal_check_reader_end(const struct bal_check_reader *r) {
    const bool whole = r->expected->protocol == BAL_CHECK_HTTP && r->state == BODY && r->length == UINT64_MAX;
    return whole ? BAL_CHECK_BODY : BAL_CHECK_CLOSED;
}
