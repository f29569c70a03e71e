/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the bytes: events of a network, or one line of error. And events must survive printing. */
#include "ballast/network.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct bal_error *err, enum bal_code code) {
    assert(err->code == code && code == BAL_E_SYNTAX && err->text[0] == '\'');
    for (const char *c = err->text; *c; c++)
        assert((unsigned char)*c >= ' ' && *c != 0x7f);
}

static void check_event(const struct bli_network_event *event) {
    assert(event->kind < BLI_NETWORK_EVENT_KINDS);
    assert(event->at >= 0 && isfinite(event->at) && event->length >= 0 && isfinite(event->length));
    assert(event->share > 0 && event->share <= 1 && event->dispatchers > 0 && event->dispatchers <= 1);
    assert(event->down > 0 && isfinite(event->down));
    if (event->kind == BLI_EVENT_CUT || event->kind == BLI_EVENT_LOSS)
        assert(event->length > 0);
}

static void check_text(const struct bli_network_events *events) {
    const size_t length = bli_network_events_print(events, NULL, 0);
    char *text = malloc(length + 1);
    assert(text);
    assert(bli_network_events_print(events, text, length + 1) == length && strlen(text) == length);
    struct bli_network_events back;
    assert(bli_network_events_parse(text, &back, NULL) == BAL_OK && back.count == events->count);
    for (unsigned i = 0; i < events->count; i++) {
        const struct bli_network_event *a = &events->event[i], *b = &back.event[i];
        assert(a->kind == b->kind && a->at == b->at && a->length == b->length && a->share == b->share &&
               a->dispatchers == b->dispatchers && a->down == b->down);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    assert(text);
    memcpy(text, data, size);
    text[size] = '\0';
    struct bli_network_events events;
    struct bal_error err;
    const enum bal_code code = bli_network_events_parse(text, &events, &err);
    if (code) {
        check_error(&err, code);
    } else {
        assert(events.count <= BLI_NETWORK_EVENTS_MAX);
        for (unsigned i = 0; i < events.count; i++)
            check_event(&events.event[i]);
        check_text(&events);
    }
    free(text);
    return 0;
}
