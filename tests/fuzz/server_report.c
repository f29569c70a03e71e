/* SPDX-License-Identifier: BSD-2-Clause */
/* Whatever bytes an app sends: a report whose numbers are in range, or none. */
#include "ballast/live/server_report.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_number(double value) {
    assert(isnan(value) || (value >= 0 && value <= BAL_LOAD_VALUE_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct bal_load_fields fields[] = {
        {.running = ""}, {.running = "a.b", .waiting = "named_metrics.w", .utilization = "cpu_utilization"}};
    for (int i = 0; i < 2; i++) {
        struct bal_load_report report = {-1, -1, -1};
        const bool good = bal_load_report_read(&fields[i], (const char *)data, size, &report);
        check_number(report.running);
        check_number(report.waiting);
        check_number(report.utilization);
        assert(good || (isnan(report.running) && isnan(report.waiting) && isnan(report.utilization)));
        assert(!good || size <= BAL_LOAD_LENGTH);
    }
    return 0;
}
