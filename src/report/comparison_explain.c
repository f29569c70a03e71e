/* SPDX-License-Identifier: BSD-2-Clause */
/* Explains a table of policies in three sentences: the best policy; its cost and the alternatives; and which
 * rows are not reliable. Each sentence is about rows that support it: rows without a mean, doubted and
 * undecided rows, and rows that chance may have ordered are described as such. */
#include "report/comparison.h"

#include "base/strbuf.h"
#include "format/table.h"
#include "report/sizes.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct story {
    const struct comparison *comparison;
    const size_t *order; /* best first */
    char text[2000];
    size_t used;
};

static void append_text(struct story *story, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append_text(struct story *story, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t room = sizeof story->text - story->used;
    const int length = vsnprintf(story->text + story->used, room, format, arguments);
    va_end(arguments);
    story->used += length < 0 ? 0 : (size_t)length < room ? (size_t)length : room - 1;
}

static const struct bli_result *result_at(const struct story *story, size_t place) {
    return &story->comparison->results[story->order[place]];
}

static const struct bal_policy *policy_at(const struct story *story, size_t place) {
    return story->comparison->cases[story->order[place]].policy.policy;
}

static void write_name(struct story *story, size_t place) {
    append_text(story, "%s", bli_policy_name(&story->comparison->cases[story->order[place]].policy).text);
}

static struct bli_estimate mean_at(const struct story *story, size_t place) {
    return result_at(story, place)->metric[BLI_RESPONSE_MEAN];
}

/* Does it have a mean without doubts? */
static bool is_sure(const struct story *story, size_t place) {
    const struct bli_result *result = result_at(story, place);
    return bli_comparison_has_means(result) && result->verdict == BLI_STABLE && result->doubts == 0;
}

/* May the order of the two be due to chance? Without intervals it may. */
static bool may_be_equal(struct bli_estimate a, struct bli_estimate b) {
    return !(fabs(a.mean - b.mean) > a.half_width + b.half_width);
}

/* The first place from `place` on with a sure row that need not know sizes, or the number of rows. */
static size_t next_sure(const struct story *story, size_t place, bool blind) {
    while (place < story->comparison->count &&
           !(is_sure(story, place) && !(blind && *bli_sizes_mark(policy_at(story, place)))))
        place++;
    return place;
}

/* ---- first: what is best ---- */

static void write_best(struct story *story, size_t best, bool blind) {
    const struct bli_estimate mean = mean_at(story, best);
    const double p99 = result_at(story, best)->metric[BLI_RESPONSE_P99].mean;
    append_text(story, "A job is answered soonest under ");
    write_name(story, best);
    append_text(story, ", in %.3g on average", mean.mean);
    if (p99 > 0)
        append_text(story, " and within %.3g in 99 of 100 cases", p99);
    const size_t second = next_sure(story, best + 1, blind);
    if (second == story->comparison->count) {
        append_text(story, "; no other row that can be relied on is there to compare it with. ");
        return;
    }
    append_text(story, "; ");
    write_name(story, second);
    if (may_be_equal(mean, mean_at(story, second)))
        append_text(story, " comes next, and this run cannot tell the two apart. ");
    else
        append_text(story, " comes next and takes %.2g %% longer. ",
                    100 * (mean_at(story, second).mean / mean.mean - 1));
}

static void write_nothing_sure(struct story *story) {
    size_t means = 0, unstable = 0;
    for (size_t i = 0; i < story->comparison->count; i++) {
        means += bli_comparison_has_means(result_at(story, i));
        unstable += result_at(story, i)->replications > 0 && result_at(story, i)->verdict == BLI_UNSTABLE;
    }
    if (means > 0)
        append_text(story,
                    "No row can be relied on: whatever has a mean is doubted, or stable or not is undecided. "
                    "Do not choose by this table yet. ");
    else if (unstable == story->comparison->count)
        append_text(
            story,
            "Every policy here is unstable: queues grow for as long as the run lasts, so that there are "
            "no response times to compare. Lower the load, add servers, or try policies that know more "
            "of the servers. ");
    else
        append_text(
            story,
            "There is no mean to compare: what was measured is unstable or is no job at all. Run longer "
            "(--jobs), or lower the load. ");
}

/* ---- second: what to do ---- */

/* The one that costs fewest messages of those that are within a twentieth of the best, or of chance. */
static size_t cheapest_near(const struct story *story, size_t best, bool blind) {
    size_t cheapest = best;
    for (size_t i = next_sure(story, best + 1, blind); i < story->comparison->count;
         i = next_sure(story, i + 1, blind)) {
        const bool near = mean_at(story, i).mean <= 1.05 * mean_at(story, best).mean ||
                          may_be_equal(mean_at(story, i), mean_at(story, best));
        if (near && result_at(story, i)->metric[BLI_MESSAGES_PER_JOB].mean <
                        result_at(story, cheapest)->metric[BLI_MESSAGES_PER_JOB].mean - 0.005)
            cheapest = i;
    }
    return cheapest;
}

static void write_advice(struct story *story, size_t best, bool blind) {
    const size_t cheapest = cheapest_near(story, best, blind);
    append_text(story, "Use ");
    write_name(story, cheapest);
    char messages[32];
    snprintf(messages, sizeof messages, "%.2g",
             result_at(story, cheapest)->metric[BLI_MESSAGES_PER_JOB].mean);
    append_text(story, ": it takes %s message%s a job and %.3g bits of memory", messages,
                strcmp(messages, "1") == 0 ? "" : "s", result_at(story, cheapest)->memory_bits);
    if (cheapest != best) {
        append_text(story, ", where ");
        write_name(story, best);
        append_text(story, ", hardly faster, takes %.2g",
                    result_at(story, best)->metric[BLI_MESSAGES_PER_JOB].mean);
    }
    append_text(story, "%s. ",
                *bli_sizes_mark(policy_at(story, cheapest)) ? ", but must know the size of every job" : "");
}

/* ---- third: what not to believe ---- */

static void write_caution(struct story *story) {
    size_t unstable = 0, doubted = 0, sizes = 0, rows = story->comparison->count;
    for (size_t i = 0; i < rows; i++) {
        const struct bli_result *result = result_at(story, i);
        unstable += result->replications > 0 && result->verdict == BLI_UNSTABLE;
        doubted += bli_comparison_has_means(result) && !is_sure(story, i);
        sizes += *bli_sizes_mark(policy_at(story, i)) != 0;
    }
    const char *are = unstable == 1 ? "is" : "are", *doubts = doubted == 1 ? "is" : "are";
    if (story->comparison->cut_short)
        append_text(story, "The run was interrupted, so that intervals are wider than they would have been");
    else if (unstable > 0 && doubted > 0)
        append_text(
            story,
            "%zu of %zu rows %s unstable at this load, not slow, and %zu %s doubted or undecided: longer or "
            "more runs (--jobs, --replications) would tell",
            unstable, rows, are, doubted, doubts);
    else if (unstable > 0)
        append_text(story, "%zu of %zu rows %s unstable at this load: not slow, but never catching up",
                    unstable, rows, are);
    else if (doubted > 0)
        append_text(
            story,
            "%zu of %zu rows %s doubted or undecided: longer or more runs (--jobs, --replications) would "
            "tell",
            doubted, rows, doubts);
    else
        append_text(story,
                    "Every row is stable and none is doubted; \u00b1 is a 95 %% interval over replications");
    append_text(story, "%s.", sizes > 0 ? ", and rows with * need to know what no proxy knows" : "");
}

void bli_comparison_explain(const struct comparison *comparison, FILE *out) {
    size_t *order = malloc((comparison->count + 1) * sizeof *order);
    if (!order) {
        bli_stream_mark_incomplete(out);
        return;
    }
    bli_comparison_order(comparison->results, comparison->count, order);
    struct story story = {.comparison = comparison, .order = order};
    const size_t blind = next_sure(&story, 0, true);
    const bool others = blind < comparison->count; /* policies that need not know sizes come first */
    const size_t best = others ? blind : next_sure(&story, 0, false);
    if (best == comparison->count) {
        write_nothing_sure(&story);
    } else {
        write_best(&story, best, others);
        write_advice(&story, best, others);
    }
    write_caution(&story);
    fputc('\n', out);
    bli_table_wrap("", story.text, 0, out);
    free(order);
}
