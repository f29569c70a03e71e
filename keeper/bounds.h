/* Which of the wishes may come true: least and most apps on, and the shortest time that an app is on.
 *
 * Stations and dispatchers ask; what they ask for is a wish of the app until the limits allow to pass it on
 * to its core. A wake that would be one too many waits until another app is off; a rest that would leave too
 * few waits until another app is wanted. Where fewer than `least` are wanted one is woken unasked: best one
 * that is on anyway, then one whose last start did not fail. */
#ifndef KEEPER_BOUNDS_H
#define KEEPER_BOUNDS_H

#include "app.h"

#include "ballast/random.h"

/* Passes on what may be passed on. */
void bounds_apply(const struct config *config, struct app *const *app, size_t count, uint64_t now,
                  struct bal_rng *rng);

#endif
