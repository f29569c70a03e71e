/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads that use the processor for a given time each. */
#ifndef SERVE_BURN_H
#define SERVE_BURN_H

#include <stdbool.h>
#include <stdint.h>

struct burn;
struct burn_work;

struct burn *burn_new(unsigned threads); /* as many as can ever be at work at a time; NULL: errno says why */
int burn_event(const struct burn *burn); /* can be read when something has ended */
/* So much processor time, and then the id is returned by burn_ended(). Valid until then, or until it is
 * cancelled. NULL: no memory. */
struct burn_work *burn_begin(struct burn *burn, uint32_t id, double seconds);
void burn_cancel(struct burn_work *work);         /* gives it up; its id is not returned */
bool burn_ended(struct burn *burn, uint32_t *id); /* the next that has ended; false: none */
void burn_free(struct burn *burn);                /* gives up what has not ended; or NULL */

#endif
