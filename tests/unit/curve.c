/* SPDX-License-Identifier: BSD-2-Clause */
/* Curves of load: what is read, what is refused, values, and the way back to text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/curve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct bli_curve parsed(const char *text) {
    struct bli_curve curve;
    struct bal_error err = {0};
    if (bli_curve_parse(text, &curve, &err))
        fail_msg("%s", err.text);
    return curve;
}

static void is(const struct bli_curve *curve, double time, double wanted) {
    const double value = bli_curve_at(curve, time);
    if (!(fabs(value - wanted) < 1e-12))
        fail_msg("at %g it is %.15g, not %.15g", time, value, wanted);
}

static void has_the_values_it_says(void **unused) {
    (void)unused;
    const struct bli_curve constant = parsed("constant");
    is(&constant, 0, 1);
    is(&constant, 1e9, 1);
    assert_true(bli_curve_max(&constant) == 1);
    const struct bli_curve sine = parsed("sine(0.4, 8)");
    is(&sine, 0, 1);
    is(&sine, 2, 1.4);
    is(&sine, 6, 0.6);
    is(&sine, 9, 1 + 0.4 * sin(acos(-1) / 4));
    assert_true(bli_curve_max(&sine) == 1.4);
    const struct bli_curve table = parsed("table(1:0.5 3:2  4:0)");
    is(&table, -5, 0.5);
    is(&table, 1, 0.5);
    is(&table, 2, 1.25);
    is(&table, 3, 2);
    is(&table, 3.25, 1.5);
    is(&table, 4, 0);
    is(&table, 100, 0);
    assert_true(bli_curve_max(&table) == 2);
    const struct bli_curve point = parsed("table(7:0.3)");
    is(&point, 0, 0.3);
    is(&point, 8, 0.3);
}

/* A table that repeats begins again after its last time, as often as one likes. */
static void tables_repeat(void **unused) {
    (void)unused;
    const struct bli_curve table = parsed("table(1:0.5 3:2 4:0) repeat");
    for (double start = 0; start < 1000; start += 4) {
        is(&table, start + 0.5, 0.5);
        is(&table, start + 2, 1.25);
        is(&table, start + 3.25, 1.5);
    }
    is(&table, 4, 0.5);
    assert_true(isinf(bli_curve_end(&table)) && bli_curve_max(&table) == 2);
    const struct bli_curve once = parsed("table(1:0.5 3:2 4:0)"), sine = parsed("sine(0.4,8)"),
                           constant = parsed("constant");
    assert_true(bli_curve_end(&once) == 4);
    assert_true(isinf(bli_curve_end(&sine)) && isinf(bli_curve_end(&constant)));
}

static void prints_what_it_reads(void **unused) {
    (void)unused;
    static const char *const texts[] = {"constant",   "sine(0.4,8)",          "sine(1,62.83185307179586)",
                                        "table(0:1)", "table(1:0.5 3:2 4:0)", "table(1:0.5 3:2) repeat"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct bli_curve curve = parsed(texts[i]);
        char text[200];
        const size_t length = bli_curve_print(&curve, text, sizeof text);
        assert_string_equal(text, texts[i]);
        assert_int_equal(length, strlen(texts[i]));
        char small[5];
        assert_int_equal(bli_curve_print(&curve, small, sizeof small), length);
        assert_true(strlen(small) < sizeof small && strncmp(small, texts[i], strlen(small)) == 0);
    }
}

static void refuses_what_is_no_curve(void **unused) {
    (void)unused;
    static const char *const texts[] = {
        "",
        "cosine(1,2)",
        "sine",
        "sine(0.5)",
        "sine(2,10)",
        "sine(-0.1,10)",
        "sine(0.5,0)",
        "sine(0.5,)",
        "sine(0.5,8) x",
        "sine(nan,8)",
        "table()",
        "table(1)",
        "table(1:)",
        "table(1:2",
        "table(1:-1)",
        "table(2:1 1:1)",
        "table(1:1 1:2)",
        "table(0:0)",
        "table(1:inf)",
        "table(a:b)",
        "table(1:1)x",
        "table(1:1)repeat",
        "table(1:1) repeat repeat",
        "table(1:1 repeat)",
        "table(0:1) repeat",
        "table(-2:1 -1:2) repeat",
        "sine(0.4,8) repeat",
        "constant repeat",
        "file(/nonexistent/curve) repeat",
        "file()",
        "file(/nonexistent/curve)",
        "file(x",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct bli_curve curve = {.kind = BLI_CURVE_SINE, .period = 42};
        struct bal_error err = {0};
        if (bli_curve_parse(texts[i], &curve, &err) == BAL_OK)
            fail_msg("'%s' was read", texts[i]);
        assert_true(err.text[0] && curve.period == 42);
    }
}

static void too_many_points_are_refused(void **unused) {
    (void)unused;
    char text[8000] = "table(";
    for (int i = 0; i <= BLI_CURVE_POINTS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:1", i ? " " : "", i);
    strcat(text, ")");
    struct bli_curve curve;
    assert_int_equal(bli_curve_parse(text, &curve, NULL), BAL_E_RANGE);
}

/* Writes a file, reads it as a curve and removes it. */
static enum bal_code read_file(const char *content, struct bli_curve *curve, struct bal_error *err) {
    char path[] = "/tmp/ballast-curve-XXXXXX", text[100];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, content, strlen(content)), (ssize_t)strlen(content));
    close(file);
    snprintf(text, sizeof text, "file(%s) repeat", path);
    enum bal_code code = bli_curve_parse(text, curve, err);
    assert_true(code || curve->repeat);
    snprintf(text, sizeof text, "file(%s)", path);
    code = bli_curve_parse(text, curve, err);
    unlink(path);
    return code;
}

/* What has no end, or would be waited for, is refused at once, in a line that says what it is. */
static void reads_plain_files_alone(void **unused) {
    (void)unused;
    char directory[] = "/tmp/ballast-curve-XXXXXX", fifo[100], text[200];
    assert_non_null(mkdtemp(directory));
    snprintf(fifo, sizeof fifo, "%s/fifo", directory);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const struct {
        const char *path, *said;
    } cases[] = {
        {"/dev/zero", "a device"}, {"/dev/null", "a device"}, {fifo, "a pipe"}, {directory, "a directory"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bli_curve curve;
        struct bal_error err = {0};
        snprintf(text, sizeof text, "file(%s)", cases[i].path);
        assert_int_equal(bli_curve_parse(text, &curve, &err), BAL_E_IO);
        if (!strstr(err.text, cases[i].path) || !strstr(err.text, cases[i].said) || strchr(err.text, '\n'))
            fail_msg("%s", err.text);
    }
    unlink(fifo);
    rmdir(directory);
}

/* A gigabyte that is not there takes no time, and zeros are not empty lines. */
static void refuses_large_files_and_zeros(void **unused) {
    (void)unused;
    char path[] = "/tmp/ballast-curve-XXXXXX", text[100];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    struct bli_curve curve;
    struct bal_error err = {0};
    snprintf(text, sizeof text, "file(%s)", path);
    assert_int_equal(ftruncate(file, 1 << 30), 0);
    assert_int_equal(bli_curve_parse(text, &curve, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, "1073741824 bytes"));
    assert_int_equal(ftruncate(file, 0), 0);
    assert_int_equal(write(file, "0 1\n\0\n2 2\n", 10), 10);
    assert_int_equal(bli_curve_parse(text, &curve, &err), BAL_E_SYNTAX);
    assert_non_null(strstr(err.text, "zero byte"));
    close(file);
    unlink(path);
}

static void reads_files(void **unused) {
    (void)unused;
    struct bli_curve curve;
    struct bal_error err = {0};
    if (read_file("# hours, load\n0 0.5\n\n12, 1.5 # noon\n24:0.5", &curve, &err))
        fail_msg("%s", err.text);
    is(&curve, 6, 1);
    is(&curve, 24, 0.5);
    char text[100];
    bli_curve_print(&curve, text, sizeof text);
    assert_string_equal(text, "table(0:0.5 12:1.5 24:0.5)");
    assert_int_equal(read_file("0 1\n1 two\n", &curve, &err), BAL_E_SYNTAX);
    assert_non_null(strstr(err.text, ":2: "));
    assert_int_equal(read_file("0 1 2\n", &curve, &err), BAL_E_SYNTAX);
    assert_int_equal(read_file("1 1\n0 1\n", &curve, &err), BAL_E_SYNTAX);
    assert_int_equal(read_file("# nothing\n", &curve, &err), BAL_E_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_the_values_it_says),
        cmocka_unit_test(prints_what_it_reads),
        cmocka_unit_test(refuses_what_is_no_curve),
        cmocka_unit_test(too_many_points_are_refused),
        cmocka_unit_test(reads_files),
        cmocka_unit_test(tables_repeat),
        cmocka_unit_test(reads_plain_files_alone),
        cmocka_unit_test(refuses_large_files_and_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
