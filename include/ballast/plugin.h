/* SPDX-License-Identifier: BSD-2-Clause */
/* Your own policy as a plugin: a file that is built with these headers alone and loaded by the lab.
 *
 *     #include <ballast/plugin.h>
 *     static struct bal_decision route(void *state, struct bal_fleet *fleet, ...) { ... }
 *     static const struct bal_policy mine = {.name = "mine", ..., .route = route};
 *     BAL_PLUGIN(mine);
 *
 *     cc -shared -fPIC mine.c -o mine.so
 *     ballast policies --check ./mine.so
 *     ballast compare --policy ./mine.so
 *     policies: [./mine.so, random]           in an experiment file
 *
 * docs/plugins.md takes ten minutes. */
#ifndef BALLAST_PLUGIN_H
#define BALLAST_PLUGIN_H

#include "ballast/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever plugins that were built earlier are no longer compatible. */
#define BAL_PLUGIN_CONTRACT 1

/* What such a file exports, under the name bal_plugin. */
struct bal_plugin {
    uint32_t contract;
    uint32_t policy_size, fleet_size; /* of the structures that it was built with */
    const struct bal_policy *policy;
};

extern const struct bal_plugin bal_plugin;

#define BAL_PLUGIN(its_policy)                                                                               \
    const struct bal_plugin bal_plugin = {BAL_PLUGIN_CONTRACT, sizeof(struct bal_policy),                    \
                                          sizeof(struct bal_fleet), &(its_policy)}

/* Is the text the path of such a file, with parameters or without: "./mine.so", "mine.so:d=3"? */
bool bal_plugin_is_path(const char *text);

/* Loads the file, unless a file of the same contents has been, and reads the parameters. From then on
 * bal_policy_parse() knows the policy by its name, too, in this thread. It stays loaded until the program
 * ends; if the file is built again, the next call loads the new one. On failure *spec is untouched. */
enum bal_code bal_plugin_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err);
/* The same from a copy in memory: the file may be overwritten in place while the policy is used. */
enum bal_code bal_plugin_parse_copy(const char *text, struct bal_policy_spec *spec, struct bal_error *err);

/* From now on bal_policy_parse() knows no loaded policy by its name, in this thread, until its file is parsed
 * again: for a program that reads its configuration anew. */
void bal_plugin_forget_names(void);

/* The SHA-256 of the file that a policy was loaded from, as 64 digits; NULL: it is from no file. */
const char *bal_plugin_hash(const struct bal_policy *policy);

/* Names a file for good: "/home/me/mine.so@SHA256:d=3", which bal_plugin_parse() refuses to load once the
 * contents have changed. A relative path starts at the directory of the file `beside`; NULL: at the current
 * one. The caller frees *pinned. */
enum bal_code bal_plugin_pin(const char *text, const char *beside, char **pinned, struct bal_error *err);
bool bal_plugin_is_pinned(const char *text);
/* Does the text, such as "./mine.so:d=3", mean the one that is named for good? */
bool bal_plugin_is_same(const char *pinned, const char *text);
/* What follows the path: "" or ":d=3". */
const char *bal_plugin_params(const char *text);

/* Does the policy keep the contract? A storm of jobs, reports, marks and responses, true and false, on a
 * small fleet: decisions name only eligible servers, batches lose no jobs, the state stays valid, within its
 * block and without pointers. If it declares itself symmetric, renaming the servers must rename the decisions
 * and nothing else (false alarm 4e-6). Takes about a second. A policy with undefined behaviour may crash the
 * caller. */
enum bal_code bal_policy_examine(const struct bal_policy_spec *spec, struct bal_error *err);

/* The same for a path or a name of a policy, in a process of its own, which may crash or hang: the caller
 * goes on. */
enum bal_code bal_plugin_examine(const char *text, struct bal_error *err);

#ifdef __cplusplus
}
#endif
#endif
