/* SPDX-License-Identifier: BSD-2-Clause */
/* Text gathered in memory: all of it, or the news that something is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/strbuf.h"

#include <string.h>

static void all_that_is_written_is_there(void **state) {
    (void)state;
    struct bli_strbuf gather;
    assert_true(bli_strbuf_open(&gather));
    for (int i = 0; i < 100000; i++)
        fprintf(gather.stream, "%05d ", i);
    fputc('\0', gather.stream);
    assert_true(bli_strbuf_close(&gather));
    assert_null(gather.stream);
    assert_int_equal(gather.size, 600001);
    assert_int_equal(strlen(gather.text), 600000);
    for (int i = 0; i < 100000; i++) {
        char number[16];
        snprintf(number, sizeof number, "%05d ", i);
        assert_memory_equal(gather.text + 6 * i, number, 6);
    }
    bli_strbuf_discard(&gather);
    bli_strbuf_discard(&gather);
}

static void nothing_is_a_text_too(void **state) {
    (void)state;
    struct bli_strbuf gather;
    assert_true(bli_strbuf_open(&gather));
    assert_true(bli_strbuf_close(&gather));
    assert_string_equal(gather.text, "");
    bli_strbuf_discard(&gather);
}

static void what_was_lost_is_not_forgotten(void **state) {
    (void)state;
    struct bli_strbuf gather;
    assert_true(bli_strbuf_open(&gather));
    fputs("one ", gather.stream);
    assert_false(ferror(gather.stream));
    bli_stream_mark_incomplete(gather.stream);
    assert_true(ferror(gather.stream));
    fputs("three", gather.stream);
    assert_false(bli_strbuf_close(&gather));
    assert_null(gather.text);
}

static void a_stream_that_was_never_opened_closes_as_lost(void **state) {
    (void)state;
    struct bli_strbuf gather = {0};
    assert_false(bli_strbuf_close(&gather));
    bli_strbuf_discard(&gather);
}

/* Standard output and files know it as well. */
static void any_stream_can_lose(void **state) {
    (void)state;
    FILE *file = fopen("/dev/null", "w");
    fputs("text", file);
    bli_stream_mark_incomplete(file);
    assert_true(ferror(file));
    fclose(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_written_is_there),
        cmocka_unit_test(nothing_is_a_text_too),
        cmocka_unit_test(what_was_lost_is_not_forgotten),
        cmocka_unit_test(a_stream_that_was_never_opened_closes_as_lost),
        cmocka_unit_test(any_stream_can_lose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
