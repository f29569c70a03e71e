/* SPDX-License-Identifier: BSD-2-Clause */
/* Includes all headers of libballast. */
#ifndef BALLAST_BALLAST_H
#define BALLAST_BALLAST_H

#include "ballast/error.h"
#include "ballast/plugin.h"
#include "ballast/policy.h"
#include "ballast/question.h"
#include "ballast/random.h"
#include "ballast/set.h"
#include "ballast/version.h"

#endif
