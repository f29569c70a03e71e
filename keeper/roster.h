/* The apps of a keeper: those of its configuration, those that are leaving because they are not in it any
 * longer, and what an earlier keeper has left behind. */
#ifndef KEEPER_ROSTER_H
#define KEEPER_ROSTER_H

#include "app.h"
#include "post.h"

/* An app with its post; one that was left behind by an earlier keeper has a configuration of its own. */
struct member {
    struct app app;
    struct post post;
    struct app_config own;
    char own_name[CONFIG_NAME_MAX + 1];
};

struct roster {
    struct config *config;
    struct config **old; /* of apps that are leaving */
    size_t olds;
    struct member **member;
    struct app **app; /* the same */
    size_t count;
    uint64_t boot; /* of what is said */
};

/* Begins with the apps of the configuration and with strays: apps that run and are not in it. False: there is
 * no memory. */
bool roster_begin(struct roster *roster, struct config *config, uint64_t boot, uint64_t now);
/* Forgets all of them, and the configurations; what runs, runs on. */
void roster_fini(struct roster *roster);

/* Changes to another configuration, and takes it. On failure nothing has changed: returns what cannot change
 * without a restart. */
const char *roster_change(struct roster *roster, struct config *config, uint64_t now);

/* An app is to be off as soon as may be, and is not asked any longer. */
void roster_let_go(struct app *app, uint64_t now);
/* Those that were let go and are off are forgotten; new apps take their place, unless all are to go. Returns
 * true if there were any. */
bool roster_forget(struct roster *roster, bool all, uint64_t now);

/* Writes the state of all for people: STATE/keeper.status. */
void roster_write_status(const struct roster *roster, uint64_t now);

#endif
