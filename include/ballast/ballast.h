/* Everything. */
#ifndef BALLAST_BALLAST_H
#define BALLAST_BALLAST_H

#include "ballast/batch.h"
#include "ballast/curve.h"
#include "ballast/error.h"
#include "ballast/experiment.h"
#include "ballast/figure.h"
#include "ballast/fit.h"
#include "ballast/fluid.h"
#include "ballast/frontier.h"
#include "ballast/known.h"
#include "ballast/lab.h"
#include "ballast/law.h"
#include "ballast/log.h"
#include "ballast/model.h"
#include "ballast/number.h"
#include "ballast/paths.h"
#include "ballast/policy.h"
#include "ballast/price.h"
#include "ballast/random.h"
#include "ballast/replay.h"
#include "ballast/report.h"
#include "ballast/set.h"
#include "ballast/simulate.h"
#include "ballast/stats.h"
#include "ballast/stealing.h"
#include "ballast/store.h"
#include "ballast/theory.h"
#include "ballast/trace.h"
#include "ballast/tune.h"

#endif
