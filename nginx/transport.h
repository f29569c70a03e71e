/* SPDX-License-Identifier: BSD-2-Clause */
/* Datagrams of a role: messages of its block are signed and sent, received ones are verified and passed to
 * the block.
 *
 * A role that exchanges messages has an address by which the others know it: that of `listen=`, or where this
 * is behind address translation or all addresses of the machine, that of `advertise=`. Its id is derived from
 * the address, so that no ids need to be assigned. If it serves HTTP at an IP address, it receives datagrams
 * at the same address and port, in UDP; if it serves HTTP at a unix socket, it receives them at another unix
 * socket with the same path and ".ballast" appended. The socket is one of nginx's listening sockets: it
 * survives reloads, and the process that reads a datagram passes it to the block that all share. Each process
 * sends from sockets of its own, because the sender is named in the message, which is signed.
 *
 * HTTP requests name their sender, signed with the same key: the header Ballast-From names the dispatcher,
 * and Ballast-Moved the station that moved the request. The header Ballast-Refused of a response names the
 * station that has refused the request. */
#ifndef NGINX_TRANSPORT_H
#define NGINX_TRANSPORT_H

#include "ballast/live/wire.h"
#include "compat.h"
#include "join_option.h"

enum {
    BLI_NGX_SIGNED = 33,                         /* characters of such a header: an id and its signature */
    BLI_NGX_DATAGRAM_TEXT = 2 * BAL_DATAGRAM_MAX /* of a datagram as text, at most */
};

enum bli_ngx_header { BLI_NGX_FROM, BLI_NGX_MOVED, BLI_NGX_REFUSED, BLI_NGX_HEADERS };

struct bli_ngx_address {
    uint64_t id;
    ngx_str_t name;            /* "127.0.0.1:8080", "unix:/run/app" */
    struct sockaddr *sockaddr; /* of HTTP */
    socklen_t socklen;
    struct sockaddr *dgram_addr; /* of datagrams */
    socklen_t dgram_addrlen;
    bool no_broadcast;  /* it gets no messages to BAL_EVERYONE */
    const void *origin; /* the same for all addresses of one name */
};

/* A message that is genuine and for us, and where it came from. */
struct bli_ngx_datagram {
    struct bal_message message;
    ngx_sockaddr_t from;
    socklen_t fromlen;
};

struct bli_ngx_zone;

struct bli_ngx_transport {
    struct bli_ngx_address own;  /* as the others know it */
    ngx_array_t others;          /* of struct bli_ngx_address, by id */
    const struct bal_keys *keys; /* signs with the first, accepts both */
    uint32_t max_members;        /* that may join */
    bool has_remote_peer;        /* an address is not of this machine */
    struct bli_ngx_zone *zone;
    struct bli_ngx_transport *socket_owner, *socket_user; /* the transport whose socket it uses; the one that
                                                             uses its own; or NULL */
    /* Of this process: */
    struct bal_receiver receiver;
    struct bli_ngx_contacts contacts; /* that have joined, or ask to */
    ngx_socket_t receive_socket; /* a duplicate of the socket: nginx closes its own when the process shuts
                                    down; or -1 */
    u_char signed_as[BLI_NGX_HEADERS][BLI_NGX_SIGNED]; /* our signed id in those headers */
};

/* The id of the role with this address. */
uint64_t bli_ngx_address_id(const ngx_str_t *name);
/* Of a server that is known already. NULL: it is filled in; else the reason why not. */
const char *bli_ngx_address_set(ngx_pool_t *pool, const ngx_str_t *name, struct sockaddr *sockaddr,
                                socklen_t socklen, struct bli_ngx_address *address);
/* "HOST:PORT" or "unix:PATH" of an option, resolved; NGX_ERROR: the error has been logged. */
ngx_int_t bli_ngx_address_parse(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                                struct bli_ngx_address *address);

/* The same of `listen=`, which may be all addresses of the machine. */
ngx_int_t bli_ngx_address_parse_listen(ngx_conf_t *cf, const ngx_str_t *text,
                                       struct bli_ngx_address *address);
/* When a directive has been read: `own`, of `advertise=`, is how the others know what listens there; without
 * it they know it by `listen`, which must be one address then. */
ngx_int_t bli_ngx_address_complete(ngx_conf_t *cf, const struct bli_ngx_address *listen,
                                   struct bli_ngx_address *own);

/* The same of all addresses that a name has, at the end of `addresses`. NGX_DECLINED: the name cannot be
 * resolved now, and its host and port are in *url. */
ngx_int_t bli_ngx_address_parse_all(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                                    ngx_array_t *addresses, ngx_url_t *url);
/* A name may have addresses of IPv4 and of IPv6, but its role is known by only one of them: where a name has
 * addresses of the family of `own`, its others are left out. */
void bli_ngx_address_prefer_family(const struct bli_ngx_address *own, ngx_array_t *addresses);

/* At configuration: datagrams for a zone that has been added. The socket is at `listen`; the others know it
 * as `own`. */
ngx_int_t bli_ngx_transport_init(ngx_conf_t *cf, struct bli_ngx_transport *transport,
                                 const struct bli_ngx_address *listen, const struct bli_ngx_address *own,
                                 const struct bal_keys *keys, struct bli_ngx_zone *zone);
/* The same at the address, and with the socket, of another transport; a datagram goes to the one that knows
 * its sender. */
ngx_int_t bli_ngx_transport_share(ngx_conf_t *cf, struct bli_ngx_transport *transport,
                                  struct bli_ngx_transport *socket_owner, struct bli_ngx_zone *zone);
/* Adds a peer to which messages may be sent; all are added before the first process starts. */
ngx_int_t bli_ngx_transport_add_peer(struct bli_ngx_transport *transport,
                                     const struct bli_ngx_address *other);

/* In the master, when sockets are open: makes the buffer of each of ours large enough for what the fleet may
 * send at once. */
void bli_ngx_transport_grow_buffers(ngx_cycle_t *cycle);

/* In a process: starts receiving. */
void bli_ngx_transport_open(struct bli_ngx_transport *transport, ngx_cycle_t *cycle);
/* Receives pending datagrams now: for requests that still wait in a process that is shutting down. */
void bli_ngx_transport_receive(struct bli_ngx_transport *transport);
/* Datagrams that the kernel has dropped because the socket was full, since it was created. */
uint64_t bli_ngx_transport_dropped(const struct bli_ngx_transport *transport);
/* The peer with this id; NULL: it is not known. */
const struct bli_ngx_address *bli_ngx_transport_find(const struct bli_ngx_transport *transport, uint64_t id);
/* No lock is held. To BAL_EVERYONE: to all that are not `no_broadcast`. */
void bli_ngx_transport_send(struct bli_ngx_transport *transport, const struct bal_message *message,
                            uint32_t count);

/* Datagrams that are sent with responses, in hexadecimal digits (load_header.h). The length of the text;
 * whether it is genuine and for us; if not, it has been counted by its receipt. */
size_t bli_ngx_transport_encode(const struct bli_ngx_transport *transport, const struct bal_message *message,
                                u_char *text);
bool bli_ngx_transport_decode(struct bli_ngx_transport *transport, const ngx_str_t *text,
                              struct bal_message *message);

/* The first header of that name; NULL: there is none. */
const ngx_table_elt_t *bli_ngx_header_find(const ngx_list_t *headers, const ngx_str_t *name);
const ngx_str_t *bli_ngx_header_name(enum bli_ngx_header header);
/* The id in that header; 0: none, or not signed with our key. */
uint64_t bli_ngx_header_signer(const struct bli_ngx_transport *transport, const ngx_list_t *headers,
                               enum bli_ngx_header header);

#endif
