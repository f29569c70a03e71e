/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses an HTTP/1.1 response as its bytes arrive. */
#include "load/http_response.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

void bli_http_response_init(struct http_response *answer) {
    memset(answer, 0, offsetof(struct http_response, head));
    answer->id = UINT64_MAX;
}

/* Decimal digits from there on; UINT64_MAX where there are none or too many. */
static uint64_t number_at(const char *text) {
    uint64_t number = 0;
    unsigned digits = 0;
    for (; isdigit((unsigned char)*text); text++, digits++)
        number = 10 * number + (uint64_t)(*text - '0');
    return digits > 0 && digits < 19 ? number : UINT64_MAX;
}

/* Is the word in a list separated by commas, up to the end of the line? */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    while (*list && *list != '\r') {
        list += strspn(list, " \t,");
        const size_t item = strcspn(list, " \t,\r");
        if (item == length && strncasecmp(list, word, length) == 0)
            return true;
        list += item;
    }
    return false;
}

/* The value of a line if it has that name, else NULL. */
static const char *value_of(const char *line, const char *name) {
    const size_t length = strlen(name);
    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    return line + length + 1 + strspn(line + length + 1, " \t");
}

struct fields {
    bool has_length, bad_length, chunked, close, keep;
    uint64_t length;
};

static void read_field(struct http_response *answer, const char *line, struct fields *fields) {
    const char *value;
    switch (tolower((unsigned char)*line)) {
    case 'c':
        if ((value = value_of(line, "Content-Length"))) {
            const uint64_t length = number_at(value);
            fields->bad_length |= length == UINT64_MAX || (fields->has_length && fields->length != length);
            fields->has_length = true;
            fields->length = length;
        } else if ((value = value_of(line, "Connection"))) {
            fields->close |= has_word(value, "close");
            fields->keep |= has_word(value, "keep-alive");
        }
        break;
    case 't':
        if ((value = value_of(line, "Transfer-Encoding")))
            fields->chunked |= has_word(value, "chunked");
        break;
    case 'x':
        if ((value = value_of(line, "X-Request-Id"))) {
            const size_t length = strcspn(value, "\r");
            const char *dash = memrchr(value, '-', length);
            answer->id = dash ? number_at(dash + 1) : UINT64_MAX;
        }
        break;
    default:
        break;
    }
}

/* The head is complete and terminated: what comes behind it? */
static enum http_response_state read_head(struct http_response *answer, const char *head) {
    if (strncmp(head, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)head[7]) || head[8] != ' ')
        return RESPONSE_BAD;
    const uint64_t status = number_at(head + 9);
    if (status < 100 || status > 599)
        return RESPONSE_BAD;
    answer->status = (int)status;
    struct fields fields = {0};
    for (const char *line = strstr(head, "\r\n"); line && line[2]; line = strstr(line + 2, "\r\n"))
        read_field(answer, line + 2, &fields);
    if (fields.bad_length)
        return RESPONSE_BAD;
    answer->keep = !fields.close && (head[7] != '0' || fields.keep);
    if (status == 101)
        answer->keep = false;
    else if (status < 200) { /* there will be another one */
        const bool bodiless = answer->bodiless;
        bli_http_response_init(answer);
        answer->bodiless = bodiless;
        return RESPONSE_HEAD_STATE;
    }
    if (status == 101 || status == 204 || status == 304 || answer->bodiless)
        return RESPONSE_DONE;
    if (fields.chunked)
        return RESPONSE_CHUNK_SIZE;
    answer->left = fields.has_length ? fields.length : UINT64_MAX;
    answer->until_close = !fields.has_length;
    answer->keep &= fields.has_length;
    return answer->left == 0 ? RESPONSE_DONE : RESPONSE_BODY;
}

/* Gathers the head; returns how many bytes were taken. */
static size_t parse_head(struct http_response *answer, const char *data, size_t length) {
    const size_t before = answer->used;
    const size_t part = length < RESPONSE_HEAD - before ? length : RESPONSE_HEAD - before;
    memcpy(answer->head + before, data, part);
    answer->used += part;
    answer->head[answer->used] = 0;
    const char *end = memmem(answer->head, answer->used, "\r\n\r\n", 4);
    if (!end) {
        if (answer->used == RESPONSE_HEAD || memchr(answer->head, 0, answer->used))
            answer->state = RESPONSE_BAD;
        return part;
    }
    const size_t head = (size_t)(end - answer->head) + 4;
    answer->head[head - 2] = 0;
    answer->used = 0;
    answer->state = strlen(answer->head) == head - 2 ? read_head(answer, answer->head) : RESPONSE_BAD;
    return head - before;
}

static int digit_of(char c) {
    if (isdigit((unsigned char)c))
        return c - '0';
    const int letter = tolower((unsigned char)c);
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* One byte of the line with the size of a chunk. */
static void parse_size_byte(struct http_response *answer, char c) {
    const int digit = digit_of(c);
    if (c == '\n') {
        answer->state = answer->digits == 0 ? RESPONSE_BAD
                        : answer->left > 0  ? RESPONSE_CHUNK
                                            : RESPONSE_TRAILER;
        answer->digits = 0;
        answer->in_extension = false;
    } else if (c == '\r' || c == ';' || c == ' ' || c == '\t' || answer->in_extension) {
        answer->in_extension = true;
    } else if (digit < 0 || answer->digits == 15) {
        answer->state = RESPONSE_BAD;
    } else {
        answer->left = (answer->digits ? answer->left << 4 : 0) | (uint64_t)digit;
        answer->digits++;
    }
}

/* One byte between or behind the chunks. */
static void parse_line_byte(struct http_response *answer, char c) {
    if (answer->state == RESPONSE_CHUNK_END) {
        if (c == '\n')
            answer->state = RESPONSE_CHUNK_SIZE;
        else if (c != '\r')
            answer->state = RESPONSE_BAD;
        return;
    }
    if (c == '\n') {
        answer->state = answer->digits == 0 ? RESPONSE_DONE : RESPONSE_TRAILER;
        answer->digits = 0;
    } else if (c != '\r') {
        answer->digits = 1;
    }
}

size_t bli_http_response_parse(struct http_response *answer, const char *data, size_t length) {
    size_t done = 0;
    while (done < length && answer->state != RESPONSE_DONE && answer->state != RESPONSE_BAD) {
        switch (answer->state) {
        case RESPONSE_HEAD_STATE:
            done += parse_head(answer, data + done, length - done);
            break;
        case RESPONSE_BODY:
        case RESPONSE_CHUNK: {
            const size_t part = length - done < answer->left ? length - done : (size_t)answer->left;
            answer->left -= part;
            done += part;
            if (answer->left == 0)
                answer->state = answer->state == RESPONSE_BODY ? RESPONSE_DONE : RESPONSE_CHUNK_END;
            break;
        }
        case RESPONSE_CHUNK_SIZE:
            parse_size_byte(answer, data[done++]);
            break;
        default:
            parse_line_byte(answer, data[done++]);
        }
    }
    return done;
}

bool bli_http_response_finish(struct http_response *answer) {
    if (answer->state == RESPONSE_BODY && answer->until_close)
        answer->state = RESPONSE_DONE;
    return answer->state == RESPONSE_DONE;
}
