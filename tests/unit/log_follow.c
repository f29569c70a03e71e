/* SPDX-License-Identifier: BSD-2-Clause */
/* Logs that grow: lines in pieces, files that are cut and replaced, what is no line. */
#include "ballast/log.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { TAKEN = 4000 };

struct world {
    char directory[40], path[60], other[60];
    struct bli_log_options options;
    struct bli_log_summary summary;
    struct bli_log_tail *follow;
    size_t taken;
    int64_t time[TAKEN];
};

static enum bal_code take(void *context, const struct bli_log_record *record, struct bal_error *err) {
    struct world *w = context;
    (void)err;
    assert_true(w->taken < TAKEN);
    w->time[w->taken++] = (record->job.time + record->job.size) / 1000000000;
    return BAL_OK;
}

static void put(const char *path, const char *mode, const char *text) {
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void begin(struct world *w, uint64_t most) {
    *w = (struct world){.directory = "follow.XXXXXX"};
    assert_non_null(mkdtemp(w->directory));
    snprintf(w->path, sizeof w->path, "%s/log", w->directory);
    snprintf(w->other, sizeof w->other, "%s/log.1", w->directory);
    w->options = (struct bli_log_options){.take = take, .take_context = w};
    put(w->path, "w", "time,duration_s\n100.5,1\n101.5,1\n");
    assert_int_equal(bli_log_tail_new(w->path, most, &w->options, &w->summary, &w->follow, NULL), BAL_OK);
    assert_int_equal(bli_log_tail_poll(w->follow, NULL), BAL_OK);
}

static void end(struct world *w) {
    bli_log_tail_free(w->follow);
    bli_log_summary_fini(&w->summary);
    unlink(w->path);
    unlink(w->other);
    assert_int_equal(rmdir(w->directory), 0);
}

static void poll_for(struct world *w, size_t wanted) {
    assert_int_equal(bli_log_tail_poll(w->follow, NULL), BAL_OK);
    assert_int_equal(w->taken, wanted);
}

static void lines_in_pieces(void **state) {
    (void)state;
    struct world w;
    begin(&w, 1 << 20);
    assert_int_equal(w.taken, 2);
    put(w.path, "a", "10");
    poll_for(&w, 2);
    put(w.path, "a", "2.5,");
    poll_for(&w, 2);
    put(w.path, "a", "1\n103.5,1\n104.5");
    poll_for(&w, 4);
    put(w.path, "a", ",1");
    poll_for(&w, 4);
    assert_int_equal(bli_log_tail_end(w.follow, NULL), BAL_OK); /* a last line may have no end */
    assert_int_equal(w.taken, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(w.time[i], 100 + (int64_t)i);
    end(&w);
}

static void replaced_in_the_middle_of_a_line(void **state) {
    (void)state;
    struct world w;
    begin(&w, 1 << 20);
    put(w.path, "a", "102.5,1\n103.5,");
    poll_for(&w, 3);
    assert_int_equal(rename(w.path, w.other), 0);
    poll_for(&w, 3);
    put(w.path, "w", ""); /* nothing is there yet, and the old one still grows */
    poll_for(&w, 3);
    put(w.other, "a", "1\n104.5,1\n105");
    poll_for(&w, 5);
    put(w.path, "w", "time,duration_s\n106.5,1\n107.5,1\n");
    poll_for(&w, 5); /* seen for the first time */
    put(w.other, "a", ",");
    poll_for(&w, 7);
    assert_int_equal(w.time[5], 106);
    assert_int_equal(w.summary.skipped[BLI_LOG_MALFORMED] + w.summary.skipped[BLI_LOG_TRUNCATED] +
                         w.summary.skipped[BLI_LOG_NO_SERVICE],
                     1);
    assert_int_equal(bli_log_tail_restarts(w.follow), 1);
    put(w.path, "a", "108.5,1\n");
    poll_for(&w, 8);
    end(&w);
}

static void cut_and_written_anew(void **state) {
    (void)state;
    struct world w;
    begin(&w, 1 << 20);
    put(w.path, "a", "102.5,1\n10");
    poll_for(&w, 3);
    put(w.path, "w", "103.5,1\n");
    poll_for(&w, 3); /* taken for the header, which stands at the beginning of such files */
    put(w.path, "a", "104.5,1\n");
    poll_for(&w, 4);
    assert_int_equal(bli_log_tail_restarts(w.follow), 1);
    end(&w);
}

static void what_is_no_line(void **state) {
    (void)state;
    struct world w;
    begin(&w, 1 << 20);
    put(w.path, "a", "\x01\x02\xff\xfe,\x7f\n,,,\n\n102.5,1\n1e999,nan\n103.5,-5\n");
    poll_for(&w, 3);
    char *text = malloc((3 << 20) + 1);
    assert_non_null(text);
    memset(text, 'x', 3 << 20);
    text[3 << 20] = 0;
    put(w.path, "a", text); /* longer than any line */
    poll_for(&w, 3);
    put(w.path, "a", text);
    poll_for(&w, 3);
    put(w.path, "a", "\n104.5,1\n");
    poll_for(&w, 4);
    assert_int_equal(w.time[3], 104);
    assert_int_equal(w.summary.skipped[BLI_LOG_TOO_LONG], 1);
    uint64_t skipped = 0;
    for (unsigned i = 0; i < BLI_LOG_REASON_COUNT; i++)
        skipped += w.summary.skipped[i];
    assert_int_equal(skipped, 5);
    free(text);
    end(&w);
}

/* Of a long log the end is read, from a whole line on. */
static void the_end_of_a_long_log(void **state) {
    (void)state;
    struct world w;
    begin(&w, 50);
    end(&w);
    w = (struct world){.directory = "follow.XXXXXX"};
    assert_non_null(mkdtemp(w.directory));
    snprintf(w.path, sizeof w.path, "%s/log", w.directory);
    w.options = (struct bli_log_options){.take = take, .take_context = &w};
    put(w.path, "w", "time,duration_s\n");
    for (int i = 1000; i < 3000; i++) {
        char line[40];
        snprintf(line, sizeof line, "%d.5,1\n", i);
        put(w.path, "a", line);
    }
    assert_int_equal(bli_log_tail_new(w.path, 26, &w.options, &w.summary, &w.follow, NULL), BAL_OK);
    poll_for(&w, 2); /* 26 bytes are 2 lines and a part of the one before */
    assert_int_equal(w.time[0], 2998);
    assert_true(bli_log_tail_skipped(w.follow));
    end(&w);
}

static void nothing_yet(void **state) {
    (void)state;
    struct world w = {.directory = "follow.XXXXXX"};
    struct bal_error err = {0};
    assert_non_null(mkdtemp(w.directory));
    snprintf(w.path, sizeof w.path, "%s/log", w.directory);
    w.options = (struct bli_log_options){.take = take, .take_context = &w};
    assert_int_equal(bli_log_tail_new(w.path, 1, &w.options, &w.summary, &w.follow, &err), BAL_E_IO);
    bli_log_summary_fini(&w.summary);
    put(w.path, "w", "");
    assert_int_equal(bli_log_tail_new(w.path, 1 << 20, &w.options, &w.summary, &w.follow, &err), BAL_OK);
    poll_for(&w, 0);
    put(w.path, "a", "what is\n"); /* which no format explains: more may */
    poll_for(&w, 0);
    assert_non_null(bli_log_tail_problem(w.follow));
    for (int i = 0; i < 1000; i++)
        put(w.path, "a", "this?\n");
    assert_int_equal(bli_log_tail_poll(w.follow, &err), BAL_E_FORMAT);
    end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_in_pieces),       cmocka_unit_test(replaced_in_the_middle_of_a_line),
        cmocka_unit_test(cut_and_written_anew),  cmocka_unit_test(what_is_no_line),
        cmocka_unit_test(the_end_of_a_long_log), cmocka_unit_test(nothing_yet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
