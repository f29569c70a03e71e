#include "post.h"

#include <stdlib.h>
#include <string.h>

/* A sender whose clock has gone back is believed again when nothing has been heard of it for so long. */
static const uint64_t forgotten_ns = 60000000000;

static void add_peer(struct post *post, const struct peer_config *config, bool may_rest) {
    post->peer[post->peers++] = (struct peer){
        .id = config->id, .fixed = config->address.size, .may_rest = may_rest, .address = config->address};
}

static bool set_peers(struct post *post, const struct app_config *app) {
    post->peer = calloc(app->dispatchers + 2, sizeof *post->peer);
    post->peers = 0;
    if (!post->peer)
        return false;
    for (size_t i = 0; i < app->dispatchers; i++)
        add_peer(post, &app->dispatcher[i], false);
    if (app->station.id)
        add_peer(post, &app->station, true);
    add_peer(post, &(struct peer_config){.id = app->id}, true); /* people */
    return true;
}

bool post_init(struct post *post, const struct config *config, const struct app_config *app, uint64_t boot) {
    bal_sender_init(&post->mouth, config->fleet, app->id, boot);
    bal_receiver_init(&post->ear, config->fleet, app->id, &config->key);
    return set_peers(post, app);
}

static struct peer *find_peer(struct post *post, uint64_t id) {
    for (size_t i = 0; i < post->peers; i++)
        if (post->peer[i].id == id)
            return &post->peer[i];
    return NULL;
}

bool post_change(struct post *post, const struct config *config, const struct app_config *app) {
    struct post before = *post;
    bal_receiver_init(&post->ear, config->fleet, app->id, &config->key);
    if (!set_peers(post, app)) {
        *post = before;
        return false;
    }
    for (size_t i = 0; i < post->peers; i++) {
        const struct peer *old = find_peer(&before, post->peer[i].id);
        if (!old)
            continue;
        post->peer[i].window = old->window;
        post->peer[i].heard = old->heard;
        if (!post->peer[i].fixed && !old->fixed)
            post->peer[i].address = old->address;
    }
    free(before.peer);
    return true;
}

void post_fini(struct post *post) {
    free(post->peer);
    *post = (struct post){0};
}

struct peer *post_hear(struct post *post, uint64_t now, const uint8_t *bytes, size_t size,
                       const struct address *from, struct bal_message *message, enum bal_receipt *receipt) {
    *receipt = bal_receiver_open(&post->ear, bytes, size, message);
    if (*receipt != BAL_RECEIPT_FRESH)
        return NULL;
    struct peer *peer = find_peer(post, message->sender);
    *receipt = bal_receiver_accept(&post->ear, peer ? &peer->window : NULL, message);
    if (*receipt == BAL_RECEIPT_OLD && now - peer->heard > forgotten_ns &&
        bal_window_forgive(&peer->window, message->boot, message->sequence))
        *receipt = BAL_RECEIPT_FRESH;
    if (*receipt > BAL_RECEIPT_LATE)
        return NULL;
    peer->heard = now;
    if (!peer->fixed)
        peer->address = *from;
    return peer;
}

static void say_to(struct post *post, const struct sockets *sockets, struct bal_message *message,
                   const struct peer *peer) {
    uint8_t bytes[BAL_DATAGRAM_MAX];
    const int fd = address_is_local(&peer->address) ? sockets->local : sockets->udp;
    if (!peer->address.size || fd < 0)
        return;
    message->receiver = peer->id;
    bal_sender_stamp(&post->mouth, message);
    const size_t size = bal_message_encode(message, &post->ear.key, bytes);
    (void)sendto(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, &peer->address.any, peer->address.size);
}

void post_say(struct post *post, const struct sockets *sockets, struct bal_message *message,
              const struct peer *peer) {
    for (size_t i = 0; i < post->peers; i++)
        if (!peer || peer == &post->peer[i])
            say_to(post, sockets, message, &post->peer[i]);
}
