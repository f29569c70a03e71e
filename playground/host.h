/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface between the web page and the library. playground.js calls the exported functions and defines
 * the imported ones. */
#ifndef PLAYGROUND_HOST_H
#define PLAYGROUND_HOST_H

#include "ballast/policy.h"

#include <stddef.h>
#include <stdint.h>

#define FROM_PAGE(name) __attribute__((import_module("page"), import_name(#name)))
#define TO_PAGE(name) __attribute__((export_name(#name)))

/* Functions of the page: print results, print one line with an error, show progress. */
FROM_PAGE(print) void page_print(const char *text, size_t size);
FROM_PAGE(tell) void page_tell(const char *text, size_t size);
FROM_PAGE(progress) void page_progress(double part);
/* ... and its own policy: returns a server, or does not return. */
FROM_PAGE(route) uint32_t page_route(uint32_t servers, uint32_t rank);

/* A buffer for the words of a command, one after another, each terminated by a 0. They stay until the next
 * call. */
TO_PAGE(words) char *play_words(size_t size);
char **play_split(int count);

/* `ballast compare` with so many words, the first of which is "compare". */
TO_PAGE(compare) int play_compare(int count);

/* The cases of such a comparison, at most 64. Not 0: failed, and page_tell was called with the reason.
 * (settings.c) */
struct bli_case;
int play_settings(int count, struct bli_case *cases, size_t *policies);

/* The tables of policies and settings, as JSON. */
TO_PAGE(tables) void play_tables(void);

/* ---- picture.c ---- */

enum { PLAY_VIEWS = 4, PLAY_EVENTS = 4096 };

/* What a server looks like. */
struct play_server {
    uint16_t length, urgent; /* jobs there, and the urgent ones among them */
    uint16_t running;        /* jobs in service */
    uint8_t power;           /* 0 on, 1 off, 2 in set-up, 3 down */
    uint8_t marks; /* 1: a dispatcher holds its token; 2: answers fast and wrongly; 4: an urgent job is
                      in service */
};

enum play_kind {
    PLAY_ARRIVAL,  /* a job comes to dispatcher `from` */
    PLAY_PROBE,    /* dispatcher `from` asks server `to` */
    PLAY_SEND,     /* a job goes from dispatcher `from` to server `to` */
    PLAY_HOLD,     /* it waits at dispatcher `from` */
    PLAY_COMPLETE, /* a job leaves server `from` */
    PLAY_TOKEN,    /* server `from` reports to dispatcher `to` that it is idle */
    PLAY_REPORT,   /* ... or something else */
    PLAY_WAKE,     /* dispatcher `from` starts server `to` */
    PLAY_MOVE,     /* a job moves, or is stolen: from one server to another */
    PLAY_FAILURE,  /* server `from` reports a failed job */
    PLAY_POWER,    /* server `from` is now in another state */
};

struct play_event {
    double time;
    uint32_t view, kind, from, to;
    uint32_t rank, lasts; /* lasts: the message takes time */
};

/* Opens a picture of the policies in the words of a comparison. With `keep`, a picture that was open goes on
 * with its queues. Prints a description of what is shown as JSON. Not 0: failed, and page_tell was called
 * with the reason. */
TO_PAGE(open) int play_open(int count, int keep);
/* The time of the earliest next event of all policies. */
TO_PAGE(next) double play_next(void);
/* Runs at most so many events, up to a time, and records them if `noted`. Returns how many there were. */
TO_PAGE(advance) uint32_t play_advance(uint32_t events, double until, int noted);
TO_PAGE(now) double play_now(void);
TO_PAGE(events) const struct play_event *play_events(void);
TO_PAGE(event_count) uint32_t play_event_count(void);
TO_PAGE(servers) const struct play_server *play_servers(uint32_t view);
/* Prints what each policy has measured so far, as JSON. */
TO_PAGE(measure) void play_measure(void);

/* ---- yours.c ---- */

extern const struct bal_policy play_yours;
/* For the policy of the page while it decides. */
TO_PAGE(yours_queue) uint32_t play_yours_queue(uint32_t server);
TO_PAGE(yours_own) uint32_t play_yours_own(uint32_t server);
TO_PAGE(yours_weight) double play_yours_weight(uint32_t server);
TO_PAGE(yours_random) double play_yours_random(void);

#endif
