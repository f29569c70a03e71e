/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever the text: an expression over columns, or one line of error; and a time in its range, or none. */
#include "log/expression.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = calloc(1, size + 1);
    assert(text);
    memcpy(text, data, size);
    struct bli_log_expression expression;
    struct bal_error err;
    const enum bal_code code = bli_log_expression_parse(text, &expression, &err);
    if (code) {
        assert(code == BAL_E_SYNTAX && err.code == code && *err.text);
        for (const char *c = err.text; *c; c++)
            assert((unsigned char)*c >= ' ' && *c != 0x7f);
    } else {
        static const char *const numbers[] = {"0", "1", "374", "0.5", "1e300", "-", "5e-05", ""};
        struct bli_log_span fields[BLI_LOG_EXPRESSION_COLUMNS];
        int field[BLI_LOG_EXPRESSION_COLUMNS];
        assert(expression.steps > 0 && expression.columns <= BLI_LOG_EXPRESSION_COLUMNS);
        for (int shift = 0; shift < 8; shift++) {
            for (int i = 0; i < BLI_LOG_EXPRESSION_COLUMNS; i++) {
                const char *number = numbers[(i + shift) % 8];
                fields[i] = (struct bli_log_span){number, strlen(number)};
                field[i] = i;
            }
            int64_t value;
            if (bli_log_expression_value(&expression, fields, field, &value))
                assert(value >= 0);
        }
    }
    free(text);
    return 0;
}
