/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of one app: accepted senders, proofs of their boots, and where answers go. */
#include "peer_link.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

static uint64_t random_number(void) {
    uint64_t random = 0;
    (void)!getrandom(&random, sizeof random, 0);
    return random ? random : 1;
}

/* The peer's known boot is one that no sender has, so that even its first message needs a proof. A message
 * that was recorded before this keeper started must not stop an app. */
static void add_peer(struct peer_link *link, const struct peer_config *config, bool may_stop) {
    link->peer[link->peers++] = (struct peer){.id = config->id,
                                              .fixed = config->address.size,
                                              .may_stop = may_stop,
                                              .address = config->address,
                                              .window.boot = random_number()};
}

static bool set_peers(struct peer_link *link, const struct app_config *app) {
    link->peer = calloc(app->dispatchers + 2, sizeof *link->peer);
    link->peers = 0;
    if (!link->peer)
        return false;
    for (size_t i = 0; i < app->dispatchers; i++)
        add_peer(link, &app->dispatcher[i], false);
    if (app->station.id)
        add_peer(link, &app->station, true);
    add_peer(link, &(struct peer_config){.id = app->id}, true); /* people */
    return true;
}

bool peer_link_init(struct peer_link *link, const struct config *config, const struct app_config *app,
                    uint64_t boot) {
    bal_sender_init(&link->sender, config->fleet, app->id, boot);
    bal_receiver_init_keys(&link->receiver, config->fleet, app->id, &config->keys);
    return set_peers(link, app);
}

static struct peer *find_peer(struct peer_link *link, uint64_t id) {
    for (size_t i = 0; i < link->peers; i++)
        if (link->peer[i].id == id)
            return &link->peer[i];
    return NULL;
}

bool peer_link_reconfigure(struct peer_link *link, const struct config *config,
                           const struct app_config *app) {
    struct peer_link before = *link;
    bal_receiver_init_keys(&link->receiver, config->fleet, app->id, &config->keys);
    if (!set_peers(link, app)) {
        *link = before;
        return false;
    }
    for (size_t i = 0; i < link->peers; i++) {
        const struct peer *old = find_peer(&before, link->peer[i].id);
        if (!old)
            continue;
        link->peer[i].window = old->window;
        link->peer[i].heard = old->heard;
        if (!link->peer[i].fixed && !old->fixed)
            link->peer[i].address = old->address;
    }
    free(before.peer);
    return true;
}

void peer_link_fini(struct peer_link *link) {
    free(link->peer);
    *link = (struct peer_link){0};
}

static void send_to(struct peer_link *link, const struct sockets *sockets, struct bal_message *message,
                    const struct peer *peer) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const int fd = address_is_local(&peer->address) ? sockets->local : sockets->udp;
    if (!peer->address.size || fd < 0)
        return;
    message->receiver = peer->id;
    bal_sender_stamp(&link->sender, message);
    const size_t size = bal_message_encode(message, &link->receiver.keys.first, bytes);
    (void)sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, &peer->address.any, peer->address.size);
}

/* A proof is wanted where the message came from, and given there: it changes no address. */
static void exchange_proofs(struct peer_link *link, const struct sockets *sockets, uint64_t now,
                            struct peer *peer, const struct address *from, const struct bal_message *message,
                            enum bal_receipt receipt) {
    const struct address before = peer->address;
    struct bal_message proof = {.type = BAL_MSG_PROOF, .nonce = message->nonce}, challenge;
    if (!peer->fixed)
        peer->address = *from;
    if (message->type == BAL_MSG_CHALLENGE && bal_receipt_is_answered(receipt))
        send_to(link, sockets, &proof, peer);
    if (receipt == BAL_RECEIPT_UNPROVEN &&
        bal_replay_window_challenge(&peer->window, now, random_number(), message, &challenge))
        send_to(link, sockets, &challenge, peer);
    peer->address = before;
}

struct peer *peer_link_receive(struct peer_link *link, const struct sockets *sockets, uint64_t now,
                               const struct bal_message *message, const struct address *from,
                               enum bal_receipt *receipt) {
    *receipt = BAL_RECEIPT_WRONG_RECEIVER;
    if (message->receiver != link->receiver.id && message->receiver != BAL_EVERYONE)
        return NULL;
    struct peer *peer = find_peer(link, message->sender);
    *receipt = peer ? bal_replay_window_admit(&peer->window, now, message) : BAL_RECEIPT_UNKNOWN_SENDER;
    if (peer)
        exchange_proofs(link, sockets, now, peer, from, message, *receipt);
    if (*receipt > BAL_RECEIPT_LATE)
        return NULL;
    peer->heard = now;
    if (!peer->fixed)
        peer->address = *from;
    return peer;
}

struct peer *peer_link_station(struct peer_link *link) {
    for (size_t i = 0; i < link->peers; i++)
        if (link->peer[i].may_stop && link->peer[i].id != link->receiver.id)
            return &link->peer[i];
    return NULL;
}

void peer_link_challenge(struct peer_link *link, const struct sockets *sockets, struct peer *peer,
                         uint64_t now) {
    struct bal_message challenge;
    peer->asked = now;
    if (bal_replay_window_challenge(&peer->window, now, random_number(),
                                    &(struct bal_message){.sender = peer->id}, &challenge))
        send_to(link, sockets, &challenge, peer);
}

void peer_link_send(struct peer_link *link, const struct sockets *sockets, struct bal_message *message,
                    const struct peer *peer) {
    for (size_t i = 0; i < link->peers; i++)
        if (!peer || peer == &link->peer[i])
            send_to(link, sockets, message, &link->peer[i]);
}
