#include "config.h"

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
