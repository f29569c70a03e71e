/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of servers and policies at run time, on top of the configuration: what they are, their JSON, and
 * the file that keeps them. schema/api.schema.json describes the JSON.
 *
 * A change belongs to one server of one upstream. It is kept as long as something differs from the
 * configuration. Changes of servers and upstreams that the configuration does not name (any longer) do
 * nothing. */
#ifndef CONTROL_CHANGES_H
#define CONTROL_CHANGES_H

#include "ballast/live/dispatcher.h"

#include <stdio.h>

enum {
    BLI_CHANGES_MAX = 2048,     /* servers that are changed */
    BLI_POLICIES_MAX = 256,     /* upstreams whose policy is */
    BLI_POLICY_NAME = 256,      /* bytes of the text of a policy, the terminator included */
    BLI_UPSTREAM_NAME = 128,    /* bytes of the name of an upstream, the terminator included */
    BLI_CHANGES_FILE = 1 << 20, /* bytes of a file, at most */
    BLI_WEIGHT_MAX = 1000000,   /* also of slots and max_conns */
};
#define BLI_AS_CONFIGURED UINT32_MAX /* of numbers that are not changed */

enum bli_change_state { BLI_STATE_CONFIGURED, BLI_STATE_UP, BLI_STATE_DRAIN, BLI_STATE_DOWN };
enum bli_change_presence {
    BLI_SERVER_CONFIGURED,
    BLI_SERVER_ADDED,
    BLI_SERVER_ADDED_BACKUP,
    BLI_SERVER_REMOVED
};

struct bli_change {
    char upstream[BLI_UPSTREAM_NAME], server[BAL_SERVER_NAME];
    uint32_t state, presence;
    uint32_t weight, max_conns, slots; /* max_conns 0: any number */
};

/* The policy of an upstream. */
struct bli_policy_change {
    char upstream[BLI_UPSTREAM_NAME], policy[BLI_POLICY_NAME];
};

/* Sorted by upstream and server. */
struct bli_changes {
    uint64_t generation; /* one more with each change */
    uint32_t count;
    uint32_t policies;
    struct bli_change change[BLI_CHANGES_MAX];
    struct bli_policy_change policy[BLI_POLICIES_MAX];
};

/* The change that changes nothing. False: a name is too long. */
bool bli_change_init(struct bli_change *change, const char *upstream, const char *server);
/* NULL: there is none. O(log changes). */
const struct bli_change *bli_changes_find(const struct bli_changes *changes, const char *upstream,
                                          const char *server);
/* The changes of an upstream are the *count ones from here on. */
const struct bli_change *bli_changes_of(const struct bli_changes *changes, const char *upstream,
                                        uint32_t *count);
/* The file can keep such a name: some characters of UTF-8 without blanks and control characters. */
bool bli_change_keeps_name(const char *name);
/* Puts the change in the place of the present one. BAL_E_RANGE: there is no room for more; BAL_E_SYNTAX: the
 * file could not keep one of its names. */
enum bal_code bli_changes_put(struct bli_changes *changes, const struct bli_change *change,
                              struct bal_error *err);
/* Of one server; of all of the upstream, and of its policy: server is NULL. Returns how many. */
uint32_t bli_changes_remove(struct bli_changes *changes, const char *upstream, const char *server);

/* The policy that an upstream has in place of the configured one; NULL: it has that one. */
const char *bli_changes_policy(const struct bli_changes *changes, const char *upstream);
/* policy: NULL is the configured one. BAL_E_RANGE and BAL_E_SYNTAX as above. */
enum bal_code bli_changes_set_policy(struct bli_changes *changes, const char *upstream, const char *policy,
                                     struct bal_error *err);

/* What a dispatcher is told of the server. False: it is removed. */
bool bli_change_apply(const struct bli_change *change, struct bal_dispatcher_server *server);

/* Reads the JSON of one change on top of *change: fields that are not named stay as they are, and null means
 * what is configured. With `add` the server is named in it. On failure *change is undefined. */
enum bal_code bli_change_read(const char *text, size_t length, bool add, struct bli_change *change,
                              struct bal_error *err);
/* Reads the JSON of a change of the policy; "" means the configured one. */
enum bal_code bli_policy_change_read(const char *text, size_t length, char policy[BLI_POLICY_NAME],
                                     struct bal_error *err);
/* What is changed, as members of an object: `"state":"drain","weight":2`; "" when nothing is. Returns the
 * length, which is less than BLI_CHANGE_TEXT. */
enum { BLI_CHANGE_TEXT = 200 };
size_t bli_change_print(const struct bli_change *change, char text[BLI_CHANGE_TEXT]);
/* "as configured", "up", "drain", "down". */
const char *bli_change_state_name(uint32_t state);

/* Reads and prints a whole file. On failure *changes is empty. */
enum bal_code bli_changes_read(const char *text, size_t length, struct bli_changes *changes,
                               struct bal_error *err);
void bli_changes_print(const struct bli_changes *changes, FILE *out);

#endif
