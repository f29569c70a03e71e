/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as they are written in configurations. */
#include "config.h"

#include "ballast/live/wire.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

bool address_is_local(const struct address *address) {
    return address->size && address->any.sa_family == AF_UNIX;
}

static bool local_address(const char *path, struct address *address) {
    if (*path != '/' || strlen(path) >= sizeof address->local.sun_path)
        return false;
    address->local.sun_family = AF_UNIX;
    memcpy(address->local.sun_path, path, strlen(path) + 1);
    address->size = sizeof address->local;
    return true;
}

static bool port_of(const char *text, in_port_t *port) {
    uint64_t number;
    if (!config_whole_number(text, &number) || number < 1 || number > 65535)
        return false;
    *port = htons((uint16_t)number);
    return true;
}

bool address_read(const char *text, struct address *address) {
    *address = (struct address){0};
    if (strncmp(text, "unix:", 5) == 0)
        return local_address(text + 5, address);
    const bool six = *text == '[';
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2] = "";
    if (!colon || (size_t)(colon - text) >= sizeof host)
        return false;
    memcpy(host, text + six, (size_t)(colon - text) - (size_t)six);
    if (six) {
        struct sockaddr_in6 *to = (struct sockaddr_in6 *)&address->room;
        char *end = strchr(host, ']');
        if (!end || end[1])
            return false;
        *end = '\0';
        to->sin6_family = AF_INET6;
        address->size = sizeof *to;
        return inet_pton(AF_INET6, host, &to->sin6_addr) == 1 && port_of(colon + 1, &to->sin6_port);
    }
    struct sockaddr_in *to = (struct sockaddr_in *)&address->room;
    to->sin_family = AF_INET;
    address->size = sizeof *to;
    return inet_pton(AF_INET, host, &to->sin_addr) == 1 && port_of(colon + 1, &to->sin_port);
}

/* As nginx writes it: numbers in their shortest form. */
static bool print_address(const struct address *address, char *text, size_t size) {
    char host[INET6_ADDRSTRLEN];
    const struct sockaddr_in *four = (const struct sockaddr_in *)&address->room;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address->room;
    const bool is_six = address->any.sa_family == AF_INET6;
    const void *at = is_six ? (const void *)&six->sin6_addr : (const void *)&four->sin_addr;
    if (!inet_ntop(address->any.sa_family, at, host, sizeof host))
        return false;
    snprintf(text, size, is_six ? "[%s]:%u" : "%s:%u", host, ntohs(is_six ? six->sin6_port : four->sin_port));
    return true;
}

bool address_read_station(const char *text, struct address *address, uint64_t *id) {
    static const char suffix[] = ".ballast";
    char name[INET6_ADDRSTRLEN + 10];
    if (!address_read(text, address))
        return false;
    if (!address_is_local(address)) {
        if (!print_address(address, name, sizeof name))
            return false;
        *id = bal_address_id(name, strlen(name));
        return true;
    }
    *id = bal_address_id(text, strlen(text));
    const size_t length = strlen(address->local.sun_path);
    if (length + sizeof suffix > sizeof address->local.sun_path)
        return false;
    memcpy(address->local.sun_path + length, suffix, sizeof suffix);
    return true;
}
