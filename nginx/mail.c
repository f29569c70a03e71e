#include "mail.h"

#include "process.h"
#include "zone.h"

#include <sodium.h>
#include <string.h>

enum {
    FLEET = 0,                     /* keys tell fleets apart */
    BATCH = 32,                    /* datagrams that are read before others have their turn */
    LONGEST = BAL_DATAGRAM_MAX + 1 /* whatever is longer is malformed, however long it is */
};

/* ---- addresses ---- */

uint64_t bal_ngx_mail_id(const ngx_str_t *name) {
    static const u_char public_key[crypto_shorthash_siphash24_KEYBYTES] = "ballast address";
    u_char hash[crypto_shorthash_siphash24_BYTES];
    uint64_t id;
    crypto_shorthash_siphash24(hash, name->data, name->len, public_key);
    memcpy(&id, hash, sizeof id);
    return id ? id : 1;
}

/* A unix socket of streams hears no datagrams: the one beside it does. */
static const char *find_ear(ngx_pool_t *pool, struct bal_ngx_address *address) {
    static const char beside[] = ".ballast";
    const struct sockaddr_un *at = (const struct sockaddr_un *)(const void *)address->sockaddr;
    struct sockaddr_un *ear = ngx_pcalloc(pool, sizeof *ear);
    const size_t length = strnlen(at->sun_path, sizeof at->sun_path);
    if (!ear)
        return "no memory";
    if (length + sizeof beside > sizeof ear->sun_path)
        return "too long a path";
    ear->sun_family = AF_UNIX;
    memcpy(ear->sun_path, at->sun_path, length);
    memcpy(ear->sun_path + length, beside, sizeof beside);
    address->ear = (struct sockaddr *)ear;
    address->earlen = sizeof *ear;
    return NULL;
}

const char *bal_ngx_mail_address(ngx_pool_t *pool, const ngx_str_t *name, struct sockaddr *sockaddr,
                                 socklen_t socklen, struct bal_ngx_address *address) {
    *address = (struct bal_ngx_address){bal_ngx_mail_id(name), *name, sockaddr, socklen, .ear = sockaddr,
                                        .earlen = socklen};
    if (sockaddr->sa_family == AF_UNIX)
        return find_ear(pool, address);
    return ngx_inet_wildcard(sockaddr) ? "not one address" : NULL;
}

ngx_int_t bal_ngx_mail_parse(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                             struct bal_ngx_address *address) {
    const ngx_str_t *directive = cf->args->elts;
    ngx_url_t url = {.url = *text, .no_resolve = 0};
    const char *fault = NULL;
    if (ngx_parse_url(cf->pool, &url) != NGX_OK)
        fault = url.err ? url.err : "no address";
    else if (url.family != AF_UNIX && (url.no_port || url.port == 0))
        fault = "no port";
    else if (url.naddrs == 0)
        fault = "not one address";
    else
        fault = bal_ngx_mail_address(cf->pool, &url.addrs[0].name, url.addrs[0].sockaddr,
                                     url.addrs[0].socklen, address);
    if (!fault)
        return NGX_OK;
    ngx_conf_log_error(NGX_LOG_EMERG, cf, 0,
                       "%V: %s in \"%s%V\"; use the address and port by which the others know it, as in "
                       "%s10.0.0.5:8080, or a unix socket, as in %sunix:/run/app",
                       directive, fault, option, text, option, option);
    return NGX_ERROR;
}

static bool is_far(const struct sockaddr *at) {
    if (at->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24) != 127;
    return at->sa_family == AF_INET6 &&
           !IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
}

/* ---- the configuration ---- */

/* nginx gives the socket to its own reader of datagrams, and bal_ngx_mail_open() to ours. */
static void ignore(ngx_connection_t *c) {
    (void)c;
}

/* UDP lets several sockets have one address, and gives all datagrams to one of them. */
static bool is_taken(ngx_conf_t *cf, const struct bal_ngx_address *own) {
    const ngx_listening_t *ls = cf->cycle->listening.elts;
    for (ngx_uint_t i = 0; i < cf->cycle->listening.nelts; i++)
        if (ls[i].type == SOCK_DGRAM &&
            ngx_cmp_sockaddr(ls[i].sockaddr, ls[i].socklen, own->ear, own->earlen, 1) == NGX_OK)
            return true;
    return false;
}

static ngx_int_t begin(ngx_conf_t *cf, struct bal_ngx_mail *mail, const struct bal_ngx_address *own,
                       const struct bal_key *key, struct bal_ngx_zone *zone) {
    mail->own = *own;
    mail->key = key;
    mail->far = is_far(own->sockaddr);
    mail->zone = zone;
    zone->mail = mail;
    return ngx_array_init(&mail->others, cf->pool, 8, sizeof(struct bal_ngx_address));
}

ngx_int_t bal_ngx_mail_share(ngx_conf_t *cf, struct bal_ngx_mail *mail, struct bal_ngx_mail *host,
                             struct bal_ngx_zone *zone) {
    mail->host = host;
    host->guest = mail;
    return begin(cf, mail, &host->own, host->key, zone);
}

ngx_int_t bal_ngx_mail_init(ngx_conf_t *cf, struct bal_ngx_mail *mail, const struct bal_ngx_address *own,
                            const struct bal_key *key, struct bal_ngx_zone *zone) {
    if (is_taken(cf, own)) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "ballast: listen=%V stands in two upstreams; each needs a port of its own", &own->name);
        return NGX_ERROR;
    }
    ngx_listening_t *ls = ngx_create_listening(cf, own->ear, own->earlen);
    if (!ls)
        return NGX_ERROR;
    ls->type = SOCK_DGRAM;
    ls->handler = ignore;
    ls->logp = &cf->cycle->new_log;
    ls->servers = mail;
    return begin(cf, mail, own, key, zone);
}

static ngx_uint_t place_of(const struct bal_ngx_mail *mail, uint64_t id) {
    const struct bal_ngx_address *others = mail->others.elts;
    ngx_uint_t low = 0, high = mail->others.nelts;
    while (low < high) {
        const ngx_uint_t middle = (low + high) / 2;
        if (others[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

ngx_int_t bal_ngx_mail_know(struct bal_ngx_mail *mail, const struct bal_ngx_address *other) {
    const ngx_uint_t place = place_of(mail, other->id);
    if (!ngx_array_push(&mail->others))
        return NGX_ERROR;
    struct bal_ngx_address *others = mail->others.elts;
    memmove(&others[place + 1], &others[place], (mail->others.nelts - 1 - place) * sizeof *others);
    others[place] = *other;
    mail->far |= is_far(other->sockaddr);
    return NGX_OK;
}

const struct bal_ngx_address *bal_ngx_mail_find(const struct bal_ngx_mail *mail, uint64_t id) {
    const struct bal_ngx_address *others = mail->others.elts;
    const ngx_uint_t place = place_of(mail, id);
    return place < mail->others.nelts && others[place].id == id ? &others[place] : NULL;
}

/* ---- sending ---- */

static ngx_socket_t outlet(int family) {
    static ngx_socket_t outlets[3] = {-1, -1, -1};
    ngx_socket_t *s = &outlets[family == AF_INET6 ? 1 : family == AF_UNIX ? 2 : 0];
    if (*s == -1)
        *s = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    return *s;
}

/* What cannot be sent is lost, as datagrams may be. */
static void post(const struct bal_ngx_address *to, const uint8_t *bytes, size_t size) {
    (void)!sendto(outlet(to->ear->sa_family), bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, to->ear, to->earlen);
}

void bal_ngx_mail_send(struct bal_ngx_mail *mail, const struct bal_message *message, uint32_t count) {
    const struct bal_ngx_address *others = mail->others.elts;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t bytes[BAL_DATAGRAM_MAX];
        const size_t size = bal_message_encode(&message[i], mail->key, bytes);
        const bool all = message[i].receiver == BAL_EVERYONE;
        ngx_uint_t k = all ? 0 : place_of(mail, message[i].receiver);
        for (; k < mail->others.nelts && (all || others[k].id == message[i].receiver); k++)
            if (!all || !others[k].apart)
                post(&others[k], bytes, size);
    }
}

/* ---- hearing ---- */

static uint32_t read_some(struct bal_ngx_mail *mail, ngx_socket_t s, struct bal_message messages[BATCH]) {
    uint32_t count = 0;
    for (int i = 0; i < BATCH; i++) {
        uint8_t bytes[LONGEST];
        const ssize_t size = recv(s, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size == -1)
            break;
        count += bal_receiver_open(&mail->ear, bytes, (size_t)size, &messages[count]) == BAL_RECEIPT_FRESH;
    }
    return count;
}

/* Those of the first `count` that the guest knows the senders of go to the end; returns how many do not. */
static uint32_t sort_out(const struct bal_ngx_mail *guest, struct bal_message messages[BATCH],
                         uint32_t count) {
    struct bal_message others[BATCH];
    uint32_t ours = 0, theirs = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (bal_ngx_mail_find(guest, messages[i].sender))
            others[theirs++] = messages[i];
        else
            messages[ours++] = messages[i];
    }
    memcpy(&messages[ours], others, theirs * sizeof *others);
    return ours;
}

static void hand_over(struct bal_ngx_mail *mail, const struct bal_message *messages, uint32_t count) {
    if (count && mail->zone->inside)
        bal_ngx_zone_hear(mail->zone, messages, count);
}

static void hear(struct bal_ngx_mail *mail, ngx_socket_t s) {
    struct bal_message messages[BATCH];
    const uint32_t count = read_some(mail, s, messages);
    const uint32_t ours = mail->guest ? sort_out(mail->guest, messages, count) : count;
    bal_ngx_zone_count(mail->zone, mail->ear.counts);
    hand_over(mail, messages, ours);
    if (mail->guest)
        hand_over(mail->guest, &messages[ours], count - ours);
}

static void on_readable(ngx_event_t *event) {
    const ngx_connection_t *c = event->data;
    hear(c->listening->servers, c->fd);
}

void bal_ngx_mail_look(struct bal_ngx_mail *mail) {
    struct bal_ngx_mail *host = mail->host ? mail->host : mail;
    hear(host, host->kept);
}

static void sign(const struct bal_key *key, enum bal_ngx_header header, uint64_t id,
                 u_char text[BAL_NGX_SIGNED]) {
    u_char said[1 + sizeof id], mac[crypto_shorthash_siphash24_BYTES];
    uint64_t number;
    said[0] = (u_char)('A' + header);
    memcpy(said + 1, &id, sizeof id);
    crypto_shorthash_siphash24(mac, said, sizeof said, key->bytes);
    memcpy(&number, mac, sizeof number);
    ngx_snprintf(text, BAL_NGX_SIGNED, "%016xL-%016xL", id, number);
}

void bal_ngx_mail_open(struct bal_ngx_mail *mail, ngx_cycle_t *cycle) {
    const ngx_listening_t *ls = cycle->listening.elts;
    mail->kept = -1;
    bal_receiver_init(&mail->ear, FLEET, mail->own.id, mail->key);
    for (int i = 0; i < BAL_NGX_HEADERS; i++)
        sign(mail->key, (enum bal_ngx_header)i, mail->own.id, mail->signed_as[i]);
    for (ngx_uint_t i = 0; i < cycle->listening.nelts; i++)
        if (ls[i].servers == mail && ls[i].connection) {
            ls[i].connection->read->handler = on_readable;
            mail->kept = fcntl(ls[i].fd, F_DUPFD_CLOEXEC, 0);
        }
}

/* ---- what rides on responses ---- */

size_t bal_ngx_mail_write(const struct bal_ngx_mail *mail, const struct bal_message *message, u_char *text) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const size_t size = bal_message_encode(message, mail->key, bytes);
    return (size_t)(ngx_hex_dump(text, bytes, size) - text);
}

/* The bytes; 0: it is no text of any. */
static size_t read_bytes(const ngx_str_t *text, uint8_t bytes[BAL_DATAGRAM_MAX]) {
    if (text->len % 2 || text->len > BAL_NGX_WORDS)
        return 0;
    for (size_t i = 0; i < text->len / 2; i++) {
        const ngx_int_t byte = ngx_hextoi(text->data + 2 * i, 2);
        if (byte == NGX_ERROR)
            return 0;
        bytes[i] = (uint8_t)byte;
    }
    return text->len / 2;
}

bool bal_ngx_mail_read(struct bal_ngx_mail *mail, const ngx_str_t *text, struct bal_message *message) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const size_t size = read_bytes(text, bytes);
    const bool genuine = bal_receiver_open(&mail->ear, bytes, size, message) == BAL_RECEIPT_FRESH;
    bal_ngx_zone_count(mail->zone, mail->ear.counts);
    return genuine;
}

/* ---- who sends requests ---- */

const ngx_table_elt_t *bal_ngx_mail_header(const ngx_list_t *headers, const ngx_str_t *name) {
    for (const ngx_list_part_t *part = &headers->part; part; part = part->next) {
        const ngx_table_elt_t *header = part->elts;
        for (ngx_uint_t i = 0; i < part->nelts; i++)
            if (header[i].key.len == name->len &&
                ngx_strncasecmp(header[i].key.data, name->data, name->len) == 0)
                return &header[i];
    }
    return NULL;
}

static uint64_t read_id(const u_char *text) {
    uint64_t id = 0;
    for (int i = 0; i < 16; i++) {
        const u_char c = ngx_tolower(text[i]);
        id = id << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return id;
}

uint64_t bal_ngx_mail_signer(const struct bal_ngx_mail *mail, const ngx_http_request_t *r,
                             enum bal_ngx_header which) {
    static const ngx_str_t names[] = {
        [BAL_NGX_FROM] = ngx_string("Ballast-From"), [BAL_NGX_MOVED] = ngx_string("Ballast-Moved")};
    const ngx_table_elt_t *header = bal_ngx_mail_header(&r->headers_in.headers, &names[which]);
    u_char right[BAL_NGX_SIGNED];
    if (!header || header->value.len != BAL_NGX_SIGNED)
        return 0;
    const uint64_t id = read_id(header->value.data);
    sign(mail->key, which, id, right);
    return sodium_memcmp(right, header->value.data, BAL_NGX_SIGNED) == 0 ? id : 0;
}
