/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages of one app (ballast/live/wire.h), to and from its station, its dispatchers, and the command
 * line client (whose sender id is the app's own).
 *
 * Messages that are not signed with the key, that are not for the app, that come from unknown senders or were
 * received before are counted and dropped. */
#ifndef KEEPER_PEER_LINK_H
#define KEEPER_PEER_LINK_H

#include "config.h"

struct sockets {
    int local, udp; /* udp -1: none */
};

struct peer {
    uint64_t id;
    bool fixed;             /* its address is that of the configuration */
    bool may_stop;          /* its STOP is accepted */
    struct address address; /* none: it has sent nothing yet */
    struct bal_replay_window window;
    uint64_t heard, asked; /* of its last message and of our last challenge, in ns */
};

struct peer_link {
    struct bal_sender sender;
    struct bal_receiver receiver;
    struct peer *peer;
    size_t peers;
};

bool peer_link_init(struct peer_link *link, const struct config *config, const struct app_config *app,
                    uint64_t boot);
/* The same app after a change of the configuration: what is remembered of peers that stay is kept. */
bool peer_link_reconfigure(struct peer_link *link, const struct config *config, const struct app_config *app);
void peer_link_fini(struct peer_link *link);

/* Is this message, which is genuine, one for the app? Returns the peer that sent it, or NULL: it must not be
 * used, and *receipt gives the reason. Challenges are sent and answered at once. */
struct peer *peer_link_receive(struct peer_link *link, const struct sockets *sockets, uint64_t now,
                               const struct bal_message *message, const struct address *from,
                               enum bal_receipt *receipt);

/* The station of the app; NULL: it has none. */
struct peer *peer_link_station(struct peer_link *link);
/* Challenges a peer to find out whether it is alive: its answer counts as a message. */
void peer_link_challenge(struct peer_link *link, const struct sockets *sockets, struct peer *peer,
                         uint64_t now);

/* Sends a message to a peer; NULL: to all. */
void peer_link_send(struct peer_link *link, const struct sockets *sockets, struct bal_message *message,
                    const struct peer *peer);

#endif
