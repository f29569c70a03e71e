/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits on the desired states: minimum and maximum number of apps on, and the minimum time that an app is
 * on.
 *
 * Stations and dispatchers request starts and stops. A request is the desired state of the app until the
 * limits allow passing it on to its core. A start that would exceed the maximum waits until another app is
 * off; a stop that would leave too few waits until another app is wanted. Where fewer than `least` are
 * wanted, one is started without a request: preferably one that is on anyway, then one whose last start did
 * not fail.
 *
 * A replica is also started when a higher place of its replicas is, and stopped only after those above it
 * (ballast/live/scaler.h). */
#ifndef KEEPER_BOUNDS_H
#define KEEPER_BOUNDS_H

#include "app.h"

#include "ballast/random.h"

/* Passes on the requests that the limits allow. */
void bounds_apply(const struct config *config, struct app *const *app, size_t count, uint64_t now,
                  struct bal_rng *rng);

#endif
