/* SPDX-License-Identifier: BSD-2-Clause */
/* The option join=N[,RANGE,...] of both roles, and the addresses of those who have joined: members are in the
 * block that all processes share, and each process keeps a copy of their addresses to send to them. */
#ifndef NGINX_JOIN_OPTION_H
#define NGINX_JOIN_OPTION_H

#include "ballast/live/join.h"
#include "compat.h"

struct bli_ngx_address;
struct bal_keys;

/* An address to which datagrams go. */
struct bli_ngx_contact {
    uint64_t id;
    ngx_sockaddr_t address;
    socklen_t length;
};

enum { BLI_NGX_KNOCKS = 32 }; /* as many as datagrams in a batch */

/* Of a process. */
struct bli_ngx_contacts {
    struct bli_ngx_contact *members; /* by id */
    uint32_t count, room;
    uint64_t version; /* of the members in the block */
    struct bal_member *list;
    struct bli_ngx_contact knock[BLI_NGX_KNOCKS]; /* the last ones that asked to join */
    uint32_t knocks;
};

char *bli_ngx_join_set(ngx_conf_t *cf, const ngx_str_t *value, struct bal_join_config *join);
/* When keys and addresses are known. Without a secret key only this machine may join. */
ngx_int_t bli_ngx_join_complete(ngx_conf_t *cf, const struct bli_ngx_address *own,
                                const struct bal_keys *keys, struct bal_join_config *join);
/* As text that differs where they do, for the name of a zone; at most BLI_NGX_JOIN_TEXT bytes. */
enum { BLI_NGX_JOIN_TEXT = 40 + BAL_JOIN_RANGES_MAX * 80 };
u_char *bli_ngx_join_print(u_char *text, const struct bal_join_config *join);

/* In a process: room for so many members. */
ngx_int_t bli_ngx_contacts_init(struct bli_ngx_contacts *contacts, ngx_pool_t *pool, uint32_t room);
/* One that may have to be answered has sent this address. */
void bli_ngx_contacts_add_knock(struct bli_ngx_contacts *contacts, const struct bal_message *message);
/* Takes over the first `count` of the list. */
void bli_ngx_contacts_update(struct bli_ngx_contacts *contacts, uint32_t count, uint64_t version);
/* NULL: it is not known. */
const struct bli_ngx_contact *bli_ngx_contacts_find(const struct bli_ngx_contacts *contacts, uint64_t id);

#endif
