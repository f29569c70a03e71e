/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes of servers at run time: the table, what they do to a server, their JSON, and the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "control/changes.h"
#include "format/json_reader.h"

static struct bli_changes table;

static struct bli_change change_of(const char *upstream, const char *server) {
    struct bli_change change;
    assert_true(bli_change_init(&change, upstream, server));
    return change;
}

static struct bli_change patched(const char *body) {
    struct bli_change change = change_of("u", "a:1");
    struct bal_error err = {0};
    if (bli_change_read(body, strlen(body), false, &change, &err))
        fail_msg("%s: %s", body, err.text);
    return change;
}

static void refuses(const char *body, bool add, const char *text) {
    struct bli_change change = change_of("u", "a:1");
    struct bal_error err = {0};
    assert_int_equal(bli_change_read(body, strlen(body), add, &change, &err), BAL_E_SYNTAX);
    if (!strstr(err.text, text))
        fail_msg("%s: '%s' does not say '%s'", body, err.text, text);
}

/* ---- the table ---- */

static void put_change(const char *upstream, const char *server, uint32_t state) {
    struct bli_change change = change_of(upstream, server);
    change.state = state;
    assert_int_equal(bli_changes_put(&table, &change, NULL), BAL_OK);
}

static void finds_what_was_put(void **context) {
    uint32_t count;
    (void)context;
    table.count = 0;
    put_change("v", "b:1", BLI_STATE_DOWN);
    put_change("u", "c:1", BLI_STATE_DRAIN);
    put_change("u", "a:1", BLI_STATE_UP);
    put_change("uu", "a:1", BLI_STATE_UP);
    put_change("u", "a:1", BLI_STATE_DOWN);
    assert_int_equal(table.count, 4);
    assert_int_equal(bli_changes_find(&table, "u", "a:1")->state, BLI_STATE_DOWN);
    assert_null(bli_changes_find(&table, "u", "b:1"));
    assert_null(bli_changes_find(&table, "w", "z:9"));
    assert_string_equal(bli_changes_of(&table, "u", &count)->server, "a:1");
    assert_int_equal(count, 2);
    put_change("u", "a:1", BLI_STATE_CONFIGURED); /* nothing is changed any longer */
    assert_null(bli_changes_find(&table, "u", "a:1"));
    assert_int_equal(bli_changes_remove(&table, "u", "x:1"), 0);
    assert_int_equal(bli_changes_remove(&table, "u", NULL), 1);
    assert_int_equal(bli_changes_remove(&table, "v", "b:1"), 1);
    assert_int_equal(table.count, 1);
    assert_non_null(bli_changes_find(&table, "uu", "a:1"));
}

static void is_full_at_last(void **context) {
    char name[16];
    (void)context;
    table.count = 0;
    for (int i = 0; i < BLI_CHANGES_MAX; i++) {
        snprintf(name, sizeof name, "s%d", (i * 997) % BLI_CHANGES_MAX);
        put_change("u", name, BLI_STATE_DOWN);
    }
    struct bli_change more = change_of("u", "more");
    struct bal_error err;
    assert_int_equal(bli_changes_put(&table, &more, &err), BAL_OK); /* it changes nothing */
    more.state = BLI_STATE_DOWN;
    assert_int_equal(bli_changes_put(&table, &more, &err), BAL_E_RANGE);
    put_change("u", "s7", BLI_STATE_UP); /* a known one can still be changed */
    assert_int_equal(table.count, BLI_CHANGES_MAX);
    for (uint32_t i = 1; i < table.count; i++)
        assert_true(strcmp(table.change[i - 1].server, table.change[i].server) < 0);
}

/* ---- what it does ---- */

static void changes_a_server(void **context) {
    struct bal_dispatcher_server s = {.name = "a:1", .weight = 3, .max_conns = 5, .down = true};
    (void)context;
    const struct bli_change up = patched("{\"state\":\"up\",\"weight\":7}");
    assert_true(bli_change_apply(&up, &s));
    assert_true(!s.down && !s.drain && s.weight == 7 && s.max_conns == 5 && s.slots == 0);
    const struct bli_change drain = patched("{\"state\":\"drain\",\"max_conns\":0,\"slots\":4}");
    assert_true(bli_change_apply(&drain, &s));
    assert_true(!s.down && s.drain && s.weight == 7 && s.max_conns == 0 && s.slots == 4);
    const struct bli_change down = patched("{\"state\":\"down\"}");
    assert_true(bli_change_apply(&down, &s) && s.down && !s.drain);
    struct bli_change removed = change_of("u", "a:1");
    removed.presence = BLI_SERVER_REMOVED;
    assert_false(bli_change_apply(&removed, &s));
}

/* ---- JSON ---- */

static void keeps_what_is_not_named(void **context) {
    struct bli_change change = patched(" {\n\"state\" : \"drain\" , \"weight\":2}\n");
    static const char body[] = "{\"weight\":null,\"slots\":1.6e1}";
    (void)context;
    assert_int_equal(bli_change_read(body, strlen(body), false, &change, NULL), BAL_OK);
    assert_true(change.state == BLI_STATE_DRAIN && change.weight == BLI_AS_CONFIGURED && change.slots == 16);
    char text[BLI_CHANGE_TEXT];
    const size_t length = bli_change_print(&change, text);
    assert_int_equal(length, strlen(text));
    assert_string_equal(text, "\"state\":\"drain\",\"slots\":16");
}

static void reads_a_new_server(void **context) {
    static const char body[] = "{\"server\":\"10.0.0.1:80\",\"backup\":true,\"max_conns\":9}";
    struct bli_change change = change_of("u", "");
    (void)context;
    assert_int_equal(bli_change_read(body, strlen(body), true, &change, NULL), BAL_OK);
    assert_string_equal(change.server, "10.0.0.1:80");
    assert_true(change.presence == BLI_SERVER_ADDED_BACKUP && change.max_conns == 9);
}

static void refuses_what_is_wrong(void **context) {
    (void)context;
    refuses("", false, "line 1, column 1: an object");
    refuses("[]", false, "an object");
    refuses("{}", false, "no field");
    refuses("{\"weight\":0}", false, "line 1, column 12: weight is a whole number from 1 to 1000000");
    refuses("{\"weight\":1.5}", false, "weight is a whole number");
    refuses("{\"weight\":01}", false, "no number of JSON");
    refuses("{\"weight\":\"2\"}", false, "a number is missing");
    refuses("{\"weight\":1e999}", false, "too large");
    refuses("{\"max_conns\":-1}", false, "max_conns is a whole number");
    refuses("{\"state\":\"off\"}", false, "state is \"up\", \"drain\" or \"down\"");
    refuses("{\"state\":\"up\",}", false, "a string is missing");
    refuses("{\"state\":\"up\" \"weight\":1}", false, "a ',' or '}' is missing");
    refuses("{\"state\":\"up\",\"state\":\"up\"}", false, "twice");
    refuses("{\"state\":\"up\"}{}", false, "something follows");
    refuses("{\"state\":\"up\"", false, "a ',' or '}' is missing");
    refuses("{\"wieght\":1}", false, "unknown field");
    refuses("{\"server\":\"b:1\"}", false, "unknown field");
    refuses("{\n\"presence\":\"removed\"}", false, "line 2, column 12: an unknown field");
    refuses("{\"weight\":1}", true, "field server is missing");
    refuses("{\"server\":\"a b\"}", true, "a name needs characters, without spaces");
    refuses("{\"server\":\"a\\u0000\"}", true, "U+0000");
    refuses("{\"server\":\"\\ud800\"}", true, "surrogate");
    refuses("{\"server\":\"\xff\"}", true, "UTF-8");
}

static char *printed(size_t *length) {
    char *text = NULL;
    FILE *out = open_memstream(&text, length);
    assert_non_null(out);
    bli_changes_print(&table, out);
    fclose(out);
    return text;
}

static void keeps_a_file(void **context) {
    static struct bli_changes back;
    struct bli_change added = change_of("v", "unix:/run/\"x\"");
    size_t length;
    (void)context;
    table.count = 0;
    table.generation = UINT64_C(1) << 50;
    put_change("u", "[::1]:80", BLI_STATE_DRAIN);
    added.presence = BLI_SERVER_ADDED;
    added.weight = 4;
    assert_int_equal(bli_changes_put(&table, &added, NULL), BAL_OK);
    char *text = printed(&length);
    assert_int_equal(bli_changes_read(text, length, &back, NULL), BAL_OK);
    assert_true(back.count == 2 && back.generation == table.generation);
    assert_memory_equal(back.change, table.change, 2 * sizeof table.change[0]);
    for (size_t cut = 0; cut + 1 < length; cut++) { /* the last byte ends the line */
        struct bal_error err;
        assert_int_equal(bli_changes_read(text, cut, &back, &err), BAL_E_SYNTAX);
        assert_true(back.count == 0 && err.text[0]);
    }
    free(text);
}

/* Otherwise the next start would refuse the file, and lose all changes with it. */
static void refuses_what_a_file_cannot_keep(void **context) {
    static const char *const bad[] = {"my app", "a\nb", "\x7f", "\xff", "\xe2\x80", ""};
    struct bal_error err;
    (void)context;
    table.count = 0;
    for (size_t i = 0; i < 2 * sizeof bad / sizeof *bad; i++) {
        struct bli_change change = i % 2 ? change_of("u", bad[i / 2]) : change_of(bad[i / 2], "a:1");
        change.state = BLI_STATE_DRAIN;
        assert_int_equal(bli_changes_put(&table, &change, &err), BAL_E_SYNTAX);
    }
    assert_int_equal(table.count, 0);
    put_change("\xe2\x98\x83", "unix:/\xc3\xa9", BLI_STATE_DRAIN);
    assert_int_equal(table.count, 1);
}

static void refuses_a_file(const char *text, const char *fault) {
    static struct bli_changes back;
    struct bal_error err;
    assert_int_equal(bli_changes_read(text, strlen(text), &back, &err), BAL_E_SYNTAX);
    if (!strstr(err.text, fault))
        fail_msg("%s: '%s' does not say '%s'", text, err.text, fault);
}

/* As the module of 0.1.0 wrote it. */
static void reads_a_file_of_an_earlier_version(void **context) {
    (void)context;
    const char *root = getenv("BALLAST_SOURCE");
    char path[4096], text[4096];
    snprintf(path, sizeof path, "%s/tests/older/servers.json", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    struct bal_error err = {0};
    if (bli_changes_read(text, size, &table, &err))
        fail_msg("%s", err.text);
    assert_int_equal(table.count, 4);
    assert_int_equal(table.policies, 0);
    assert_int_equal(table.generation, 1795116282896);
    assert_int_equal(bli_changes_find(&table, "app", "127.0.0.1:18281")->state, BLI_STATE_DRAIN);
    assert_int_equal(bli_changes_find(&table, "app", "127.0.0.1:18282")->presence, BLI_SERVER_REMOVED);
    assert_int_equal(bli_changes_find(&table, "app", "127.0.0.1:18283")->weight, 5);
    assert_int_equal(bli_changes_find(&table, "app", "127.0.0.1:18283")->max_conns, 7);
    assert_int_equal(bli_changes_find(&table, "app", "127.0.0.1:18284")->presence, BLI_SERVER_ADDED);
}

static void knows_foreign_files(void **context) {
    (void)context;
    refuses_a_file("server 10.0.0.1:80 down;\n", "line 1, column 1: an object");
    refuses_a_file("{\"schema\":1}", "this is no file of ballast_state");
    refuses_a_file("{\"ballast_state\":2,\"generation\":1,\"changes\":[]}", "another version");
    refuses_a_file("{\"ballast_state\":1,\"generation\":1}", "this is no file of ballast_state");
    refuses_a_file("{\"ballast_state\":1,\"generation\":-1,\"changes\":[]}", "generation");
    refuses_a_file("{\"ballast_state\":1,\"generation\":1,\"changes\":[{\"server\":\"a\"}]}",
                   "upstream is missing");
    refuses_a_file("{\"ballast_state\":1,\"generation\":1,\"changes\":[{\"upstream\":\"u\",\"server\":\"a\","
                   "\"state\":\"down\"},{\"upstream\":\"u\",\"server\":\"a\",\"state\":\"up\"}]}",
                   "a server that stands here twice");
}

/* ---- the reader ---- */

static bool skips(const char *text) {
    struct json_reader r;
    bli_json_reader_init(&r, text, strlen(text));
    return bli_json_reader_skip(&r) && bli_json_reader_end(&r);
}

static void skips_any_value(void **context) {
    (void)context;
    assert_true(skips("{\"a\":[1,{\"b\":[]},\"x\\ud83d\\ude00\"],\"c\":{},\"d\":null}"));
    assert_true(skips(" [ ] ") && skips("-0.5e+3") && skips("true") && skips("\"\""));
    assert_false(skips("[1,]") || skips("[,1]") || skips("{\"a\"}") || skips("{1:2}") || skips("[1 2]"));
    assert_false(skips("nul") || skips("+1") || skips(".5") || skips("1.") || skips("\"\t\"") || skips("[}"));
    assert_false(skips("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]")); /* 33 */
    assert_true(skips("[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"));    /* 32 */
}

/* ---- policies ---- */

static void policies_are_kept_by_upstream(void **context) {
    struct bal_error err = {0};
    char *text = NULL;
    size_t size = 0;
    (void)context;
    memset(&table, 0, sizeof table);
    put_change("u", "a:1", BLI_STATE_DOWN);
    assert_null(bli_changes_policy(&table, "u"));
    assert_int_equal(bli_changes_set_policy(&table, "u", "random", &err), BAL_OK);
    assert_int_equal(bli_changes_set_policy(&table, "v", "jsq", &err), BAL_OK);
    assert_int_equal(bli_changes_set_policy(&table, "u", "pod:d=2", &err), BAL_OK);
    assert_int_equal(bli_changes_set_policy(&table, "a b", "jsq", &err), BAL_E_SYNTAX);
    assert_int_equal(table.policies, 2);
    FILE *out = open_memstream(&text, &size);
    bli_changes_print(&table, out);
    fclose(out);
    static struct bli_changes read;
    assert_int_equal(bli_changes_read(text, size, &read, &err), BAL_OK);
    assert_string_equal(bli_changes_policy(&read, "u"), "pod:d=2");
    assert_string_equal(bli_changes_policy(&read, "v"), "jsq");
    assert_int_equal(read.count, 1);
    assert_int_equal(bli_changes_remove(&read, "u", NULL), 2); /* the server and the policy */
    assert_null(bli_changes_policy(&read, "u"));
    assert_int_equal(bli_changes_set_policy(&read, "v", NULL, &err), BAL_OK);
    assert_int_equal(read.policies, 0);
    free(text);
}

static void reads_a_policy(const char *body, enum bal_code code, const char *policy) {
    char text[BLI_POLICY_NAME];
    struct bal_error err = {0};
    assert_int_equal(bli_policy_change_read(body, strlen(body), text, &err), code);
    if (!code)
        assert_string_equal(text, policy);
}

static void bodies_of_policies(void **context) {
    (void)context;
    reads_a_policy("{\"policy\": \"pod:d=2\"}", BAL_OK, "pod:d=2");
    reads_a_policy("{\"policy\": null}", BAL_OK, "");
    reads_a_policy("{}", BAL_E_SYNTAX, "");
    reads_a_policy("{\"policy\": \"\"}", BAL_E_SYNTAX, "");
    reads_a_policy("{\"policy\": 3}", BAL_E_SYNTAX, "");
    reads_a_policy("{\"policy\": \"a\", \"policy\": \"b\"}", BAL_E_SYNTAX, "");
    reads_a_policy("{\"weight\": 3}", BAL_E_SYNTAX, "");
    reads_a_policy("{\"policy\": \"a\"} x", BAL_E_SYNTAX, "");
    reads_a_policy("", BAL_E_SYNTAX, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_put),
        cmocka_unit_test(is_full_at_last),
        cmocka_unit_test(changes_a_server),
        cmocka_unit_test(keeps_what_is_not_named),
        cmocka_unit_test(reads_a_new_server),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(keeps_a_file),
        cmocka_unit_test(reads_a_file_of_an_earlier_version),
        cmocka_unit_test(knows_foreign_files),
        cmocka_unit_test(skips_any_value),
        cmocka_unit_test(refuses_what_a_file_cannot_keep),
        cmocka_unit_test(policies_are_kept_by_upstream),
        cmocka_unit_test(bodies_of_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
