/* SPDX-License-Identifier: BSD-2-Clause */
/* What the module tells of requests and of its fleet, as the twin takes it. */
#include "twin/parse_requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void take(void *context, const struct bli_trace_job *job) {
    char *highs = context;
    highs[strlen(highs)] = job->high ? 'h' : 'l';
}

/* Which of eight requests, of classes 0 to 7, are high? */
static const char *highs_of(const char *classes) {
    static char highs[16];
    char text[2000];
    int used = snprintf(text, sizeof text,
                        "{\"schema\":1,\"upstream\":\"u\",\"station\":false,%s\"first\":7,\"next\":15,"
                        "\"lost\":0,\"fields\":[\"number\",\"arrived_seconds\",\"wait_us\",\"service_us\","
                        "\"server\",\"class\",\"status\",\"reason\"]}\n",
                        classes);
    for (int i = 0; i < 8; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "[%d,1.000000,1,2,0,%d,200,\"token\"]\n",
                         7 + i, i);
    struct bli_ring_head head;
    memset(highs, 0, sizeof highs);
    assert_int_equal(bli_ring_read(text, (size_t)used, &head, take, highs, NULL), BAL_OK);
    return highs;
}

static void urgent_requests_are_high(void **unused) {
    (void)unused;
    assert_string_equal(highs_of("\"classes\":8,"), "hhhlllll");
    assert_string_equal(highs_of("\"classes\":2,"), "hlllllll");
    assert_string_equal(highs_of("\"classes\":1,"), "llllllll");
    assert_string_equal(highs_of(""), "llllllll");
}

static void servers_that_get_no_requests_are_counted(void **unused) {
    (void)unused;
    static const char text[] = "{\"schema\":1,\"dispatchers\":[{\"upstream\":\"u\",\"policy\":\"jiq\","
                               "\"stations\":true,\"slots\":2,\"class\":\"$http_priority\",\"servers\":["
                               "{\"name\":\"a\",\"state\":\"busy\"},{\"name\":\"b\",\"state\":\"ejected\"},"
                               "{\"name\":\"c\",\"state\":\"down\"},{\"name\":\"d\",\"state\":\"off\"},"
                               "{\"name\":\"e\",\"state\":\"silent\"},{\"name\":\"f\",\"state\":\"closed\"},"
                               "{\"name\":\"g\",\"state\":\"draining\"}]}]}";
    struct bli_ring_fleet fleet;
    assert_int_equal(bli_ring_fleet(text, strlen(text), NULL, &fleet, NULL, NULL), BAL_OK);
    assert_int_equal(fleet.servers, 5);
    assert_int_equal(fleet.away, 3);
    assert_int_equal(fleet.slots, 2);
    assert_true(fleet.stations);
    assert_string_equal(fleet.class, "$http_priority");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(urgent_requests_are_high),
                                       cmocka_unit_test(servers_that_get_no_requests_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
