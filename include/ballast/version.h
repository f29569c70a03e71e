/* The version of Ballast, the tiers of its headers, and the rules for threads.
 *
 * The headers are in three tiers. *Policy* is version.h, error.h, random.h, set.h and policy.h: what a
 * dispatcher needs that hosts policies. It is all that libballast-policy contains, which needs only libc and
 * libm; within a major version (before 1.0: a minor version) nothing in it is removed or changes its meaning.
 * *Live* is the headers in live/: what dispatchers, stations and keepers of a live fleet are made of, in
 * libballast-live, which needs libsodium besides. *Lab* is everything else, in libballast. Live and lab may
 * change with every minor version. Both of their libraries hold the policies too: link one of the three.
 *
 * Threads, in all: there is no hidden state, so that calls on different objects never interfere. Two threads
 * may use one object at the same time only where all that they do takes it as const, or where a header allows
 * more (policy.h for a policy's state, store.h for a store). No function installs signal handlers or changes
 * the locale. */
#ifndef BALLAST_VERSION_H
#define BALLAST_VERSION_H

#define BALLAST_VERSION_MAJOR 0
#define BALLAST_VERSION_MINOR 1
#define BALLAST_VERSION_PATCH 0
#define BALLAST_VERSION "0.1.0"
/* For comparisons: #if BALLAST_VERSION_NUMBER >= BALLAST_VERSION_OF(0, 1, 0) */
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
