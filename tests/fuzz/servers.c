/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: a fleet or one line of error. And a fleet must survive printing. */
#include "ballast/model.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code && code != BAL_E_MEMORY);
    assert(strncmp(err->text, "servers '", 9) == 0);
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_fleet(const struct bli_servers *servers) {
    assert(servers->groups >= 1 && servers->groups <= BLI_GROUPS_MAX);
    uint64_t count = 0;
    for (unsigned g = 0; g < servers->groups; g++) {
        count += servers->group[g].count;
        assert(servers->group[g].count >= 1);
        assert(servers->group[g].speed > 0 && isfinite(servers->group[g].speed));
    }
    assert(count == bli_servers_count(servers) && count <= BLI_SERVERS_MAX);
    assert(bli_servers_capacity(servers) > 0 && isfinite(bli_servers_capacity(servers)));
}

static void check_text(const struct bli_servers *servers) {
    const size_t length = bli_servers_print(servers, NULL, 0);
    char *text = malloc(length + 1), *again = malloc(length + 1);
    assert(text && again);
    assert(bli_servers_print(servers, text, length + 1) == length && strlen(text) == length);
    struct bli_servers back;
    assert(bli_servers_parse(text, &back, NULL) == BAL_OK);
    assert(back.groups == servers->groups);
    for (unsigned g = 0; g < servers->groups; g++)
        assert(back.group[g].count == servers->group[g].count &&
               back.group[g].speed == servers->group[g].speed);
    assert(bli_servers_print(&back, again, length + 1) == length && strcmp(text, again) == 0);
    free(text);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    struct bli_servers servers;
    struct bal_error err;
    const enum bal_code code = bli_servers_parse(text, &servers, &err);
    if (code) {
        check_error(&err, code);
    } else {
        check_fleet(&servers);
        check_text(&servers);
    }
    free(text);
    return 0;
}
