/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: a change or a file of changes, or one line of error with its place. What was read
 * survives printing, and the strict reader and the one that skips agree on what is JSON. */
#include "control/changes.h"

#include "format/json_reader.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code && (code == BAL_E_SYNTAX || code == BAL_E_RANGE));
    assert(err->text[0] && strlen(err->text) < sizeof err->text);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static bool is_json(const char *text, size_t size) {
    struct json_reader r;
    bli_json_reader_init(&r, text, size);
    return bli_json_reader_skip(&r) && bli_json_reader_end(&r);
}

static void check_change(const char *text, size_t size, bool add) {
    struct bli_change change, again;
    struct bal_error err;
    char printed[BLI_CHANGE_TEXT], whole[BLI_CHANGE_TEXT + 2];
    bli_change_init(&change, "u", "");
    const enum bal_code code = bli_change_read(text, size, add, &change, &err);
    if (code) {
        check_error(&err, code);
        return;
    }
    assert(is_json(text, size));
    assert(change.state <= BLI_STATE_DOWN && change.presence <= BLI_SERVER_ADDED_BACKUP);
    assert(add == (change.presence != BLI_SERVER_CONFIGURED) && add == (change.server[0] != '\0'));
    const size_t length = bli_change_print(&change, printed);
    assert(length == strlen(printed));
    snprintf(whole, sizeof whole, "{%s}", printed);
    bli_change_init(&again, "u", change.server);
    again.presence = change.presence;
    assert(!*printed || bli_change_read(whole, strlen(whole), false, &again, &err) == BAL_OK);
    assert(memcmp(&again, &change, sizeof again) == 0);
}

static void check_printing(const struct bli_changes *changes, struct bli_changes *again) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert(out);
    bli_changes_print(changes, out);
    fclose(out);
    assert(bli_changes_read(text, length, again, NULL) == BAL_OK);
    assert(again->generation == changes->generation && again->count == changes->count);
    for (uint32_t i = 0; i < again->count; i++)
        assert(memcmp(&again->change[i], &changes->change[i], sizeof again->change[i]) == 0);
    for (size_t cut = length > 200 ? length - 200 : 0; cut + 2 < length; cut++) /* the last is a newline */
        assert(bli_changes_read(text, cut, again, NULL) == BAL_E_SYNTAX && again->count == 0);
    free(text);
}

static void check_file(const char *text, size_t size) {
    static struct bli_changes changes, again;
    struct bal_error err;
    const enum bal_code code = bli_changes_read(text, size, &changes, &err);
    if (code) {
        check_error(&err, code);
        assert(changes.count == 0);
        return;
    }
    assert(is_json(text, size) && changes.count <= BLI_CHANGES_MAX);
    check_printing(&changes, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size ? size : 1); /* not terminated: nothing may be read behind it */
    assert(text);
    memcpy(text, data, size);
    check_change(text, size, false);
    check_change(text, size, true);
    check_file(text, size);
    free(text);
    return 0;
}
