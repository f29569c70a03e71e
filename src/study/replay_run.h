/* Replays of cases, with what the search for a fleet needs besides. */
#ifndef STUDY_REPLAY_RUN_H
#define STUDY_REPLAY_RUN_H

#include "study/blocks.h"

/* As bal_replay_run. blocks: those drawn for the seed. sums: one for each replication of each case, those of
 * a case one behind the other: jobs that took longer than the target over all jobs, or response times over
 * jobs where the mean is wanted; may be NULL. */
enum bal_code bal_replay_run_counting(const struct bal_replay *replay, const struct bal_blocks *blocks,
                                      const struct bal_case *cases, size_t count,
                                      const struct bal_lab_options *options,
                                      struct bal_replay_outcome *outcome, struct bal_span_sums *sums,
                                      struct bal_error *err);

#endif
