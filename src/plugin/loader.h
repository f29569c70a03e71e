/* SPDX-License-Identifier: BSD-2-Clause */
/* Loads policies from files (ballast/plugin.h), names such files for good, and examines what they contain.
 *
 * State of the process: a file that has been loaded stays loaded, in a table behind a lock; which of them a
 * name means belongs to the thread. */
#ifndef PLUGIN_LOADER_H
#define PLUGIN_LOADER_H

#include "ballast/policy.h"

/* Is the text the path of such a file, with parameters or without: "./mine.so", "mine.so:d=3"? */
bool bli_plugin_is_path(const char *text);

/* Loads the file, unless a file of the same contents has been, and reads the parameters. From then on
 * bal_policy_parse() knows the policy by its name, too, in this thread. It stays loaded until the program
 * ends; if the file is built again, the next call loads the new one. On failure *spec is untouched. */
enum bal_code bli_plugin_parse(const char *text, struct bal_policy_spec *spec, struct bal_error *err);
/* The same from a copy in memory: the file may be overwritten in place while the policy is used. */
enum bal_code bli_plugin_parse_copy(const char *text, struct bal_policy_spec *spec, struct bal_error *err);

/* From now on bal_policy_parse() knows no loaded policy by its name, in this thread, until its file is parsed
 * again: for a program that reads its configuration again. */
void bli_plugin_forget_names(void);

/* The SHA-256 of the file that a policy was loaded from, as 64 digits; NULL: it is from no file. */
const char *bli_plugin_hash(const struct bal_policy *policy);

/* Names a file for good: "/home/me/mine.so@SHA256:d=3", which bli_plugin_parse() refuses to load once the
 * contents have changed. A relative path starts at the directory of the file `next_to`; NULL: at the current
 * one. The caller frees *pinned. */
enum bal_code bli_plugin_pin(const char *text, const char *next_to, char **pinned, struct bal_error *err);
bool bli_plugin_is_pinned(const char *text);
/* Does the text, such as "./mine.so:d=3", mean the one that is named for good? */
bool bli_plugin_is_same(const char *pinned, const char *text);
/* What follows the path: "" or ":d=3". */
const char *bli_plugin_params(const char *text);

/* Does the policy keep the contract? A storm of jobs, reports, marks and responses, true and false, on a
 * small fleet: decisions name only eligible servers, batches lose no jobs, the state stays valid, within its
 * block and without pointers. If it declares itself symmetric, renaming the servers must rename the decisions
 * and nothing else (false alarm 4e-6). Takes about a second. A policy with undefined behaviour may crash the
 * caller. */
enum bal_code bli_policy_examine(const struct bal_policy_spec *spec, struct bal_error *err);

/* The same for a path or a name of a policy, in a process of its own, which may crash or hang: the caller
 * goes on. */
enum bal_code bli_plugin_examine(const char *text, struct bal_error *err);

#endif
