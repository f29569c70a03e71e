/* Datagrams of a role: what its block has to say is signed and sent, what comes is read and told to the
 * block.
 *
 * A role that speaks has an address by which the others know it; its id is made of that, so that nobody has
 * to hand out numbers. Where its HTTP is at an address of IP it hears datagrams there, in UDP; where it is at
 * a unix socket, at another one beside it, which is called the same with ".ballast" behind. The socket is one
 * of nginx's listening sockets: it stays as it is over reloads, and whichever process reads a datagram tells
 * it to the block that all share. Datagrams leave from sockets of each process, for who speaks is in the
 * message and signed.
 *
 * HTTP requests tell who sends them, signed with the same key: in the header Ballast-From which dispatcher,
 * and in Ballast-Moved which station has given them away. */
#ifndef NGINX_MAIL_H
#define NGINX_MAIL_H

#include "ballast/live/wire.h"
#include "compat.h"

enum {
    BAL_NGX_SIGNED = 33,                 /* characters of such a header: an id and its signature */
    BAL_NGX_WORDS = 2 * BAL_DATAGRAM_MAX /* of a datagram as text, at most */
};

enum bal_ngx_header { BAL_NGX_FROM, BAL_NGX_MOVED, BAL_NGX_HEADERS };

struct bal_ngx_address {
    uint64_t id;
    ngx_str_t name;            /* "127.0.0.1:8080", "unix:/run/app" */
    struct sockaddr *sockaddr; /* of HTTP */
    socklen_t socklen;
    struct sockaddr *ear; /* of datagrams */
    socklen_t earlen;
    bool apart; /* what is said to everyone is not for it */
};

struct bal_ngx_zone;

struct bal_ngx_mail {
    struct bal_ngx_address own;
    ngx_array_t others; /* of struct bal_ngx_address, by id */
    const struct bal_key *key;
    bool far; /* an address is not of this machine */
    struct bal_ngx_zone *zone;
    struct bal_ngx_mail *host, *guest; /* whose socket it hears at; who hears at its own; or NULL */
    /* Of this process: */
    struct bal_receiver ear;
    ngx_socket_t kept; /* the socket once more: nginx closes its own when the process is to end; or -1 */
    u_char signed_as[BAL_NGX_HEADERS][BAL_NGX_SIGNED]; /* what those headers say of us */
};

/* The id of whoever has this address. */
uint64_t bal_ngx_mail_id(const ngx_str_t *name);
/* Of a server that is known already. NULL: it is filled in; else why that cannot be. */
const char *bal_ngx_mail_address(ngx_pool_t *pool, const ngx_str_t *name, struct sockaddr *sockaddr,
                                 socklen_t socklen, struct bal_ngx_address *address);
/* "HOST:PORT" or "unix:PATH" of an option, resolved; NGX_ERROR: it has been told what is wrong. */
ngx_int_t bal_ngx_mail_parse(ngx_conf_t *cf, const char *option, const ngx_str_t *text,
                             struct bal_ngx_address *address);

/* In the configuration: mail for a zone that has been added, at that address. */
ngx_int_t bal_ngx_mail_init(ngx_conf_t *cf, struct bal_ngx_mail *mail, const struct bal_ngx_address *own,
                            const struct bal_key *key, struct bal_ngx_zone *zone);
/* The same at the address, and the socket, of another one; what comes is for the one that knows its sender.
 */
ngx_int_t bal_ngx_mail_share(ngx_conf_t *cf, struct bal_ngx_mail *mail, struct bal_ngx_mail *host,
                             struct bal_ngx_zone *zone);
/* Somebody to whom may be written; all are known before the first process begins. */
ngx_int_t bal_ngx_mail_know(struct bal_ngx_mail *mail, const struct bal_ngx_address *other);

/* In a process: from now on it hears. */
void bal_ngx_mail_open(struct bal_ngx_mail *mail, ngx_cycle_t *cycle);
/* What has come is heard now: for requests that still wait in a process that is to end. */
void bal_ngx_mail_look(struct bal_ngx_mail *mail);
/* The one with this id; NULL: it is not known. */
const struct bal_ngx_address *bal_ngx_mail_find(const struct bal_ngx_mail *mail, uint64_t id);
/* No lock is held. To BAL_EVERYONE: to all that are not apart. */
void bal_ngx_mail_send(struct bal_ngx_mail *mail, const struct bal_message *message, uint32_t count);

/* Datagrams that ride on responses, in hexadecimal digits (ride.h). The length of the text; whether it is
 * genuine and for us, else it has been counted for what it is. */
size_t bal_ngx_mail_write(const struct bal_ngx_mail *mail, const struct bal_message *message, u_char *text);
bool bal_ngx_mail_read(struct bal_ngx_mail *mail, const ngx_str_t *text, struct bal_message *message);

/* The first header of that name; NULL: there is none. */
const ngx_table_elt_t *bal_ngx_mail_header(const ngx_list_t *headers, const ngx_str_t *name);
/* Who stands in that header of a request; 0: nobody, or not with our key. */
uint64_t bal_ngx_mail_signer(const struct bal_ngx_mail *mail, const ngx_http_request_t *r,
                             enum bal_ngx_header header);

#endif
