/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of Ballast, the tiers of its headers, and the rules for threads.
 *
 * The headers are in three tiers. *Policy* is version.h, error.h, random.h, set.h, policy.h and plugin.h:
 * what a dispatcher needs that hosts policies. It is all that libballast-policy contains, which needs only
 * libc and libm. *Live* is stealing.h and the headers in live/: what dispatchers, stations and keepers of a
 * live fleet are made of, in libballast-live, which needs libsodium besides. *Questions* are question.h, in
 * libballast. Within a major version nothing in the three is removed or changes its meaning. Live and
 * questions hold the policies too: link one of the three.
 *
 * Threads, in all: calls on different objects never interfere. The first two tiers have no hidden state;
 * question.h says what the third keeps for the process. Two threads may use one object at the same time only
 * where all that they do takes it as const, or where a header allows more (policy.h for a policy's state). No
 * function installs signal handlers or changes the locale. */
#ifndef BALLAST_VERSION_H
#define BALLAST_VERSION_H

/* These are the numbers of meson.build, which compares them. */
#define BALLAST_VERSION_MAJOR 1
#define BALLAST_VERSION_MINOR 0
#define BALLAST_VERSION_PATCH 0
#define BALLAST_VERSION_QUOTE(text) #text
#define BALLAST_VERSION_TEXT(major, minor, patch)                                                            \
    BALLAST_VERSION_QUOTE(major) "." BALLAST_VERSION_QUOTE(minor) "." BALLAST_VERSION_QUOTE(patch)
/* A text, "1.2.3". */
#define BALLAST_VERSION                                                                                      \
    BALLAST_VERSION_TEXT(BALLAST_VERSION_MAJOR, BALLAST_VERSION_MINOR, BALLAST_VERSION_PATCH)
/* For comparisons: #if BALLAST_VERSION_NUMBER >= BALLAST_VERSION_OF(1, 0, 0) */
#define BALLAST_VERSION_OF(major, minor, patch) (((major)*1000 + (minor)) * 1000 + (patch))
#define BALLAST_VERSION_NUMBER                                                                               \
    BALLAST_VERSION_OF(BALLAST_VERSION_MAJOR, BALLAST_VERSION_MINOR, BALLAST_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {
#endif

/* That of the library which is loaded; BALLAST_VERSION is that of the headers. */
const char *bal_version(void);

#ifdef __cplusplus
}
#endif
#endif
