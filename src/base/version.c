/* SPDX-License-Identifier: BSD-2-Clause */
/* The version of the library that is loaded. */
#include "ballast/version.h"

const char *bal_version(void) {
    return BALLAST_VERSION;
}
