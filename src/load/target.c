/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the URL that requests are sent to, and resolves its address. */
#include "load/target.h"

#include "ballast/load.h"

#include <assert.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT_TEXT = 8 };

/* Text that goes into the head of a request must not end a line of it. */
static bool is_plain(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text <= ' ' || (unsigned char)*text == 127)
            return false;
    return true;
}

/* The host without its port and without the brackets of IPv6, and the port. */
static bool split_host_port(const struct target *target, char host[TARGET_TEXT], char port[PORT_TEXT]) {
    snprintf(host, TARGET_TEXT, "%s", target->host);
    char *end = host;
    if (*host == '[') {
        end = strchr(host, ']');
        if (!end)
            return false;
        memmove(host, host + 1, strlen(host));
        *--end = 0;
        end++;
    } else {
        end = strchr(host, ':');
        if (!end)
            end = host + strlen(host);
    }
    if (*end && *end != ':')
        return false;
    const char *number = *end ? end + 1 : "80";
    const size_t digits = strspn(number, "0123456789");
    if (digits == 0 || digits > 5 || number[digits] || strtoul(number, NULL, 10) > UINT16_MAX)
        return false;
    snprintf(port, PORT_TEXT, "%s", number);
    *end = 0;
    return *host;
}

enum bal_code bli_load_target_parse(struct target *target, const char *url, struct bal_error *err) {
    static const char scheme[] = "http://";
    if (strncmp(url, "https://", 8) == 0)
        return bal_fail(err, BAL_E_SYNTAX, "%.100s: TLS is not spoken here; http://HOST[:PORT][/PATH] is",
                        url);
    if (strncmp(url, scheme, strlen(scheme)) != 0)
        return bal_fail(err, BAL_E_SYNTAX, "'%.100s' is no URL such as http://127.0.0.1:8080/", url);
    const char *host = url + strlen(scheme);
    const size_t length = strcspn(host, "/?#");
    const char *path = host + length;
    if (length == 0 || length >= TARGET_TEXT || strlen(path) + 2 > TARGET_TEXT || !is_plain(url) ||
        memchr(host, '@', length))
        return bal_fail(err, BAL_E_SYNTAX, "'%.100s' is no URL such as http://127.0.0.1:8080/", url);
    memcpy(target->host, host, length);
    target->host[length] = 0;
    char name[TARGET_TEXT], port[PORT_TEXT];
    if (!split_host_port(target, name, port))
        return bal_fail(err, BAL_E_SYNTAX, "'%.100s' is no HOST[:PORT], such as 127.0.0.1:8080 or [::1]:80",
                        target->host);
    snprintf(target->path, sizeof target->path, "%s%.*s", *path == '/' ? "" : "/", (int)strcspn(path, "#"),
             path);
    return BAL_OK;
}

enum bal_code bli_load_target_resolve(struct target *target, struct bal_error *err) {
    char host[TARGET_TEXT], port[PORT_TEXT];
    const bool right = split_host_port(target, host, port);
    assert(right);
    (void)right;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    const int failed = getaddrinfo(host, port, &hints, &found);
    if (failed || !found)
        return bal_fail(err, BAL_E_IO, "%.100s: no address: %s", target->host, gai_strerror(failed));
    memcpy(&target->address, found->ai_addr, found->ai_addrlen);
    target->address_length = found->ai_addrlen;
    freeaddrinfo(found);
    return BAL_OK;
}

enum bal_code bli_load_url_check(const char *url, struct bal_error *err) {
    struct target target;
    return bli_load_target_parse(&target, url, err);
}
