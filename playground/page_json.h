/* SPDX-License-Identifier: BSD-2-Clause */
/* JSON that is gathered in memory and printed to the page in one piece. */
#ifndef PLAYGROUND_PAGE_JSON_H
#define PLAYGROUND_PAGE_JSON_H

#include "host.h"

#include "base/strbuf.h"
#include "format/json.h"

#include <stdlib.h>
#include <string.h>

struct page_json {
    struct bli_strbuf gather;
    struct json json;
};

/* NULL: no memory; nothing needs closing. */
static inline struct json *page_json_open(struct page_json *out) {
    if (!bli_strbuf_open(&out->gather)) {
        static const char text[] = "not enough memory";
        page_tell(text, sizeof text - 1);
        return NULL;
    }
    bli_json_init(&out->json, out->gather.stream);
    return &out->json;
}

static inline void page_json_close(struct page_json *out) {
    if (bli_strbuf_close(&out->gather))
        page_print(out->gather.text, strlen(out->gather.text));
    free(out->gather.text);
}

#endif
