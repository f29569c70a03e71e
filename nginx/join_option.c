/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads join=, and keeps the addresses of members. */
#include "join_option.h"

#include "directive_option.h"
#include "transport.h"

#include <stdlib.h>
#include <string.h>

enum { SILENT_MS = 5000, JOIN_MAX = 16384 };

/* ---- addresses ---- */

static uint64_t word_of(const uint8_t *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | bytes[i];
    return word;
}

static struct bal_address address_of(struct sockaddr *from) {
    struct bal_address address = {0};
    if (from->sa_family == AF_INET) {
        address.family = 4;
        address.low = ntohl(((const struct sockaddr_in *)(const void *)from)->sin_addr.s_addr);
    } else if (from->sa_family == AF_INET6) {
        const uint8_t *bytes = ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr.s6_addr;
        address.family = 6;
        address.high = word_of(bytes);
        address.low = word_of(bytes + 8);
    }
    address.port = ngx_inet_get_port(from);
    return address;
}

/* "10.0.0.0/8", "fd00::/8" or one address. NULL: it is one; else what is wrong. */
static const char *parse_range(const char *text, struct bal_address_range *range) {
    ngx_str_t value = {strlen(text), (u_char *)text};
    ngx_cidr_t cidr;
    const ngx_int_t rc = ngx_ptocidr(&value, &cidr);
    if (rc == NGX_ERROR)
        return "is no range of addresses, such as 10.0.0.0/8 or fd00::/8";
    if (rc == NGX_DONE)
        return "has bits set behind those of the network";
    if (cidr.family == AF_INET) {
        range->network = (struct bal_address){.family = 4, .low = ntohl(cidr.u.in.addr)};
        range->bits = (uint32_t)__builtin_popcount(cidr.u.in.mask);
        return NULL;
    }
    const uint8_t *bytes = cidr.u.in6.addr.s6_addr, *mask = cidr.u.in6.mask.s6_addr;
    range->network = (struct bal_address){.family = 6, .high = word_of(bytes), .low = word_of(bytes + 8)};
    range->bits = (uint32_t)(__builtin_popcountll(word_of(mask)) + __builtin_popcountll(word_of(mask + 8)));
    return NULL;
}

static char *reject_join(ngx_conf_t *cf, const ngx_str_t *value) {
    return bli_ngx_option_error(cf, "\"join=", value,
                                "the most that may join, 1 to 16384, and the addresses from which, as in "
                                "join=64,10.0.0.0/8");
}

/* "N[,RANGE,...]" */
char *bli_ngx_join_set(ngx_conf_t *cf, const ngx_str_t *value, struct bal_join_config *join) {
    const ngx_str_t *directive = cf->args->elts;
    const u_char *end = value->data + value->len;
    const u_char *at = memchr(value->data, ',', value->len);
    ngx_uint_t most;
    if (!bli_ngx_option_number(value->data, at ? at : end, 1, JOIN_MAX, &most))
        return reject_join(cf, value);
    join->most = (uint32_t)most;
    join->silent_ns = (uint64_t)SILENT_MS * 1000000;
    while (at) {
        char text[BAL_ADDRESS_TEXT + 8] = "";
        const u_char *from = at + 1;
        at = memchr(from, ',', (size_t)(end - from));
        const size_t length = (size_t)((at ? at : end) - from);
        if (length == 0 || length >= sizeof text)
            return reject_join(cf, value);
        memcpy(text, from, length);
        if (join->ranges == BAL_JOIN_RANGES_MAX) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%V: join= names more than %d ranges", directive,
                               BAL_JOIN_RANGES_MAX);
            return NGX_CONF_ERROR;
        }
        const char *fault = parse_range(text, &join->range[join->ranges++]);
        if (fault) {
            ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%V: join=: '%s' %s", directive, text, fault);
            return NGX_CONF_ERROR;
        }
    }
    return NGX_CONF_OK;
}

static struct bli_ngx_contact contact_of(uint64_t id, const struct bal_address *address) {
    struct bli_ngx_contact contact = {.id = id};
    if (address->family == 4) {
        contact.address.sockaddr_in.sin_family = AF_INET;
        contact.address.sockaddr_in.sin_addr.s_addr = htonl((uint32_t)address->low);
        contact.length = sizeof contact.address.sockaddr_in;
    } else {
        uint8_t *bytes = contact.address.sockaddr_in6.sin6_addr.s6_addr;
        for (int i = 0; i < 8; i++) {
            bytes[i] = (uint8_t)(address->high >> (56 - 8 * i));
            bytes[8 + i] = (uint8_t)(address->low >> (56 - 8 * i));
        }
        contact.address.sockaddr_in6.sin6_family = AF_INET6;
        contact.length = sizeof contact.address.sockaddr_in6;
    }
    ngx_inet_set_port(&contact.address.sockaddr, (in_port_t)address->port);
    return contact;
}

/* ---- the configuration ---- */

/* 127.0.0.0/8 and ::1. */
static const struct bal_address_range loopback[] = {{{4, 0, 0, 0x7f000000}, 8}, {{6, 0, 0, 1}, 128}};

static bool is_local(const struct bal_address_range *range) {
    for (int i = 0; i < 2; i++)
        if (range->bits >= loopback[i].bits && bal_address_range_contains(&loopback[i], &range->network))
            return true;
    return false;
}

ngx_int_t bli_ngx_join_complete(ngx_conf_t *cf, const struct bli_ngx_address *own,
                                const struct bal_keys *keys, struct bal_join_config *join) {
    char text[BAL_ADDRESS_TEXT];
    join->own = address_of(own->sockaddr);
    if (!bal_address_is_valid(&join->own) ||
        bal_address_id(text, bal_address_print(&join->own, text)) != own->id)
        join->own = (struct bal_address){0}; /* a unix socket is for those that list it */
    if (!join->most || bal_key_is_secret(&keys->first))
        return NGX_OK;
    for (uint32_t i = 0; i < join->ranges; i++)
        if (!is_local(&join->range[i])) {
            ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                          "ballast: join= lets other machines join, and there is no key that they could "
                          "prove; use ballast_key in http {}");
            return NGX_ERROR;
        }
    if (join->ranges == 0) {
        memcpy(join->range, loopback, sizeof loopback);
        join->ranges = 2;
    }
    return NGX_OK;
}

u_char *bli_ngx_join_print(u_char *text, const struct bal_join_config *join) {
    if (!join->most)
        return text;
    text = ngx_sprintf(text, " join=%uD", join->most);
    for (uint32_t i = 0; i < join->ranges; i++)
        text = ngx_sprintf(text, ",%xL:%xL/%uD", join->range[i].network.high, join->range[i].network.low,
                           join->range[i].bits);
    return text;
}

/* ---- of a process ---- */

ngx_int_t bli_ngx_contacts_init(struct bli_ngx_contacts *contacts, ngx_pool_t *pool, uint32_t room) {
    contacts->members = ngx_pcalloc(pool, (room + 1) * sizeof *contacts->members);
    contacts->list = ngx_pcalloc(pool, (room + 1) * sizeof *contacts->list);
    contacts->room = contacts->members && contacts->list ? room : 0;
    return contacts->room == room ? NGX_OK : NGX_ERROR;
}

void bli_ngx_contacts_add_knock(struct bli_ngx_contacts *contacts, const struct bal_message *message) {
    if (contacts->room && bal_address_is_valid(&message->join.address))
        contacts->knock[contacts->knocks++ % BLI_NGX_KNOCKS] =
            contact_of(message->sender, &message->join.address);
}

static int compare_contacts(const void *a, const void *b) {
    const struct bli_ngx_contact *s = a, *t = b;
    return (s->id > t->id) - (s->id < t->id);
}

void bli_ngx_contacts_update(struct bli_ngx_contacts *contacts, uint32_t count, uint64_t version) {
    contacts->count = ngx_min(count, contacts->room);
    contacts->version = version;
    for (uint32_t i = 0; i < contacts->count; i++)
        contacts->members[i] = contact_of(contacts->list[i].id, &contacts->list[i].address);
    qsort(contacts->members, contacts->count, sizeof *contacts->members, compare_contacts);
}

const struct bli_ngx_contact *bli_ngx_contacts_find(const struct bli_ngx_contacts *contacts, uint64_t id) {
    const struct bli_ngx_contact key = {.id = id};
    const struct bli_ngx_contact *found =
        contacts->count ? bsearch(&key, contacts->members, contacts->count, sizeof key, compare_contacts)
                        : NULL;
    for (uint32_t i = 0; !found && i < ngx_min(contacts->knocks, BLI_NGX_KNOCKS); i++)
        if (contacts->knock[i].id == id)
            found = &contacts->knock[i];
    return found;
}
