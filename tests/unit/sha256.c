/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 against the published examples of FIPS 180-4, and all lengths around a block against one another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/sha256.h"

#include <stdlib.h>
#include <string.h>

static void has_hash(const void *data, size_t size, const char *expected) {
    char text[BLI_SHA256_TEXT];
    bli_sha256(data, size, text);
    assert_string_equal(text, expected);
}

static void published_examples(void **state) {
    (void)state;
    static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    has_hash("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    has_hash("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    has_hash(two, strlen(two), "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = malloc(1000000);
    assert_non_null(million);
    memset(million, 'a', 1000000);
    has_hash(million, 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

/* A byte more or another one is another hash, wherever the padding falls. */
static void every_byte_counts(void **state) {
    (void)state;
    unsigned char data[140] = {0};
    char text[140][BLI_SHA256_TEXT], changed[BLI_SHA256_TEXT];
    for (size_t size = 0; size < sizeof data; size++) {
        bli_sha256(data, size, text[size]);
        for (size_t i = 0; i < size; i++)
            assert_string_not_equal(text[size], text[i]);
        if (size == 0)
            continue;
        data[size - 1] = 1;
        bli_sha256(data, size, changed);
        data[size - 1] = 0;
        assert_string_not_equal(text[size], changed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_examples),
        cmocka_unit_test(every_byte_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
