/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever a server answers: the same is read from it whether it comes at once or byte by byte, no byte is
 * used twice, and nothing is complete that is not. */
#include "load/http_response.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_over(const struct http_response *answer) {
    return answer->state == RESPONSE_DONE || answer->state == RESPONSE_BAD;
}

/* Takes it in pieces; returns how many bytes were used. */
static size_t take(struct http_response *answer, const char *data, size_t size, size_t piece) {
    size_t done = 0;
    bli_http_response_init(answer);
    while (done < size && !is_over(answer)) {
        const size_t part = piece < size - done ? piece : size - done;
        const size_t used = bli_http_response_parse(answer, data + done, part);
        assert(used <= part && (used == part || is_over(answer)));
        done += used;
    }
    return done;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct http_response *whole = malloc(sizeof *whole), *bytes = malloc(sizeof *bytes);
    assert(whole && bytes);
    const size_t used = take(whole, (const char *)data, size, size ? size : 1);
    const size_t used_bytes = take(bytes, (const char *)data, size, 1);
    assert((whole->state == RESPONSE_BAD) == (bytes->state == RESPONSE_BAD));
    if (whole->state != RESPONSE_BAD) {
        assert(used == used_bytes && whole->state == bytes->state && whole->status == bytes->status);
        assert(whole->keep == bytes->keep && whole->id == bytes->id && whole->left == bytes->left);
        assert(whole->state != RESPONSE_DONE || (whole->status >= 100 && whole->status <= 599));
        assert(bli_http_response_finish(whole) == bli_http_response_finish(bytes));
    }
    free(whole);
    free(bytes);
    return 0;
}
