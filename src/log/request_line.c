/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes the request of a log line apart: method and path. */
#include "log/request_line.h"

#include <ctype.h>

static struct bli_log_span first_word(struct bli_log_span text) {
    const char *blank = text.length ? memchr(text.text, ' ', text.length) : NULL;
    return (struct bli_log_span){text.text, blank ? (size_t)(blank - text.text) : text.length};
}

static struct bli_log_span behind(struct bli_log_span text, size_t length) {
    return (struct bli_log_span){text.text + length, text.length - length};
}

/* CONNECT asks for a tunnel, and PRI is the beginning of HTTP/2. */
static bool is_method(struct bli_log_span word) {
    if (word.length == 0 || word.length > BLI_LOG_METHOD_MAX || *word.text < 'A' ||
        bli_log_is(word, "CONNECT") || bli_log_is(word, "PRI"))
        return false;
    for (size_t i = 0; i < word.length; i++)
        if (!(word.text[i] >= 'A' && word.text[i] <= 'Z') && word.text[i] != '-' && word.text[i] != '_')
            return false;
    return true;
}

/* Of "http://host/a?b": /a?b. */
static struct bli_log_span cut_host(struct bli_log_span target) {
    const char *mark = target.length ? memmem(target.text, target.length, "://", 3) : NULL;
    if (!mark || *target.text == '/')
        return target;
    const struct bli_log_span rest = behind(target, (size_t)(mark + 3 - target.text));
    const char *slash = rest.length ? memchr(rest.text, '/', rest.length) : NULL;
    return slash ? behind(rest, (size_t)(slash - rest.text)) : (struct bli_log_span){"/", 1};
}

static bool is_escape(struct bli_log_span text) {
    return text.length >= 4 && text.text[0] == '\\' && text.text[1] == 'x' &&
           isxdigit((unsigned char)text.text[2]) && isxdigit((unsigned char)text.text[3]);
}

/* Returns the length of the text with the path behind it; 0 when there is no room. */
static size_t append_path(char text[BLI_LOG_REQUEST], size_t used, struct bli_log_span path) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < path.length && path.text[i] != '#'; i++) {
        const unsigned char byte = (unsigned char)path.text[i];
        if (used + 4 > BLI_LOG_REQUEST)
            return 0;
        if (is_escape(behind(path, i))) {
            text[used++] = '%';
            text[used++] = path.text[i + 2];
            text[used++] = path.text[i + 3];
            i += 3;
        } else if (byte <= ' ' || byte >= 127 || byte == '"') {
            text[used++] = '%';
            text[used++] = digits[byte >> 4];
            text[used++] = digits[byte & 15];
        } else {
            text[used++] = (char)byte;
        }
    }
    text[used] = 0;
    return used;
}

size_t bli_log_request_text(struct bli_log_span request, struct bli_log_span method,
                            char text[BLI_LOG_REQUEST]) {
    static const struct bli_log_span get = {"GET", 3};
    struct bli_log_span target = first_word(request), said = first_word(method);
    const bool line = target.length < request.length && *request.text != '/';
    if (line) { /* the method comes first */
        said = target;
        target = first_word(behind(request, target.length + 1));
    } else if (said.length == 0 || *said.text == '/') {
        said = get;
    }
    target = cut_host(target);
    const bool all = bli_log_is(target, "*") && bli_log_is(said, "OPTIONS");
    if (!is_method(said) || target.length == 0 || (*target.text != '/' && !all))
        return 0;
    memcpy(text, said.text, said.length);
    text[said.length] = ' ';
    return append_path(text, said.length + 1, target);
}
