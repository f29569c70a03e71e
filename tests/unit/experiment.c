/* SPDX-License-Identifier: BSD-2-Clause */
/* Experiment files: what they mean, and what is said when they mean nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/experiment.h"

#include "spec/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A good beginning, five lines, to which a test adds what it is about. */
#define START                                                                                                \
    "title: x\n"                                                                                             \
    "fleet: {servers: 20}\n"                                                                                 \
    "workload: {load: 0.5}\n"                                                                                \
    "policies: [jsq, 'pod:d=2', {policy: 'pod:d=3', label: three}]\n"                                        \
    "run: {jobs: 1k, replications: 4}\n"

static struct bli_experiment *read_mode(const char *text, enum bli_mode mode) {
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    if (bli_experiment_parse(text, strlen(text), "dir/t.yaml", mode, &e, &err))
        fail_msg("%s", err.text);
    return e;
}

static struct bli_experiment *read_text(const char *text) {
    return read_mode(text, BLI_MODE_PLAIN);
}

static struct bli_case cell(const struct bli_experiment *e, size_t point, size_t policy) {
    struct bli_case c;
    bli_experiment_case(e, point, policy, &c);
    return c;
}

static void plain_parts(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text(START "about: >\n  two\n  lines\npaper: pi\nsection: '5'\nseed: 7\nbaseline: three\n"
                        "metrics: [queue.tail.3, waiting.p99]\n");
    assert_string_equal(e->name, "t");
    assert_string_equal(e->title, "x");
    assert_string_equal(e->about, "two lines\n");
    assert_string_equal(e->paper, "pi");
    assert_string_equal(e->section, "5");
    assert_int_equal(e->seed, 7);
    assert_int_equal(e->points, 1);
    assert_int_equal(e->axes, 0);
    assert_int_equal(e->policies, 3);
    assert_string_equal(e->policy[1].label, "pod:d=2");
    assert_string_equal(e->policy[2].label, "three");
    assert_int_equal(e->baseline, 2);
    assert_int_equal(e->metrics, 2);
    assert_int_equal(e->metric[0].metric, BLI_METRIC_COUNT);
    assert_int_equal(e->metric[0].level, 3);
    assert_int_equal(e->metric[1].metric, BLI_WAITING_P99);
    const struct bli_case c = cell(e, 0, 2);
    assert_int_equal(bli_servers_count(&c.model.servers), 20);
    assert_true(c.model.load == 0.5);
    assert_true(c.run.time == 100); /* 1000 jobs at 10 a unit of time */
    assert_true(isnan(c.run.warmup));
    assert_int_equal(c.replications, 4);
    assert_true(c.policy.value[0] == 3);
    bli_experiment_free(e);
}

/* The canonical text of every setting is read back as the same setting, and the default is canonical. */
static void settings_print_what_they_read(void **state) {
    (void)state;
    const struct bli_field *setting;
    for (size_t i = 0; (setting = bli_setting_at(i, NULL)); i++) {
        static struct bli_draft draft, untouched;
        bli_draft_init(&draft);
        bli_draft_init(&untouched);
        char text[BLI_SETTING_TEXT];
        assert_false(bli_setting_print(setting, &draft, text));
        assert_string_equal(text, setting->default_value ? setting->default_value : "");
        setting->print(&draft, text, sizeof text); /* not by comparing values */
        assert_string_equal(text, setting->default_value ? setting->default_value : "");
        if (setting->default_value && *setting->default_value) {
            assert_int_equal(bli_setting_read(setting, setting->default_value, &draft, NULL), BAL_OK);
            assert_memory_equal(&draft, &untouched, sizeof draft);
        }
        if (setting->cli_default) {
            assert_int_equal(bli_setting_read(setting, setting->cli_default, &draft, NULL), BAL_OK);
            assert_true(bli_setting_print(setting, &draft, text));
            assert_string_equal(text, setting->cli_default);
        }
    }
}

/* The error names the text, and the draft is as it was. */
static void settings_refuse_nonsense(void **state) {
    (void)state;
    const struct bli_field *setting;
    for (size_t i = 0; (setting = bli_setting_at(i, NULL)); i++) {
        static struct bli_draft draft, before;
        bli_draft_init(&draft);
        before = draft;
        struct bal_error err = {0};
        assert_int_not_equal(bli_setting_read(setting, "nonsense!", &draft, &err), BAL_OK);
        assert_non_null(strstr(err.text, "nonsense!"));
        assert_memory_equal(&draft, &before, sizeof draft);
    }
}

/* Files of former times are read as before: stores keep their text. */
static void older_names_are_read(void **state) {
    (void)state;
    static const char *const lengths[] = {"slots: 500", "time: 500"};
    for (size_t i = 0; i < 2; i++) {
        char text[300];
        snprintf(text, sizeof text,
                 "title: x\nfleet: {servers: 5}\nworkload: {clock: slotted, load: 0.5}\npolicies: [pi]\n"
                 "run: {%s}\n",
                 lengths[i]);
        struct bli_experiment *e = read_text(text);
        assert_true(cell(e, 0, 0).run.time == 500);
        bli_experiment_free(e);
    }
    char *fields = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&fields, &size);
    bli_experiment_write_fields(out);
    bli_experiment_write_schema(out);
    fclose(out);
    assert_null(strstr(strstr(fields, "### `run`"), "slots` |"));
    free(fields);
}

static void gather(void *context, const char *mistake) {
    char *all = context;
    strcat(strcat(all, mistake), "\n");
}

/* Every mistake is told, in the order of the lines, and nothing that follows from another. */
static void all_mistakes_are_told_at_once(void **state) {
    (void)state;
    static const char text[] = "fleet: {servers: 0, bufer: 3}\n"                   /* 1 */
                               "workload: {load: -1}\n"                            /* 2 */
                               "policies: [random, {policy: jqs, label: short}]\n" /* 3 */
                               "sweep:\n"
                               "  - {axis: load, values: [0.5, 2x, 0.5]}\n" /* 5 */
                               "  - {axis: jsq.d, values: [1]}\n"           /* 6 */
                               "metrics: [respons.p99]\n"
                               "claims:\n"
                               "  - {id: a, says: x, of: short, expect: {most: 1}}\n" /* as in line 3 */
                               "  - {id: b, says: x, of: nobody, expect: {most: 1}}\n"
                               "  - {id: c, says: x, of: random, where: {load: 2x}, expect: {most: 1}}\n"
                               "  - {id: d, of: random, expect: {most: 1}}\n"
                               "  - {id: e, says: x, of: random, expect: {least: 2, most: 1}}\n"
                               "run: {replications: 0, warmup: 2}\n";
    static const char *const says[] = {
        ":1: experiment: field 'title' is missing",
        ":1: fleet: there is no field 'bufer'",
        ":1: servers: servers '0'",
        ":2: load: '-1' is not",
        ":3: policies: unknown policy 'jqs'",
        ":5: load: '2x' is not",
        ":5: load: '0.5' is there twice",
        ":6: axis: 'jsq.d' sweeps a parameter of jsq",
        ":7: metrics: there is no metric",
        ":10: of: the experiment has no policy 'nobody'",
        ":12: claims: field 'says' is missing",
        ":13: expect: `least` is 2",
        ":14: replications: '0'",
        ":14: warmup: '2'",
    };
    enum { MISTAKES = sizeof says / sizeof *says };
    char all[20000] = "";
    const size_t count = bli_document_errors(text, strlen(text), "t.yaml", BLI_MODE_PLAIN, gather, all);
    char *rest = all;
    for (size_t i = 0; i < MISTAKES; i++) {
        char *line = strsep(&rest, "\n");
        if (!line || strncmp(line, "t.yaml", 6) != 0 || strncmp(line + 6, says[i], strlen(says[i])) != 0)
            fail_msg("'%s' is told in place of '%s'", line, says[i]);
    }
    assert_int_equal(count, MISTAKES);
}

static void nothing_is_told_of_a_good_file(void **state) {
    (void)state;
    static const char text[] = "title: x\nfleet: {servers: 2}\nworkload: {load: 0.5}\npolicies: [random]\n";
    char all[2000] = "";
    assert_int_equal(bli_document_errors(text, strlen(text), "t.yaml", BLI_MODE_PLAIN, gather, all), 0);
    assert_int_equal(bli_document_errors("title: [", 8, "t.yaml", BLI_MODE_PLAIN, gather, all), 1);
    assert_non_null(strstr(all, "not YAML"));
}

static void settings_reach_the_model(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text("title: x\n"
                  "fleet: {servers: 10, discipline: preemptive, buffer: 7, start: busy=0.5,\n"
                  "        watts: '100,50,80,1'}\n"
                  "workload: {load: 80%, service: 'erlang(2)', high: 0.25, tasks: 3, curve: 'sine(0.5,10)'}\n"
                  "policies: [jiq]\n"
                  "run: {time: 50, warmup: 0.1, precision: 2%, most: 40, engine: event}\n");
    const struct bli_case c = cell(e, 0, 0);
    assert_int_equal(c.model.discipline, BLI_DISCIPLINE_PREEMPTIVE);
    assert_int_equal(c.model.buffer, 7);
    assert_true(c.model.start.busy == 0.5);
    assert_true(c.model.watts.idle == 50 && c.model.watts.off == 1);
    assert_true(c.model.load == 0.8);
    assert_int_equal(c.model.size.kind, BLI_DIST_ERLANG);
    assert_true(c.model.classes && c.model.high == 0.25);
    assert_int_equal(c.model.tasks, 3);
    assert_int_equal(c.model.curve.kind, BLI_CURVE_SINE);
    assert_true(c.run.time == 50 && c.run.warmup == 0.1 && c.precision == 0.02);
    assert_int_equal(c.run.engine, BLI_ENGINE_EVENT);
    bli_experiment_free(e);
}

static void slotted_time(void **state) {
    (void)state;
    struct bli_experiment *e = read_text("title: x\nfleet: {servers: '5x1,5xuniform(1,19)'}\n"
                                         "workload: {clock: slotted, load: 0.9, split: yes}\n"
                                         "policies: [pi]\nrun: {jobs: 1k}\n");
    struct bli_case c = cell(e, 0, 0);
    assert_int_equal(c.model.clock, BLI_CLOCK_SLOTTED);
    assert_int_equal(c.model.batch.kind, BLI_BATCH_POISSON); /* the default */
    assert_true(c.model.split);
    assert_true(c.run.time == 21); /* 1000 jobs at 49.5 a slot, in whole slots */
    bli_experiment_free(e);

    /* A batch with a mean of its own says what the load is. */
    e = read_text("title: x\nfleet: {servers: 10}\nworkload: {clock: slotted, batch: 'poisson(4)'}\n"
                  "policies: [pi]\nrun: {time: 500}\n");
    c = cell(e, 0, 0);
    assert_true(c.model.load == 0.4);
    assert_true(c.run.time == 500);
    bli_experiment_free(e);
}

static void axes_span_a_grid(void **state) {
    (void)state;
    struct bli_experiment *e = read_text(
        START "sweep:\n"
              "  - {axis: servers, values: [20, {value: '10x1,10x3', label: mixed}], label: fleet}\n"
              "  - {axis: load, values: [0.5, 0.7, 90%]}\n");
    assert_int_equal(e->axes, 2);
    assert_int_equal(e->points, 6);
    assert_string_equal(e->axis[0].name, "servers");
    assert_string_equal(e->axis[0].label, "fleet");
    assert_false(e->axis[0].numeric);
    assert_true(e->axis[1].numeric);
    assert_true(e->axis[1].value[2].number == 0.9);
    size_t index[BLI_AXES_MAX];
    for (size_t point = 0; point < e->points; point++) {
        bli_experiment_coordinates(e, point, index);
        assert_int_equal(index[0], point / 3);
        assert_int_equal(index[1], point % 3);
        assert_int_equal(bli_experiment_point(e, index), point);
        const struct bli_case c = cell(e, point, 0);
        assert_true(c.model.load == e->axis[1].value[index[1]].number);
        assert_int_equal(c.model.servers.groups, index[0] + 1);
    }
    char text[100];
    bli_experiment_point_text(e, 5, text, sizeof text);
    assert_string_equal(text, "servers=mixed load=90%");
    bli_experiment_free(e);
}

static void check_values(const char *axis, const double *expected, size_t count) {
    char text[500];
    snprintf(text, sizeof text, START "sweep: %s\n", axis);
    struct bli_experiment *e = read_text(text);
    assert_int_equal(e->axis[0].count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(e->axis[0].value[i].number == expected[i]);
    bli_experiment_free(e);
}

static void spaced_values(void **state) {
    (void)state;
    check_values("{axis: load, from: 0.1, to: 0.5, step: 0.1}", (double[]){0.1, 0.2, 0.3, 0.4, 0.5}, 5);
    check_values("{axis: load, from: 0.05, to: 0.94, step: 0.3}", (double[]){0.05, 0.35, 0.65}, 3);
    check_values("{axis: load, from: 0.5, to: 0.8, points: 4}", (double[]){0.5, 0.6, 0.7, 0.8}, 4);
    check_values("{axis: load, from: 0.01, to: 1, points: 3, log: yes}", (double[]){0.01, 0.1, 1}, 3);
    check_values("{axis: servers, from: 10, to: 1000, points: 5, log: yes}",
                 (double[]){10, 32, 100, 316, 1000}, 5);
    /* Whole numbers that become the same are one value. */
    check_values("{axis: servers, from: 1, to: 4, points: 7}", (double[]){1, 2, 3, 4}, 4);
    check_values("{axis: 'pod.d', from: 1, to: 8, points: 4, log: yes}", (double[]){1, 2, 4, 8}, 4);
}

static void policy_parameters_are_swept(void **state) {
    (void)state;
    struct bli_experiment *e = read_text("title: x\nfleet: {servers: 20}\nworkload: {load: 0.5}\n"
                                         "policies: [jsq, pod, 'pod-memory:d=1,b=2']\n"
                                         "sweep: {axis: pod.d, values: [1, 4]}\n");
    assert_true(cell(e, 0, 1).policy.value[0] == 1 && cell(e, 1, 1).policy.value[0] == 4);
    assert_true(cell(e, 1, 2).policy.value[0] == 1); /* another policy */
    bli_experiment_free(e);

    e = read_text("title: x\nfleet: {servers: 20}\nworkload: {load: 0.5}\n"
                  "policies: [jsq, pod, 'pod-memory:d=1,b=2']\nsweep: {axis: policy.d, values: [1, 4]}\n");
    assert_true(cell(e, 1, 1).policy.value[0] == 4 && cell(e, 1, 2).policy.value[0] == 4);
    bli_experiment_free(e);
}

static void an_axis_may_set_several_fields(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text(START "sweep:\n  axis: [servers, pod.d, run.jobs]\n"
                        "  values: [[10, 1, 500], {value: [40, 3, 2k], label: large}]\n");
    assert_int_equal(e->points, 2);
    assert_string_equal(e->axis[0].name, "servers");
    const struct bli_case c = cell(e, 1, 1);
    assert_int_equal(bli_servers_count(&c.model.servers), 40);
    assert_true(c.policy.value[0] == 3);
    assert_true(c.run.time == 100); /* 2000 jobs at 20 a unit of time */
    bli_experiment_free(e);
}

static void modes_lay_over(void **state) {
    (void)state;
    static const char text[] =
        START "sweep:\n  - {axis: load, values: [0.5, 0.7, 0.9]}\n"
              "quick:\n  run: {time: 3}\n  fleet: {servers: 5}\n"
              "full:\n  run: {jobs: 1M}\n  sweep: {axis: load, from: 0.1, to: 0.9, step: 0.2}\n"
              "claims:\n  - {id: a, says: b, of: jsq, expect: {least: 0}, where: {load: 0.3}, only: full}\n";
    struct bli_experiment *e = read_mode(text, BLI_MODE_PLAIN);
    assert_int_equal(e->points, 3);
    assert_int_equal(e->claims, 0);
    bli_experiment_free(e);
    e = read_mode(text, BLI_MODE_QUICK);
    struct bli_case c = cell(e, 0, 0);
    assert_true(c.run.time == 3 && c.replications == 4);
    assert_int_equal(bli_servers_count(&c.model.servers), 5);
    bli_experiment_free(e);
    e = read_mode(text, BLI_MODE_FULL);
    c = cell(e, 0, 0);
    assert_true(fabs(c.run.time - 500000) < 1e-6);
    assert_int_equal(e->points, 5);
    assert_int_equal(e->claims, 1);
    bli_experiment_free(e);
}

static void figures_are_resolved(void **state) {
    (void)state;
    struct bli_experiment *e = read_text(
        START
        "sweep:\n  - {axis: servers, from: 10, to: 1000, points: 3, log: yes}\n  - {axis: load, values: "
        "[0.5, 0.7]}\n"
        "figures:\n"
        "  - {id: a, x: servers, panels: load, policies: [jsq, three], log-y: yes, y-range: [1, 9]}\n"
        "  - {id: b, kind: ccdf, y: waiting, where: {servers: 100, load: 0.7}, theory: no}\n"
        "  - {id: c, kind: bars, y: [messages.per_job, queue.mean], where: {servers: 10, load: [0.5]}}\n");
    assert_int_equal(e->plots, 3);
    const struct bli_plot *a = &e->plot[0], *b = &e->plot[1], *c = &e->plot[2];
    assert_true(a->kind == BLI_PLOT_AXIS && a->x == 0 && a->series == BLI_BY_POLICY && a->panels == 1);
    assert_true(a->log_x && a->log_y && a->theory);
    assert_true(a->y_range[0] == 1 && a->y_range[1] == 9 && isnan(a->x_range[0]));
    assert_true(a->where.policy[0] && !a->where.policy[1] && a->where.policy[2]);
    assert_true(b->kind == BLI_PLOT_CCDF && b->x == BLI_BY_NOTHING && !b->theory);
    assert_int_equal(b->metric[0].metric, BLI_WAITING_MEAN);
    assert_false(bli_selection_has(&b->where, e, 0));
    assert_true(bli_selection_has(&b->where, e, 3));
    assert_true(c->x == BLI_BY_POLICY && c->series == BLI_BY_METRIC && c->metrics == 2);
    bli_experiment_free(e);
}

static void claims_are_resolved(void **state) {
    (void)state;
    struct bli_experiment *e = read_text(
        START "sweep: {axis: load, values: [0.5, 0.7, 0.9]}\n"
              "claims:\n"
              "  - {id: a, section: '4', says: s, measure: ratio, metric: queue.total, of: jsq, to: theory,\n"
              "     where: {load: {from: 0.6}}, expect: {near: 1, within: 5%}}\n"
              "  - {id: b, says: s, measure: verdict, of: three, over: some, expect: unstable}\n"
              "  - {id: c, says: s, measure: difference, of: {policy: jsq, at: {load: 0.9}}, to: {at: {load: "
              "0.5}, metric: "
              "response.p99},\n     expect: {least: 0, most: 2}}\n"
              "  - {id: d, says: s, measure: exponent, of: jsq, along: load, slack: yes, expect: {most: 2}}\n"
              "  - {id: e, says: s, measure: rank, of: 'pod:d=2', among: [jsq, three, 'pod:d=2'], expect: "
              "{least: 3}}\n"
              "  - {id: f, says: s, measure: ratio, of: three, to: 1.5, expect: {least: 3, most: 3}}\n");
    assert_int_equal(e->claims, 6);
    const struct bli_check *c[6];
    for (size_t i = 0; i < 6; i++)
        c[i] = e->claim[i].check;
    assert_true(c[0]->to.reference == BLI_REFERENCE_THEORY && c[0]->to.policy == 0);
    assert_true(c[0]->low == 0.95 && c[0]->high == 1.05);
    assert_string_equal(c[0]->expected, "1 \u00b1 5 %");
    assert_false(c[0]->where.value[0][0]);
    assert_true(c[0]->where.value[0][1] && c[0]->where.value[0][2]);
    assert_true(c[1]->verdict == BLI_UNSTABLE && c[1]->over == BLI_OVER_SOME);
    assert_string_equal(c[1]->expected, "unstable");
    assert_true(c[2]->to.fixed[0] == 0 && c[2]->to.quantity.metric == BLI_RESPONSE_P99 &&
                c[2]->to.policy == 0);
    assert_true(!c[2]->where.value[0][0] && !c[2]->where.value[0][1] && c[2]->where.value[0][2]);
    assert_string_equal(c[2]->expected, "0 to 2");
    assert_true(c[3]->along == 0 && c[3]->slack);
    assert_string_equal(c[3]->expected, "at most 2");
    assert_string_equal(c[4]->expected, "at least 3");
    assert_true(c[5]->to.reference == BLI_REFERENCE_NUMBER && c[5]->to.number == 1.5);
    assert_string_equal(c[5]->expected, "3");
    bli_experiment_free(e);
}

/* A finding is ours; the claim that it answers may stand before it, behind it, or nowhere. */
static void findings_name_what_they_answer(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text(START "claims:\n"
                        "  - {id: early, finding: claim, says: s, of: jsq, expect: {most: 2}}\n"
                        "  - {id: claim, says: s, of: jsq, expect: {most: 1}}\n"
                        "  - {id: late, finding: claim, says: s, of: jsq, expect: {most: 3}}\n"
                        "  - {id: own, finding: yes, says: s, of: jsq, expect: {most: 3}}\n"
                        "  - {id: full, only: full, says: s, of: jsq, expect: {most: 3}}\n"
                        "  - {id: more, only: full, finding: full, says: s, of: jsq, expect: {most: 3}}\n");
    assert_int_equal(e->claims, 4);
    const struct bli_claim *c = e->claim;
    assert_true(c[0].finding && c[0].answers == 1);
    assert_true(!c[1].finding && c[1].answers == -1);
    assert_true(c[2].finding && c[2].answers == 1);
    assert_true(c[3].finding && c[3].answers == -1);
    bli_experiment_free(e);
}

/* ---- what is wrong ---- */

/* What is added to the good beginning, and what must be said of it. */
static const struct {
    const char *text;
    const char *says;
} wrong[] = {
    {"quick: {workload: {curve: file(/dev/zero)}}\n",
     "t.yaml:6: curve: 'file(/dev/zero)' lies outside of this text and may have changed"},
    {"sweep: {axis: watts, values: ['0,0,0,0']}\n",
     "t.yaml:6: watts: watts '0,0,0,0': a busy server must draw more"},
    {"bogus: 1\n", "t.yaml:6: experiment: there is no field 'bogus'; there are title, about"},
    {"title: y\n", "t.yaml:6: title: it is given twice"},
    {"seed: -3\n", "t.yaml:6: seed: '-3' is not a whole number from 0 to"},
    {"seed: [1]\n", "t.yaml:6: seed: this is a list; it should be a value"},
    {"seed:\n", "t.yaml:6: seed: it is empty"},
    {"metrics: []\n", "t.yaml:6: metrics: the list is empty"},
    {"metrics: response.men\n",
     "t.yaml:6: metrics: there is no metric 'response.men'; there are response.mean, "},
    {"metrics: queue.tail.128\n",
     "t.yaml:6: metrics: there is no metric 'queue.tail.128'; there are queue.mean"},
    {"baseline: jiq\n", "t.yaml:6: baseline: the experiment has no policy 'jiq'; it has jsq, pod:d=2, three"},
    {"paper: a b\n", "t.yaml:6: paper: 'a b' is not a name"},
    {"\tx: 1\n", "t.yaml:6:1: not YAML: "},
    {"x: [1\n", "t.yaml:7:1: not YAML: "},
    {"about: \"\\0\"\n", "t.yaml:6:8: a text with a zero character"},
    {"about: *x\n", "t.yaml:6:8: an alias (*)"},
    {"about: \xff\n", "t.yaml:6:8: not YAML: "},
    {"---\ntitle: y\n", "t.yaml:6:1: a second document"},
    {"? [a]\n: b\n", "t.yaml:6: experiment: a field must have a plain name"},
    {"quick: {run: {jobs: 1, time: 2}}\n", NULL}, /* only in that mode */
    {"sweep: 5\n", "t.yaml:6: sweep: this is a single value; it should be a list or a map"},
    {"sweep: {values: [1]}\n", "t.yaml:6: sweep: field 'axis' is missing"},
    {"sweep: {axis: lood, values: [1]}\n",
     "t.yaml:6: axis: there is no field 'lood' to sweep; there are servers"},
    {"sweep: {axis: pot.d, values: [1]}\n", "t.yaml:6: axis: there is no field 'pot.d' to sweep"},
    {"sweep: {axis: jiq.d, values: [1]}\n",
     "t.yaml:6: axis: 'jiq.d' sweeps a parameter of jiq, but that is not among"},
    {"sweep: {axis: pod.q, values: [1]}\n",
     "t.yaml:6: axis: no policy of the experiment has a parameter 'pod.q'"},
    {"sweep:\n  axis: pod.d\n  values:\n    - 1\n    - 0\n", "t.yaml:10: pod.d: policy 'pod': d=0 is not"},
    {"sweep:\n  axis: load\n  values: [0.5,\n   -1]\n", "t.yaml:9: load: '-1' is not a load above 0"},
    {"sweep: {axis: load, values: [0.5, 0.50]}\n", "t.yaml:6: load: '0.50' is there twice"},
    {"sweep: {axis: load, values: [0.5], from: 1}\n", "t.yaml:6: values: `values` and `from` are both given"},
    {"sweep: {axis: load, from: 0.1}\n", "t.yaml:6: sweep: an axis needs `values`, or `from` and `to`"},
    {"sweep: {axis: load, from: 0.1, to: 0.5}\n",
     "t.yaml:6: sweep: between `from` and `to` either `step` or `points`"},
    {"sweep: {axis: load, from: 0.5, to: 0.1, step: 0.1}\n",
     "t.yaml:6: sweep: `from` is 0.5 and `to` is 0.1"},
    {"sweep: {axis: load, from: 0.1, to: 0.5, step: 0}\n", "t.yaml:6: step: 0 is not a step above 0"},
    {"sweep: {axis: load, from: 0.1, to: 0.5, step: 1e-9}\n", "t.yaml:6: step: 1e-09 is not a step above 0"},
    {"sweep: {axis: load, from: 0, to: 0.5, points: 3, log: yes}\n",
     "t.yaml:6: log: logarithmic spacing needs"},
    {"sweep: {axis: load, from: 0, to: 0.5, points: 3}\n", "t.yaml:6: load: '0' is not a load above 0"},
    {"sweep: {axis: [load, servers], values: [[0.5, 10], 0.6]}\n",
     "t.yaml:6: values: a value has 1 parts where"},
    {"sweep: [{axis: load, values: [0.5]}, {axis: load, values: [0.6]}]\n",
     "t.yaml:6: axis: 'load' is swept twice"},
    {"sweep: [{axis: load, from: 0.1, to: 0.9, points: 500}, {axis: servers, from: 1, to: 900, points: "
     "500}]\n",
     "t.yaml:6: sweep: the axes and policies make more than 100000 combinations"},
    {"figures: {id: a}\n", "t.yaml:6: figures: a figure of kind 'axis' needs a sweep"},
    {"figures: {id: a, kind: pie}\n", "t.yaml:6: kind: 'pie' is none of axis, cdf"},
    {"figures: {id: a, kind: tail, x: load}\n", "t.yaml:6: x: a figure of this kind has an x of its own"},
    {"figures: {id: a, kind: cdf, y: queue.mean}\n",
     "t.yaml:6: y: 'queue.mean' is neither response nor waiting"},
    {"figures: [{id: a, kind: cdf}, {id: a, kind: tail}]\n", "t.yaml:6: id: 'a' is there twice"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nfigures: {id: a, kind: cdf}\n",
     "t.yaml:7: figures: axis 'load' has several values here"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nfigures: {id: a, series: metric}\n",
     "t.yaml:7: figures: there are several policies here"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nfigures: {id: a, y: [queue.mean, queue.total]}\n",
     "t.yaml:7: figures: there are several metrics"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nfigures: {id: a, panels: load}\n",
     "t.yaml:7: figures: x (by default) and panels are both `load`; x, series, panels and rows must differ"},
    {"figures: {id: a, kind: bars, y-range: [2, 1]}\n",
     "t.yaml:6: y-range: it ends at 1, before it begins at 2"},
    {"claims: {id: a, says: b, of: jsq}\n", "t.yaml:6: claims: field 'expect' is missing"},
    {"claims: {id: a, says: b, of: pod, expect: {most: 1}}\n", NULL}, /* pod is pod:d=2 */
    {"claims: {id: a, says: b, of: jiq, expect: {most: 1}}\n",
     "t.yaml:6: of: the experiment has no policy 'jiq'"},
    {"claims: {id: a, says: b, of: jsq, expect: {}}\n", "t.yaml:6: expect: nothing is expected"},
    {"claims: {id: a, finding: c, says: b, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: finding: there is no claim 'c' that it could answer"},
    {"claims: {id: a, finding: a, says: b, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: finding: there is no claim 'a' that it could answer"},
    {"claims:\n  - {id: a, finding: yes, says: b, of: jsq, expect: {most: 1}}\n"
     "  - {id: b, finding: a, says: b, of: jsq, expect: {most: 1}}\n",
     "t.yaml:8: finding: there is no claim 'a' that it could answer"},
    {"claims:\n  - {id: a, says: b, of: jsq, expect: {most: 1}}\n"
     "  - {id: a, finding: a, says: b, of: jsq, expect: {most: 1}}\n",
     "t.yaml:8: id: 'a' is there twice"},
    {"claims: {id: a, says: b, expect: {most: 1}}\n", "t.yaml:6: claims: field 'of' is missing"},
    {"claims: {id: a, says: b, of: jsq, expect: {printed: x}}\n", "t.yaml:6: printed: 'x' is not a number"},
    {"claims: {id: a, says: b, of: jsq, expect: {printed: 1.0, most: 2}}\n",
     "t.yaml:6: expect: give `least` and `most`, `near` and `within`, `printed` or `word`, and one"},
    {"claims: {id: a, says: b, of: jsq, expect: {word: nearly}}\n",
     "t.yaml:6: word: 'nearly' has no reading"},
    {"claims: {id: a, says: b, of: jsq, expect: {word: close}}\n",
     "t.yaml:6: word: 'close' says nothing about measure 'value'"},
    {"claims: {id: a, says: b, kind: rumour, of: jsq, expect: {most: 1}}\n", "t.yaml:6: kind: 'rumour'"},
    {"claims: {id: a, says: b, kind: stability, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: kind: a claim of kind 'stability' is not judged by measure 'value'"},
    {"claims: {id: a, says: b, kind: limit, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: kind: a claim of kind 'limit' is not judged by measure 'value'"},
    {"claims: {id: a, finding: yes, says: b, kind: value, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: finding: a finding is ours: it has no `quote`"},
    {"claims: {id: a, finding: yes, says: b, quote: c, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: finding: a finding is ours: it has no `quote`"},
    {"paper: p\nclaims: {id: a, says: b, section: '1', kind: value, of: jsq, expect: {most: 1}}\n",
     "t.yaml:7: claims: claim 'a' lacks `quote`: a claim of a paper has"},
    {"paper: p\nclaims: {id: a, says: b, quote: c, kind: value, of: jsq, expect: {most: 1}}\n",
     "t.yaml:7: claims: claim 'a' lacks `section`"},
    {"paper: p\nclaims: {id: a, says: b, section: '1', quote: c, of: jsq, expect: {most: 1}}\n",
     "t.yaml:7: claims: claim 'a' lacks `kind`"},
    {"claims: {id: a, says: b, of: jsq, checks: [{of: jsq, expect: {most: 1}}]}\n",
     "t.yaml:6: claims: a claim with `checks` has `of` in each of them"},
    {"claims: {id: a, says: b, checks: []}\n", "t.yaml:6: checks: the list is empty"},
    {"claims: {id: a, says: b, checks: [{of: jsq}]}\n", "t.yaml:6: claims: field 'expect' is missing"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nclaims: {id: a, says: b, measure: limit, of: jsq, to: 1, "
     "along: "
     "load}\n",
     "t.yaml:7: claims: a limit along 'load' needs three values of it"},
    {"sweep: {axis: load, values: [0.5, 0.6, 0.7]}\nclaims: {id: a, says: b, measure: limit, of: jsq, to: 1, "
     "along: load, expect: {most: 1}}\n",
     "t.yaml:7: expect: a limit is what `to` says"},
    {"claims: {id: a, says: b, of: jsq, expect: stable}\n", "t.yaml:6: expect: this should be bounds"},
    {"claims: {id: a, says: b, measure: verdict, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: expect: of a verdict `stable` or `unstable`"},
    {"claims: {id: a, says: b, of: jsq, expect: {most: 1, least: 2}}\n",
     "t.yaml:6: expect: `least` is 2 and `most` is 1"},
    {"claims: {id: a, says: b, of: jsq, expect: {near: 1}}\n",
     "t.yaml:6: expect: `near` and `within` belong together"},
    {"claims: {id: a, says: b, of: jsq, to: theory, expect: {most: 1}}\n",
     "t.yaml:6: to: measure 'value' compares nothing"},
    {"claims: {id: a, says: b, measure: ratio, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: claims: measure 'ratio' needs `to`"},
    {"claims: {id: a, says: b, measure: slope, of: jsq, expect: {most: 1}}\n",
     "t.yaml:6: claims: measure 'slope' needs `along`"},
    {"claims: {id: a, says: b, measure: slope, of: jsq, along: load, expect: {most: 1}}\n",
     "t.yaml:6: along: 'load' is not swept"},
    {"claims: {id: a, says: b, of: jsq, where: {load: 0.7}, expect: {most: 1}}\n",
     "t.yaml:6: where: 'load' is not swept"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nclaims: {id: a, says: b, of: jsq, where: {load: 0.7}, expect: "
     "{most: 1}}\n",
     "t.yaml:7: load: '0.7' is not a value of this axis; these are: 0.5, 0.6"},
    {"sweep: {axis: load, values: [0.5, 0.6]}\nclaims: {id: a, says: b, of: jsq, where: {load: {from: 0.7}}, "
     "expect: {most: 1}}\n",
     "t.yaml:7: load: no value of this axis lies there"},
    {"sweep: {axis: load, values: [0.6, 0.5]}\n"
     "claims: {id: a, says: b, measure: slope, of: jsq, along: load, expect: {most: 1}}\n",
     "t.yaml:7: along: the values of this axis must be numbers in increasing order"},
    {"sweep: {axis: load, values: [0.6, 1.5]}\n"
     "claims: {id: a, says: b, measure: slope, of: jsq, along: load, slack: yes, expect: {most: 1}}\n",
     "t.yaml:7: claims: load=1.5 cannot be part of a fit"},
};

static void wrong_files_are_explained(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[2000];
        snprintf(text, sizeof text, START "%s", wrong[i].text);
        struct bli_experiment *e = NULL;
        struct bal_error err = {0};
        const enum bal_code code =
            bli_experiment_parse(text, strlen(text), "t.yaml", BLI_MODE_PLAIN, &e, &err);
        if (!wrong[i].says) {
            assert_int_equal(code, BAL_OK);
            bli_experiment_free(e);
            continue;
        }
        if (!code || strncmp(err.text, wrong[i].says, strlen(wrong[i].says)) != 0)
            fail_msg("%s   says '%s' instead of '%s...'", wrong[i].text, err.text, wrong[i].says);
        assert_int_equal(err.code, code);
    }
}

static void other_wrong_files(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
        enum bli_mode mode;
    } other[] = {
        {"", "t.yaml:1:1: the file is empty", BLI_MODE_PLAIN},
        {"# nothing\n", "t.yaml:1:1: the file is empty", BLI_MODE_PLAIN},
        {"[1, 2]\n", "t.yaml:1: experiment: this should be a map of fields", BLI_MODE_PLAIN},
        {"a: &a [*a]\n", "t.yaml:1:8: an alias (*)", BLI_MODE_PLAIN},
        {"title: x\nworkload: {load: 0.5}\npolicies: [jsq]\n", "t.yaml:1: fleet: field 'servers' is missing",
         BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\npolicies: [jsq]\n", "t.yaml:1: workload: field 'load' is missing",
         BLI_MODE_PLAIN},
        {"fleet: {servers: 5}\nworkload: {load: 0.5}\npolicies: [jsq]\n",
         "t.yaml:1: experiment: field 'title' is missing", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 0}\nworkload: {load: 1}\npolicies: [jsq]\n",
         "t.yaml:2: servers: ", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\nworkload: {load: 1}\npolicies:\n  - jsq\n  - jsqq\n",
         "t.yaml:6: policies: unknown policy 'jsqq'", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\nworkload: {load: 1}\npolicies: [jsq, jsq]\n",
         "t.yaml:4: policies: 'jsq' is there twice", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\nworkload: {load: 1}\npolicies: [{policy: jsq, label: theory}]\n",
         "t.yaml:4: label: 'theory' has a meaning of its own", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\nworkload:\n  load: 1\n  service: pareto(0.5,1)\npolicies: [jsq]\n",
         "t.yaml:5: service: the mean is infinite", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\nworkload: {load: 1, split: yes}\npolicies: [jsq]\n",
         "t.yaml:3: workload: batches arrive in slotted time", BLI_MODE_PLAIN},
        {"title: x\nfleet: {servers: 5}\nworkload: {load: 1}\npolicies: [jsq]\nrun: {engine: slotted}\n",
         "t.yaml:4: policies: ", BLI_MODE_PLAIN},
        {START "quick: {run: {jobs: 1, time: 2}}\n", "t.yaml:6: time: `jobs` says already how long a run is",
         BLI_MODE_QUICK},
        {START "full: {sweep: {axis: load, values: [1]}}\n", "t.yaml:6: axis: 'load' is not swept",
         BLI_MODE_FULL},
        {START "sweep: {axis: servers, values: [20, 2]}\nfleet:\n", "t.yaml:7: fleet: it is given twice",
         BLI_MODE_PLAIN},
    };
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        struct bli_experiment *e = NULL;
        struct bal_error err = {0};
        const char *text = other[i].text;
        if (!bli_experiment_parse(text, strlen(text), "t.yaml", other[i].mode, &e, &err) ||
            strncmp(err.text, other[i].says, strlen(other[i].says)) != 0)
            fail_msg("%s   says '%s' instead of '%s...'", text, err.text, other[i].says);
    }
}

/* A cell that cannot be simulated is found before anything runs, and the point is named. */
/* libyaml reads it, but as a text it would end at its first zero byte, and be stored so. */
static void utf16_is_refused(void **state) {
    (void)state;
    static const char *const text = START;
    for (int big = 0; big < 2; big++) {
        char wide[2000] = {big ? '\xfe' : '\xff', big ? '\xff' : '\xfe'};
        const size_t length = strlen(text);
        for (size_t i = 0; i < length; i++)
            wide[2 + 2 * i + (size_t)big] = text[i];
        struct bli_experiment *e = NULL;
        struct bal_error err = {0};
        assert_int_equal(bli_experiment_parse(wide, 2 + 2 * length, "t.yaml", BLI_MODE_PLAIN, &e, &err),
                         BAL_E_SYNTAX);
        assert_string_equal(err.text, "t.yaml:1:1: the file is in UTF-16; save it as UTF-8");
    }
}

static void impossible_cells(void **state) {
    (void)state;
    static const char text[] =
        "title: x\nfleet: {servers: 20}\nworkload: {load: 0.5}\n"
        "policies:\n  - jsq\n  - 'pod:d=10,replace=0'\nsweep: {axis: servers, values: [50, 8]}\n";
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    assert_int_not_equal(bli_experiment_parse(text, strlen(text), "t.yaml", BLI_MODE_PLAIN, &e, &err),
                         BAL_OK);
    static const char says[] = "t.yaml:6: policies: at servers=8: ";
    assert_memory_equal(err.text, says, sizeof says - 1);
}

/* Files that would take for ever, or all memory, are refused quickly. */
static void bombs(void **state) {
    (void)state;
    enum { SIZE = 100000 };
    char *text = malloc(SIZE + 1);
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    static const char *const pieces[] = {"[", "{a: ", "- ", "? ", "&a ", "'", "\"\\x", "a:\n ", "!"};
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        const size_t length = strlen(pieces[p]);
        for (size_t i = 0; i < SIZE; i++)
            text[i] = pieces[p][i % length];
        assert_int_not_equal(bli_experiment_parse(text, SIZE, "t.yaml", BLI_MODE_PLAIN, &e, &err), BAL_OK);
    }
    /* A list of a list, again and again. */
    size_t used = (size_t)snprintf(text, SIZE, START "sweep:\n  axis: load\n  values:\n  - &l [0");
    while (used < SIZE / 2)
        used += (size_t)snprintf(text + used, SIZE - used, ",0");
    used += (size_t)snprintf(text + used, SIZE - used, "]\n");
    while (used < SIZE - 100)
        used += (size_t)snprintf(text + used, SIZE - used, "  - *l\n");
    assert_int_not_equal(bli_experiment_parse(text, used, "t.yaml", BLI_MODE_PLAIN, &e, &err), BAL_OK);
    free(text);
    char *large = calloc(1, BLI_EXPERIMENT_BYTES + 1);
    assert_int_equal(
        bli_experiment_parse(large, BLI_EXPERIMENT_BYTES + 1, "t.yaml", BLI_MODE_PLAIN, &e, &err),
        BAL_E_RANGE);
    free(large);
}

static void quantities(void **state) {
    (void)state;
    struct bli_quantity q;
    char text[BLI_QUANTITY_TEXT];
    for (int m = 0; m < BLI_METRIC_COUNT; m++) {
        assert_int_equal(bli_quantity_find(bli_metric_table[m].name, &q, NULL), BAL_OK);
        assert_int_equal(q.metric, m);
        assert_string_equal(bli_quantity_text(q, text), bli_metric_table[m].name);
    }
    assert_int_equal(bli_quantity_find("queue.tail.127", &q, NULL), BAL_OK);
    assert_string_equal(bli_quantity_text(q, text), "queue.tail.127");
    assert_false(bli_quantity_diverges(q));
    static const struct {
        const char *name, *text;
        int distribution;
        double quantile;
    } percentiles[] = {{"p95", "response.p95", BLI_OF_RESPONSE, 0.95},
                       {"waiting.p97.5", "waiting.p975", BLI_OF_WAITING, 0.975},
                       {"high.response.p5", "high.response.p5", BLI_OF_HIGH_RESPONSE, 0.05},
                       {"low.waiting.p995", "low.waiting.p995", BLI_OF_LOW_WAITING, 0.995},
                       {"load.p95", "load.p95", BLI_OF_LOAD, 0.95}};
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
        assert_int_equal(bli_quantity_find(percentiles[i].name, &q, NULL), BAL_OK);
        assert_true(q.level == percentiles[i].distribution && bli_quantity_diverges(q));
        assert_true(fabs(q.quantile - percentiles[i].quantile) < 1e-15);
        assert_string_equal(bli_quantity_text(q, text), percentiles[i].text);
    }
    /* Those that every trial measures are the metrics of that name. */
    assert_true(!bli_quantity_find("p99.9", &q, NULL) && q.metric == BLI_RESPONSE_P999 && q.quantile == 0);
    assert_true(!bli_quantity_find("waiting.p50.0", &q, NULL) && q.metric == BLI_WAITING_P50);
    assert_int_equal(bli_quantity_find("response.p100", &q, NULL), BAL_E_RANGE);
    static const char *const bad[] = {
        "", "queue", "queue.tail.", "queue.tail.-1", "queue.tail.128", "queue.tail.1e1", "queue.tail.1k"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(bli_quantity_find(bad[i], &q, NULL), BAL_OK);
    assert_true(!bli_quantity_find("response.p99", &q, NULL) && bli_quantity_diverges(q));
    assert_true(!bli_quantity_find("queue.total", &q, NULL) && bli_quantity_diverges(q));
    assert_true(!bli_quantity_find("messages.per_job", &q, NULL) && !bli_quantity_diverges(q));
    assert_true(!bli_quantity_find("waiting.probability", &q, NULL) && !bli_quantity_diverges(q));
}

/* Against the formulas of M/M/1 at load 0.8. */
static void quantities_of_theory(void **state) {
    (void)state;
    struct bli_experiment *e =
        read_text("title: x\nfleet: {servers: 10}\nworkload: {load: 0.8}\npolicies: [random]\n");
    const struct bli_case c = cell(e, 0, 0);
    const struct bli_prediction known = bli_theory_predict(&c.model, &c.policy);
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        {"response.mean", 5},
        {"waiting.mean", 4},
        {"response.p50", 5 * M_LN2},
        {"response.p99", 5 * 2 * M_LN10},
        {"queue.mean", 4},
        {"queue.total", 40},
        {"queue.tail.0", 1},
        {"queue.tail.3", 0.512},
        {"waiting.probability", 0.8},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct bli_quantity q;
        assert_int_equal(bli_quantity_find(expected[i].name, &q, NULL), BAL_OK);
        assert_true(fabs(bli_quantity_of_known(q, &c.model, &known) - expected[i].value) < 1e-9);
    }
    struct bli_quantity q;
    assert_int_equal(bli_quantity_find("p95", &q, NULL), BAL_OK);
    assert_true(fabs(bli_quantity_of_case(q, &c, NULL) - 5 * log(20)) < 1e-6);
    assert_int_equal(bli_quantity_find("waiting.p95", &q, NULL), BAL_OK); /* P(W > t) = 0.8 exp(-t / 5) */
    assert_true(fabs(bli_quantity_of_case(q, &c, NULL) - 5 * log(16)) < 1e-6);
    assert_int_equal(bli_quantity_find("waiting.p15", &q, NULL), BAL_OK);
    assert_true(bli_quantity_of_case(q, &c, NULL) == 0);
    assert_int_equal(bli_quantity_find("messages.per_job", &q, NULL), BAL_OK);
    assert_true(isnan(bli_quantity_of_known(q, &c.model, &known)));
    bli_experiment_free(e);
}

static void unreadable_files(void **state) {
    (void)state;
    struct bli_experiment *e = NULL;
    struct bal_error err = {0};
    assert_int_equal(bli_experiment_read("/does/not/exist.yaml", BLI_MODE_PLAIN, &e, &err), BAL_E_IO);
    assert_string_equal(err.text, "/does/not/exist.yaml: cannot be read: No such file or directory");
    assert_int_equal(bli_experiment_read("/", BLI_MODE_PLAIN, &e, &err), BAL_E_IO);
}

/* A 0 that is read is printed as something else than the default, unless that is 0: it does not stand for
 * it. */
static void zero_never_means_the_default(void **unused) {
    (void)unused;
    static const char *const zeros[] = {"0", "0,0,0,0", "0.0", "det(0)", "exp(0)", "constant(0)"};
    static const char *const read[] = {"warmup=0", "high=0", "steal=constant(0)", "batch=constant(0)"};
    static char before[BLI_SETTING_TEXT], after[BLI_SETTING_TEXT];
    size_t settings = 0, taken = 0;
    for (const struct bli_field *setting; (setting = bli_setting_at(settings, NULL)); settings++)
        for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
            struct bli_draft draft;
            bli_draft_init(&draft);
            bli_setting_print(setting, &draft, before);
            if (bli_setting_read(setting, zeros[i], &draft, NULL))
                continue;
            bli_setting_print(setting, &draft, after);
            const bool none = strcmp(setting->name, "fail-fast") == 0; /* a share of 0 is none */
            if (strcmp(before, after) == 0 && strcmp(before, "0") != 0 && !none && !setting->deprecated)
                fail_msg("%s: '%s' means the default, %s", setting->name, zeros[i], before);
            char pair[100];
            snprintf(pair, sizeof pair, "%s=%.60s", setting->name, after);
            for (size_t k = 0; k < sizeof read / sizeof *read; k++)
                taken += strcmp(pair, read[k]) == 0;
        }
    assert_true(settings > 20 && taken >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_never_means_the_default),
        cmocka_unit_test(plain_parts),
        cmocka_unit_test(settings_print_what_they_read),
        cmocka_unit_test(settings_refuse_nonsense),
        cmocka_unit_test(older_names_are_read),
        cmocka_unit_test(all_mistakes_are_told_at_once),
        cmocka_unit_test(nothing_is_told_of_a_good_file),
        cmocka_unit_test(settings_reach_the_model),
        cmocka_unit_test(slotted_time),
        cmocka_unit_test(axes_span_a_grid),
        cmocka_unit_test(spaced_values),
        cmocka_unit_test(policy_parameters_are_swept),
        cmocka_unit_test(an_axis_may_set_several_fields),
        cmocka_unit_test(modes_lay_over),
        cmocka_unit_test(figures_are_resolved),
        cmocka_unit_test(claims_are_resolved),
        cmocka_unit_test(findings_name_what_they_answer),
        cmocka_unit_test(wrong_files_are_explained),
        cmocka_unit_test(other_wrong_files),
        cmocka_unit_test(utf16_is_refused),
        cmocka_unit_test(impossible_cells),
        cmocka_unit_test(bombs),
        cmocka_unit_test(quantities),
        cmocka_unit_test(quantities_of_theory),
        cmocka_unit_test(unreadable_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
