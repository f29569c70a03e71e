/* What is heard and said for one app: messages of the wire (ballast/live/wire.h) from and to its station, its
 * dispatchers, and people (whose sender id is the app's own).
 *
 * Messages that are not signed with the key, that are not for the app, that come from strangers or have been
 * here before are counted and dropped. */
#ifndef KEEPER_POST_H
#define KEEPER_POST_H

#include "config.h"

struct sockets {
    int local, udp; /* udp -1: none */
};

struct peer {
    uint64_t id;
    bool fixed;             /* its address is that of the configuration */
    bool may_rest;          /* it is believed that the app has no work */
    struct address address; /* none: it has not spoken yet */
    struct bal_window window;
    uint64_t heard; /* when, in ns */
};

struct post {
    struct bal_sender mouth;
    struct bal_receiver ear;
    struct peer *peer;
    size_t peers;
};

bool post_init(struct post *post, const struct config *config, const struct app_config *app, uint64_t boot);
/* The same app after a change of the configuration: what is remembered of peers that stay is kept. */
bool post_change(struct post *post, const struct config *config, const struct app_config *app);
void post_fini(struct post *post);

/* Reads a datagram. Returns who has sent it, or NULL: it is not to be used, and *receipt says why. */
struct peer *post_hear(struct post *post, uint64_t now, const uint8_t *bytes, size_t size,
                       const struct address *from, struct bal_message *message, enum bal_receipt *receipt);

/* Sends a message to a peer; NULL: to all. */
void post_say(struct post *post, const struct sockets *sockets, struct bal_message *message,
              const struct peer *peer);

#endif
