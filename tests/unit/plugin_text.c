/* SPDX-License-Identifier: BSD-2-Clause */
/* How policies from files are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plugin/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

static void paths_end_in_so(void **state) {
    (void)state;
    assert_true(bli_plugin_is_path("./mine.so"));
    assert_true(bli_plugin_is_path("mine.so:d=3"));
    assert_true(bli_plugin_is_path("/a.so.d/mine.so@" HASH ":d=3"));
    assert_false(bli_plugin_is_path("pod:d=3"));
    assert_false(bli_plugin_is_path("mine.sofa"));
    assert_false(bli_plugin_is_path("mine.so@" HASH "0"));
    assert_string_equal(bli_plugin_params("/a.so/mine.so@" HASH ":d=3"), ":d=3");
    assert_string_equal(bli_plugin_params("mine.so"), "");
    assert_true(bli_plugin_is_pinned("mine.so@" HASH));
    assert_false(bli_plugin_is_pinned("mine.so:d=3"));
}

static void the_same_file_by_another_path(void **state) {
    (void)state;
    static const char pinned[] = "/home/me/mine.so@" HASH ":d=3";
    assert_true(bli_plugin_is_same(pinned, "./mine.so:d=3"));
    assert_true(bli_plugin_is_same(pinned, "mine.so:d=3"));
    assert_true(bli_plugin_is_same(pinned, "me/mine.so:d=3"));
    assert_true(bli_plugin_is_same(pinned, "/home/me/mine.so:d=3"));
    assert_false(bli_plugin_is_same(pinned, "./mine.so"));
    assert_false(bli_plugin_is_same(pinned, "ine.so:d=3"));
    assert_false(bli_plugin_is_same(pinned, "/me/mine.so:d=3"));
    assert_false(bli_plugin_is_same(pinned, "/far/away/home/me/mine.so:d=3"));
    assert_false(bli_plugin_is_same("random", "./mine.so"));
}

/* Relative to another file, absolute in the end, and with the hash of the contents. */
static void files_are_named_for_good(void **state) {
    (void)state;
    char directory[] = "/tmp/plugin_textXXXXXX", path[100], expected[300];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/x.so", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("abc", file);
    fclose(file);
    char beside[100], *pinned, *real = realpath(path, NULL);
    snprintf(beside, sizeof beside, "%s/x.yaml", directory);
    struct bal_error err = {0};
    assert_int_equal(bli_plugin_pin("./x.so:d=3", beside, &pinned, &err), BAL_OK);
    snprintf(expected, sizeof expected,
             "%s@ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad:d=3", real);
    assert_string_equal(pinned, expected);
    free(pinned);
    free(real);
    assert_int_equal(bli_plugin_pin("./x.so@" HASH, beside, &pinned, &err), BAL_E_MODEL);
    assert_non_null(strstr(err.text, "is another one now"));
    assert_int_equal(bli_plugin_pin("./y.so", beside, &pinned, &err), BAL_E_IO);
    remove(path);
    rmdir(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_end_in_so),
        cmocka_unit_test(the_same_file_by_another_path),
        cmocka_unit_test(files_are_named_for_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
