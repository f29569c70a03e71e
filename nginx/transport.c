/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses, sockets and datagrams of a role, and the signed headers of requests. */
#include "transport.h"

#include "journal.h"
#include "process.h"
#include "zone.h"

#include <sodium.h>
#include <string.h>

enum {
    FLEET = 0,                      /* keys tell fleets apart */
    BATCH = 32,                     /* datagrams that are read before others have their turn */
    LONGEST = BAL_DATAGRAM_MAX + 1, /* whatever is longer is malformed, however long it is */
    AT_VERSION = 1,                 /* in a datagram */
    /* Buffer space for each possible sender: four datagrams, with the kernel's overhead for each. */
    BUFFER_EACH = 4 * 1280,
    BUFFER_MIN = 256 << 10,
    BUFFER_MAX = 64 << 20,
};

/* ---- addresses ---- */

uint64_t bli_ngx_address_id(const ngx_str_t *name) {
    return bal_address_id((const char *)name->data, name->len);
}

/* A unix stream socket cannot receive datagrams: a second socket next to it does. */
static const char *set_datagram_address(ngx_pool_t *pool, struct bli_ngx_address *address) {
    static const char suffix[] = ".ballast";
    const struct sockaddr_un *at = (const struct sockaddr_un *)(const void *)address->sockaddr;
    struct sockaddr_un *dgram_addr = ngx_pcalloc(pool, sizeof *dgram_addr);
    const size_t length = strnlen(at->sun_path, sizeof at->sun_path);
    if (!dgram_addr)
        return "no memory";
    if (length + sizeof suffix > sizeof dgram_addr->sun_path)
        return "too long a path";
    dgram_addr->sun_family = AF_UNIX;
    memcpy(dgram_addr->sun_path, at->sun_path, length);
    memcpy(dgram_addr->sun_path + length, suffix, sizeof suffix);
    address->dgram_addr = (struct sockaddr *)dgram_addr;
    address->dgram_addrlen = sizeof *dgram_addr;
    return NULL;
}

const char *bli_ngx_address_set(ngx_pool_t *pool, const ngx_str_t *name, struct sockaddr *sockaddr,
                                socklen_t socklen, struct bli_ngx_address *address) {
    *address = (struct bli_ngx_address){
        bli_ngx_address_id(name), *name, sockaddr, socklen, .dgram_addr = sockaddr, .dgram_addrlen = socklen};
    if (sockaddr->sa_family == AF_UNIX)
        return set_datagram_address(pool, address);
    return ngx_inet_wildcard(sockaddr) ? "not one address" : NULL;
}

static ngx_int_t reject_address(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                                const char *fault) {
    const ngx_str_t *directive = cf->args->elts;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "%V: %s in \"%s%V\"; use the address and port by which the others know it, as in "
                       "%s10.0.0.5:8080, or a unix socket, as in %sunix:/run/app",
                       directive, fault, option, text, option, option);
    return NGX_ERROR;
}

/* NULL: it has addresses; else what is wrong. */
static const char *resolve_address(ngx_pool_t *pool, const ngx_str_t *text, ngx_url_t *url) {
    *url = (ngx_url_t){.url = *text, .no_resolve = 0};
    if (ngx_parse_url(pool, url) != NGX_OK)
        return url->err ? url->err : "no address";
    if (url->family != AF_UNIX && (url->no_port || url->port == 0))
        return "no port";
    return url->naddrs == 0 ? "not one address" : NULL;
}

ngx_int_t bli_ngx_address_parse(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                                struct bli_ngx_address *address) {
    ngx_url_t url;
    const char *fault = resolve_address(cf->pool, text, &url);
    if (!fault)
        fault = bli_ngx_address_set(cf->pool, &url.addrs[0].name, url.addrs[0].sockaddr, url.addrs[0].socklen,
                                    address);
    return fault ? reject_address(cf, option, text, fault) : NGX_OK;
}

ngx_int_t bli_ngx_address_parse_listen(ngx_conf_t *cf, const ngx_str_t *text,
                                       struct bli_ngx_address *address) {
    ngx_url_t url;
    const char *fault = resolve_address(cf->pool, text, &url);
    if (!fault) {
        const ngx_addr_t *first = &url.addrs[0];
        fault = bli_ngx_address_set(cf->pool, &first->name, first->sockaddr, first->socklen, address);
        if (ngx_inet_wildcard(first->sockaddr))
            fault = NULL; /* with advertise= it may be any */
    }
    return fault ? reject_address(cf, "listen=", text, fault) : NGX_OK;
}

ngx_int_t bli_ngx_address_complete(ngx_conf_t *cf, const struct bli_ngx_address *listen,
                                   struct bli_ngx_address *own) {
    const ngx_str_t *directive = cf->args->elts;
    const bool advertised = own->sockaddr != NULL;
    const char *fault = NULL;
    if (advertised && !listen->sockaddr)
        fault = "is given, and listen= is missing";
    else if (advertised && (own->sockaddr->sa_family == AF_UNIX || listen->sockaddr->sa_family == AF_UNIX))
        fault = "is for IP addresses; a unix socket is known by its path";
    if (fault) {
        ngx_conf_log_error(NGX_LOG_EMERG, cf, 0, "%V: advertise=%V %s", directive, &own->name, fault);
        return NGX_ERROR;
    }
    if (advertised || !listen->sockaddr)
        return NGX_OK;
    *own = *listen;
    if (!ngx_inet_wildcard(listen->sockaddr))
        return NGX_OK;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "%V: not one address in \"listen=%V\"; name the address and port by which the others "
                       "know it as well, as in advertise=10.0.0.5:%ui, or listen there alone",
                       directive, &listen->name, (ngx_uint_t)ngx_inet_get_port(listen->sockaddr));
    return NGX_ERROR;
}

ngx_int_t bli_ngx_address_parse_all(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                                    ngx_array_t *addresses, ngx_url_t *url) {
    const char *fault = resolve_address(cf->pool, text, url);
    if (fault && strcmp(fault, "host not found") == 0 && url->port)
        return NGX_DECLINED;
    for (ngx_uint_t i = 0; !fault && i < url->naddrs; i++) {
        struct bli_ngx_address *address = ngx_array_push(addresses);
        if (!address)
            return NGX_ERROR;
        fault = bli_ngx_address_set(cf->pool, &url->addrs[i].name, url->addrs[i].sockaddr,
                                    url->addrs[i].socklen, address);
        address->origin = text->data;
    }
    return fault ? reject_address(cf, option, text, fault) : NGX_OK;
}

void bli_ngx_address_prefer_family(const struct bli_ngx_address *own, ngx_array_t *addresses) {
    const sa_family_t family = own->sockaddr->sa_family;
    struct bli_ngx_address *address = addresses->elts;
    ngx_uint_t left = 0;
    for (ngx_uint_t i = 0, k; i < addresses->nelts; i++) {
        for (k = 0; k < addresses->nelts; k++)
            if (address[k].origin && address[k].origin == address[i].origin &&
                address[k].sockaddr->sa_family == family)
                break;
        if (k == addresses->nelts || address[i].sockaddr->sa_family == family)
            address[left++] = address[i];
    }
    addresses->nelts = left;
}

static bool is_remote(const struct sockaddr *at) {
    if (at->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24) != 127;
    return at->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
}

/* ---- the configuration ---- */

/* nginx sets its own datagram handler for the socket, which bli_ngx_transport_open() replaces with ours. */
static void ignore_connection(ngx_connection_t *c) {
    (void)c;
}

/* UDP lets several sockets have one address, and gives all datagrams to one of them. */
static bool is_taken(ngx_conf_t *cf, const struct bli_ngx_address *listen) {
    const ngx_listening_t *ls = cf->cycle->listening.elts;
    for (ngx_uint_t i = 0; i < cf->cycle->listening.nelts; i++)
        if (ls[i].type == SOCK_DGRAM && ngx_cmp_sockaddr(ls[i].sockaddr, ls[i].socklen, listen->dgram_addr,
                                                         listen->dgram_addrlen, 1) == NGX_OK)
            return true;
    return false;
}

static ngx_int_t init_transport(ngx_conf_t *cf, struct bli_ngx_transport *transport,
                                const struct bli_ngx_address *own, const struct bal_keys *keys,
                                struct bli_ngx_zone *zone) {
    transport->own = *own;
    transport->keys = keys;
    transport->has_remote_peer = is_remote(own->sockaddr);
    transport->zone = zone;
    zone->transport = transport;
    return ngx_array_init(&transport->others, cf->pool, 8, sizeof(struct bli_ngx_address));
}

ngx_int_t bli_ngx_transport_share(ngx_conf_t *cf, struct bli_ngx_transport *transport,
                                  struct bli_ngx_transport *socket_owner, struct bli_ngx_zone *zone) {
    transport->socket_owner = socket_owner;
    socket_owner->socket_user = transport;
    return init_transport(cf, transport, &socket_owner->own, socket_owner->keys, zone);
}

ngx_int_t bli_ngx_transport_init(ngx_conf_t *cf, struct bli_ngx_transport *transport,
                                 const struct bli_ngx_address *listen, const struct bli_ngx_address *own,
                                 const struct bal_keys *keys, struct bli_ngx_zone *zone) {
    if (is_taken(cf, listen)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "ballast: listen=%V stands in two upstreams; each needs a port of its own",
                      &listen->name);
        return NGX_ERROR;
    }
    ngx_listening_t *ls = ngx_create_listening(cf, listen->dgram_addr, listen->dgram_addrlen);
    if (!ls)
        return NGX_ERROR;
    ls->type = SOCK_DGRAM;
    ls->handler = ignore_connection;
    ls->logp = &cf->cycle->new_log;
    ls->servers = transport;
    const ngx_int_t rc = init_transport(cf, transport, own, keys, zone);
    transport->has_remote_peer |= is_remote(listen->sockaddr);
    return rc;
}

static ngx_uint_t index_of(const struct bli_ngx_transport *transport, uint64_t id) {
    const struct bli_ngx_address *others = transport->others.elts;
    ngx_uint_t low = 0, high = transport->others.nelts;
    while (low < high) {
        const ngx_uint_t middle = (low + high) / 2;
        if (others[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ngx_int_t bli_ngx_transport_add_peer(struct bli_ngx_transport *transport,
                                     const struct bli_ngx_address *other) {
    const ngx_uint_t place = index_of(transport, other->id);
    if (!ngx_array_push(&transport->others))
        return NGX_ERROR;
    struct bli_ngx_address *others = transport->others.elts;
    memmove(&others[place + 1], &others[place], (transport->others.nelts - 1 - place) * sizeof *others);
    others[place] = *other;
    transport->has_remote_peer |= is_remote(other->sockaddr);
    return NGX_OK;
}

const struct bli_ngx_address *bli_ngx_transport_find(const struct bli_ngx_transport *transport, uint64_t id) {
    const struct bli_ngx_address *others = transport->others.elts;
    const ngx_uint_t place = index_of(transport, id);
    return place < transport->others.nelts && others[place].id == id ? &others[place] : NULL;
}

/* ---- the socket's buffer ---- */

static size_t receive_buffer_size(const struct bli_ngx_transport *transport) {
    const size_t others = transport->others.nelts + transport->max_members +
                          (transport->socket_user ? transport->socket_user->others.nelts : 0);
    return ngx_min(ngx_max(others * BUFFER_EACH, BUFFER_MIN), BUFFER_MAX);
}

/* The kernel sets twice the requested size, and reports that; beyond net.core.rmem_max only for root. */
static void grow_receive_buffer(const ngx_listening_t *ls, size_t wanted, ngx_log_t *log) {
    int half = (int)(wanted / 2), got = 0;
    socklen_t length = sizeof got;
    if (setsockopt(ls->fd, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof half) == -1)
        setsockopt(ls->fd, SOL_SOCKET, SO_RCVBUF, &half, sizeof half);
    if (getsockopt(ls->fd, SOL_SOCKET, SO_RCVBUF, &got, &length) == 0 && (size_t)got < wanted)
        ngx_log_error(NGX_LOG_WARN, log, 0,
                      "ballast: the receive buffer of %V has %d bytes, and this fleet may need %uz; raise "
                      "net.core.rmem_max to %d",
                      &ls->addr_text, got, wanted, half);
}

void bli_ngx_transport_grow_buffers(ngx_cycle_t *cycle) {
    const ngx_listening_t *ls = cycle->listening.elts;
    for (ngx_uint_t i = 0; i < cycle->listening.nelts; i++)
        if (ls[i].handler == ignore_connection && ls[i].fd != (ngx_socket_t)-1)
            grow_receive_buffer(&ls[i], receive_buffer_size(ls[i].servers), cycle->log);
}

uint64_t bli_ngx_transport_dropped(const struct bli_ngx_transport *transport) {
    enum { DROPS = 8 }; /* SK_MEMINFO_DROPS of linux/sock_diag.h */
    uint32_t info[DROPS + 1] = {0};
    socklen_t length = sizeof info;
    if (transport->receive_socket == -1 ||
        getsockopt(transport->receive_socket, SOL_SOCKET, SO_MEMINFO, info, &length) == -1)
        return 0;
    return length == sizeof info ? info[DROPS] : 0;
}

/* ---- sending ---- */

static ngx_socket_t send_socket(int family) {
    static ngx_socket_t send_sockets[3] = {-1, -1, -1};
    ngx_socket_t *s = &send_sockets[family == AF_INET6 ? 1 : family == AF_UNIX ? 2 : 0];
    if (*s == -1)
        *s = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return *s;
}

/* What cannot be sent is lost, as datagrams may be, and counted. */
static void send_datagram(const struct bli_ngx_transport *transport, const struct sockaddr *to,
                          socklen_t length, const uint8_t *bytes, size_t size) {
    const ngx_socket_t s = send_socket(to->sa_family);
    if (sendto(s, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, to, length) == -1)
        bli_ngx_zone_count_error(transport->zone, BLI_NGX_UNSENT, to, length, ngx_errno);
}

/* To all that have joined, or to one that has, or asks to. */
static void send_to_contacts(const struct bli_ngx_transport *transport, uint64_t receiver,
                             const uint8_t *bytes, size_t size) {
    const struct bli_ngx_contacts *contacts = &transport->contacts;
    const struct bli_ngx_contact *one =
        receiver == BAL_EVERYONE ? NULL : bli_ngx_contacts_find(contacts, receiver);
    if (one)
        send_datagram(transport, &one->address.sockaddr, one->length, bytes, size);
    for (uint32_t i = 0; receiver == BAL_EVERYONE && i < contacts->count; i++)
        send_datagram(transport, &contacts->members[i].address.sockaddr, contacts->members[i].length, bytes,
                      size);
}

void bli_ngx_transport_send(struct bli_ngx_transport *transport, const struct bal_message *message,
                            uint32_t count) {
    const struct bli_ngx_address *others = transport->others.elts;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[BAL_DATAGRAM_MAX];
        const size_t size = bal_message_encode(&message[i], &transport->keys->first, bytes);
        ngx_log_debug2(NGX_LOG_DEBUG_EVENT, ngx_cycle->log, 0, "ballast: send %s to %uL",
                       bal_message_name(message[i].type), message[i].receiver);
        const bool all = message[i].receiver == BAL_EVERYONE;
        ngx_uint_t k = all ? 0 : index_of(transport, message[i].receiver);
        bool listed = false;
        for (; k < transport->others.nelts && (all || others[k].id == message[i].receiver); k++) {
            if (!all || !others[k].no_broadcast)
                send_datagram(transport, others[k].dgram_addr, others[k].dgram_addrlen, bytes, size);
            listed = !all;
        }
        if (!listed && transport->contacts.room)
            send_to_contacts(transport, message[i].receiver, bytes, size);
    }
}

/* ---- receiving ---- */

/* Opens a datagram of any kind: only FRESH ones are passed to the block. */
static enum bal_receipt open_datagram(struct bli_ngx_transport *transport, const uint8_t *bytes, size_t size,
                                      struct bli_ngx_datagram *datagram) {
    const enum bal_receipt receipt = bal_receiver_open(&transport->receiver, bytes, size, &datagram->message);
    if (receipt == BAL_RECEIPT_FRESH) {
        ngx_log_debug2(NGX_LOG_DEBUG_EVENT, ngx_cycle->log, 0, "ballast: received %s from %uL",
                       bal_message_name(datagram->message.type), datagram->message.sender);
    } else {
        bli_ngx_zone_count_error(transport->zone, (int)receipt, &datagram->from.sockaddr, datagram->fromlen,
                                 receipt == BAL_RECEIPT_VERSION ? bytes[AT_VERSION] : 0);
    }
    return receipt;
}

static uint32_t receive_batch(struct bli_ngx_transport *transport, ngx_socket_t s,
                              struct bli_ngx_datagram datagrams[BATCH]) {
    uint32_t count = 0;
    for (int i = 0; i < BATCH; i++) {
        uint8_t bytes[LONGEST];
        struct bli_ngx_datagram *datagram = &datagrams[count];
        datagram->fromlen = sizeof datagram->from;
        const ssize_t size =
            recvfrom(s, bytes, sizeof bytes, MSG_DONTWAIT, &datagram->from.sockaddr, &datagram->fromlen);
        if (size == -1)
            break;
        count += open_datagram(transport, bytes, (size_t)size, datagram) == BAL_RECEIPT_FRESH;
    }
    return count;
}

/* Those of the first `count` whose senders the other user of the socket knows go to the end; returns how many
 * do not. */
static uint32_t partition_by_user(const struct bli_ngx_transport *socket_user,
                                  struct bli_ngx_datagram datagrams[BATCH], uint32_t count) {
    struct bli_ngx_datagram others[BATCH];
    uint32_t ours = 0, theirs = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (bli_ngx_transport_find(socket_user, datagrams[i].message.sender))
            others[theirs++] = datagrams[i];
        else
            datagrams[ours++] = datagrams[i];
    }
    memcpy(&datagrams[ours], others, theirs * sizeof *others);
    return ours;
}

static void deliver(struct bli_ngx_transport *transport, const struct bli_ngx_datagram *datagrams,
                    uint32_t count) {
    if (count && transport->zone->attached)
        bli_ngx_zone_receive(transport->zone, datagrams, count);
}

static void receive_datagrams(struct bli_ngx_transport *transport, ngx_socket_t s) {
    struct bli_ngx_datagram datagrams[BATCH];
    const uint32_t count = receive_batch(transport, s, datagrams);
    const uint32_t ours =
        transport->socket_user ? partition_by_user(transport->socket_user, datagrams, count) : count;
    bli_ngx_zone_add_receipts(transport->zone, transport->receiver.counts);
    deliver(transport, datagrams, ours);
    if (transport->socket_user)
        deliver(transport->socket_user, &datagrams[ours], count - ours);
}

static void on_readable(ngx_event_t *event) {
    const ngx_connection_t *c = event->data;
    receive_datagrams(c->listening->servers, c->fd);
}

void bli_ngx_transport_receive(struct bli_ngx_transport *transport) {
    struct bli_ngx_transport *socket_owner = transport->socket_owner ? transport->socket_owner : transport;
    receive_datagrams(socket_owner, socket_owner->receive_socket);
}

static void sign_header(const struct bal_key *key, enum bli_ngx_header header, uint64_t id,
                        u_char text[BLI_NGX_SIGNED]) {
    u_char signed_bytes[1 + sizeof id], mac[crypto_shorthash_siphash24_BYTES];
    uint64_t number;
    signed_bytes[0] = (u_char)('A' + header);
    memcpy(signed_bytes + 1, &id, sizeof id);
    crypto_shorthash_siphash24(mac, signed_bytes, sizeof signed_bytes, key->bytes);
    memcpy(&number, mac, sizeof number);
    ngx_snprintf(text, BLI_NGX_SIGNED, "%016xL-%016xL", id, number);
}

void bli_ngx_transport_open(struct bli_ngx_transport *transport, ngx_cycle_t *cycle) {
    const ngx_listening_t *ls = cycle->listening.elts;
    transport->receive_socket = -1;
    if (transport->max_members &&
        bli_ngx_contacts_init(&transport->contacts, cycle->pool, transport->max_members) != NGX_OK)
        bli_ngx_journal_log(NGX_LOG_ERR, cycle->log, "ballast: no memory for those that join");
    bal_receiver_init_keys(&transport->receiver, FLEET, transport->own.id, transport->keys);
    for (int i = 0; i < BLI_NGX_HEADERS; i++)
        sign_header(&transport->keys->first, (enum bli_ngx_header)i, transport->own.id,
                    transport->signed_as[i]);
    for (ngx_uint_t i = 0; i < cycle->listening.nelts; i++)
        if (ls[i].servers == transport && ls[i].connection) {
            ls[i].connection->read->handler = on_readable;
            transport->receive_socket = fcntl(ls[i].fd, F_DUPFD_CLOEXEC, 0);
        }
}

/* ---- messages sent with responses ---- */

size_t bli_ngx_transport_encode(const struct bli_ngx_transport *transport, const struct bal_message *message,
                                u_char *text) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const size_t size = bal_message_encode(message, &transport->keys->first, bytes);
    return (size_t)(ngx_hex_dump(text, bytes, size) - text);
}

/* The number of bytes; 0: it is not hexadecimal text. */
static size_t decode_hex(const ngx_str_t *text, uint8_t bytes[BAL_DATAGRAM_MAX]) {
    if (text->len % 2 || text->len > BLI_NGX_DATAGRAM_TEXT)
        return 0;
    for (size_t i = 0; i < text->len / 2; i++) {
        const ngx_int_t byte = ngx_hextoi(text->data + 2 * i, 2);
        if (byte == NGX_ERROR)
            return 0;
        bytes[i] = (uint8_t)byte;
    }
    return text->len / 2;
}

bool bli_ngx_transport_decode(struct bli_ngx_transport *transport, const ngx_str_t *text,
                              struct bal_message *message) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const size_t size = decode_hex(text, bytes);
    const enum bal_receipt receipt = bal_receiver_open(&transport->receiver, bytes, size, message);
    if (receipt != BAL_RECEIPT_FRESH)
        bli_ngx_zone_count_error(transport->zone, (int)receipt, NULL, 0,
                                 receipt == BAL_RECEIPT_VERSION ? bytes[AT_VERSION] : 0);
    bli_ngx_zone_add_receipts(transport->zone, transport->receiver.counts);
    return receipt == BAL_RECEIPT_FRESH;
}

/* ---- who sends requests ---- */

const ngx_table_elt_t *bli_ngx_header_find(const ngx_list_t *headers, const ngx_str_t *name) {
    for (const ngx_list_part_t *part = &headers->part; part; part = part->next) {
        const ngx_table_elt_t *header = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++)
            if (header[i].key.len == name->len &&
                ngx_strncasecmp(header[i].key.data, name->data, name->len) == 0)
                return &header[i];
    }
    return NULL;
}

static uint64_t parse_id(const u_char *text) {
    uint64_t id = 0;
    for (int i = 0; i < 16; i++) {
        const u_char c = ngx_tolower(text[i]);
        id = id << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return id;
}

const ngx_str_t *bli_ngx_header_name(enum bli_ngx_header header) {
    static const ngx_str_t names[] = {[BLI_NGX_FROM] = ngx_string("Ballast-From"),
                                      [BLI_NGX_MOVED] = ngx_string("Ballast-Moved"),
                                      [BLI_NGX_REFUSED] = ngx_string("Ballast-Refused")};
    return &names[header];
}

static bool is_signed(const struct bal_key *key, enum bli_ngx_header which, uint64_t id, const u_char *text) {
    u_char right[BLI_NGX_SIGNED];
    sign_header(key, which, id, right);
    return sodium_memcmp(right, text, BLI_NGX_SIGNED) == 0;
}

uint64_t bli_ngx_header_signer(const struct bli_ngx_transport *transport, const ngx_list_t *headers,
                               enum bli_ngx_header which) {
    const ngx_table_elt_t *header = bli_ngx_header_find(headers, bli_ngx_header_name(which));
    if (!header || header->value.len != BLI_NGX_SIGNED)
        return 0;
    const uint64_t id = parse_id(header->value.data);
    const bool good = is_signed(&transport->keys->first, which, id, header->value.data) ||
                      (bal_key_is_secret(&transport->keys->second) &&
                       is_signed(&transport->keys->second, which, id, header->value.data));
    return good ? id : 0;
}
