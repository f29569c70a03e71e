/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures: axes, text, placement, the script, and what gnuplot makes of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ballast/figure.h"
#include "ballast/random.h"
#include "figure/axis_scale.h"
#include "figure/layout.h"
#include "figure/pen.h"
#include "format/text.h"

/* ---- axes ---- */

static struct scale scale_of(bool log, double low, double high, double length, bool across) {
    struct span span = bli_span_empty;
    bli_span_add(&span, low);
    bli_span_add(&span, high);
    const struct scale_wish wish = {.log = log, .from_zero = !across, .length = length, .across = across};
    struct scale scale;
    bli_scale_init(&scale, &wish, &span);
    return scale;
}

/* "0.5 0.6 0.7", texts of the ticks that have one. */
static void expect_texts(const struct scale *scale, const char *expected) {
    char texts[1000] = "";
    for (size_t i = 0; i < scale->count; i++)
        if (!scale->tick[i].minor) {
            strcat(texts, *texts ? " " : "");
            strcat(texts, scale->tick[i].text);
        }
    assert_string_equal(texts, expected);
}

static void ticks_are_round(void **state) {
    (void)state;
    struct scale scale = scale_of(false, 0.5, 0.98, 200, true);
    expect_texts(&scale, "0.5 0.6 0.7 0.8 0.9");
    scale = scale_of(false, 0.3, 49, 140, false);
    expect_texts(&scale, "0 10 20 30 40 50");
    scale = scale_of(false, 0, 1.3e6, 75, false);
    expect_texts(&scale, "0 500k 1M");
    scale = scale_of(false, 0, 12500, 100, false); /* not 8000 beside 10k */
    expect_texts(&scale, "0 5k 10k");
    scale = scale_of(false, 1000, 1003, 140, false);
    expect_texts(&scale, "1000 1000.5 1001 1001.5 1002 1002.5 1003");
    scale = scale_of(false, -3e-6, 4e-6, 100, true);
    expect_texts(&scale, "−2×10^{−6} 0 2×10^{−6} 4×10^{−6}");
    scale = scale_of(true, 1, 1000, 140, false);
    expect_texts(&scale, "1 3 10 30 100 300 1000");
    scale = scale_of(true, 1e-7, 1, 140, false);
    expect_texts(&scale, "10^{−7} 10^{−6} 10^{−5} 10^{−4} 10^{−3} 10^{−2} 10^{−1} 10^{0}");
    scale = scale_of(true, 1e-12, 1e12, 140, false);
    expect_texts(&scale, "10^{−12} 10^{−8} 10^{−4} 10^{0} 10^{4} 10^{8} 10^{12}");
    scale = scale_of(true, 2.1, 2.6, 140, false);
    expect_texts(&scale, "2.1 2.2 2.3 2.4 2.5 2.6");
}

/* One load is no reason to show others that cannot be. */
static void one_value_gets_a_short_axis(void **state) {
    (void)state;
    struct scale scale = scale_of(false, 0.9, 0.9, 200, true);
    assert_true(scale.low > 0.75 && scale.low < 0.85 && scale.high < 1 && scale.high > 0.95);
    expect_texts(&scale, "0.85 0.9 0.95");
    scale = scale_of(false, 0.9, 0.9, 140, false); /* what stands above it begins at 0 */
    assert_true(scale.low == 0);
}

static void ticks_are_the_decimals_that_they_show(void **state) {
    (void)state;
    const struct scale scale = scale_of(false, 0, 1, 140, false);
    expect_texts(&scale, "0 0.2 0.4 0.6 0.8 1");
    assert_true(scale.tick[3].at == 0.6); /* and not 3 * 0.2, which is another number */
}

static void hours_are_those_of_a_clock(void **state) {
    (void)state;
    const struct {
        double from, to, length;
        const char *texts;
    } cases[] = {
        {0, 24, 230, "0 3 6 9 12 15 18 21 24"},
        {0, 24, 100, "0 6 12 18 24"},
        {7.5, 13, 230, "8 9 10 11 12 13"},
        {0, 47, 150, "0 12 24 36 48"},
        {3.2, 3.9, 230, "3.2 3.3 3.4 3.5 3.6 3.7 3.8 3.9"}, /* no hour in it: as any axis */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct span span = bli_span_empty;
        bli_span_add(&span, cases[i].from);
        bli_span_add(&span, cases[i].to);
        const struct scale_wish wish = {.length = cases[i].length, .across = true, .hours = true};
        struct scale scale;
        bli_scale_init(&scale, &wish, &span);
        expect_texts(&scale, cases[i].texts);
    }
}

static void axes_end_where_they_are_told(void **state) {
    (void)state;
    struct span span = bli_span_empty;
    bli_span_add(&span, 5);
    bli_span_add(&span, 7);
    struct scale scale;
    struct scale_wish wish = {.low = 1, .high = 4, .length = 100};
    bli_scale_init(&scale, &wish, &span); /* the data lie beyond */
    assert_true(scale.low == 1 && scale.high == 4);
    wish = (struct scale_wish){.low = NAN, .high = 20, .length = 100};
    bli_scale_init(&scale, &wish, &span);
    assert_true(scale.low < 5 && scale.low > 4 && scale.high == 20);
    wish = (struct scale_wish){.low = 10, .high = NAN, .length = 100};
    bli_scale_init(&scale, &wish, &span);
    assert_true(scale.low == 10 && scale.high > 10);
    wish = (struct scale_wish){.log = true, .low = NAN, .high = 2, .length = 100};
    bli_scale_init(&scale, &wish, &span);
    assert_true(scale.low < 2 && scale.low > 0 && scale.high == 2);
}

/* Whatever the data: ends in order, every value inside, ticks inside, increasing, at a distance, at least two
 * of them. */
static void axes_fit_any_data(void **state) {
    (void)state;
    struct bal_rng rng;
    bal_rng_init(&rng, 1, 0, BAL_STREAM_TEST);
    for (int round = 0; round < 20000; round++) {
        const bool log = round % 2, across = round % 3 == 0;
        const double size = pow(10, 200 * bal_rng_uniform(&rng) - 100);
        const double spread = pow(10, (round % 5 == 0 ? 60 : 6) * bal_rng_uniform(&rng) - 3);
        double low = size * (log || round % 7 ? 1 : -1), high = size * (1 + spread);
        if (!(fabs(high) <= BLI_SCALE_LARGEST))
            continue;
        const double length = 70 + 300 * bal_rng_uniform(&rng);
        const struct scale scale = scale_of(log, low, high, length, across);
        assert_true(scale.low < scale.high);
        assert_true(scale.low <= low && high <= scale.high);
        double last = -INFINITY;
        size_t texts = 0;
        for (size_t i = 0; i < scale.count; i++) {
            const double share = bli_scale_share(&scale, scale.tick[i].at);
            assert_true(share > -1e-6 && share < 1 + 1e-6);
            assert_true(scale.tick[i].at > last);
            last = scale.tick[i].at;
            texts += !scale.tick[i].minor;
        }
        if (texts < 1 || (spread > 1e-2 && spread < 10 && length > 140))
            if (texts < 2)
                fail_msg("%s axis from %g to %g, %g points long, has %zu texts", log ? "log" : "linear", low,
                         high, length, texts);
    }
}

static void axes_survive_what_is_no_number(void **state) {
    (void)state;
    static const double odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0, 1e-320, 1e308, -1e308, 1};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t k = 0; k < sizeof odd / sizeof *odd; k++)
            for (int log = 0; log < 2; log++) {
                const struct scale scale = scale_of(log, odd[i], odd[k], 100, true);
                assert_true(isfinite(scale.low) && isfinite(scale.high) && scale.low < scale.high);
                assert_true(!log || scale.low > 0);
            }
}

static void strips_leave_the_ticks(void **state) {
    (void)state;
    struct scale scale = scale_of(true, 1, 100, 140, false);
    const double high = scale.high;
    bli_scale_extend(&scale, 0.25);
    assert_float_equal(bli_scale_share(&scale, high), 0.8, 1e-12);
    assert_float_equal(bli_scale_at(&scale, 0.8), high, 1e-9);
}

/* ---- text ---- */

static void expect_clean(const char *text, const char *expected) {
    char *clean = bli_text_clean(text);
    assert_string_equal(clean, expected);
    free(clean);
}

static void text_is_made_harmless(void **state) {
    (void)state;
    expect_clean(NULL, "");
    expect_clean("plain λ → ∞ 漢 🙂", "plain λ → ∞ 漢 🙂");
    expect_clean("a\nb\tc\rd", "a b c d");
    expect_clean("\x01\x1b[31m\x7f", "\uFFFD\uFFFD[31m\uFFFD");
    expect_clean("\xff\xc3(", "\uFFFD\uFFFD(");                   /* no UTF-8; cut short */
    expect_clean("\xc0\xaf", "\uFFFD\uFFFD");                     /* overlong */
    expect_clean("\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD");           /* a surrogate */
    expect_clean("\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"); /* beyond Unicode */
    expect_clean("\xef\xbf\xbe", "\uFFFD");                       /* no character */
    expect_clean("\xe2\x82", "\uFFFD\uFFFD");                     /* the end inside a character */
    char all[256];
    for (int i = 1; i < 256; i++)
        all[i - 1] = (char)i;
    all[255] = '\0';
    char *clean = bli_text_clean(all);
    expect_clean(clean, clean); /* once is enough */
    free(clean);
}

static void text_is_measured_and_broken(void **state) {
    (void)state;
    assert_float_equal(bli_text_width("iiii", 4), 4 * 0.278F, 1e-6);
    assert_true(bli_text_width("mm", 2) >= 2 * 0.974 && bli_text_width("W", 1) >= 0.989); /* DejaVu Sans */
    assert_true(bli_text_width("@", 1) >= 1.015);                                         /* Helvetica */
    assert_true(bli_text_width("wide", 4) < bli_text_width("wider", 5));
    assert_int_equal(bli_text_break("one two three", 100), 13);
    assert_int_equal(bli_text_break("one two three", bli_text_width("one two t", 9)), 7);
    assert_int_equal(bli_text_break("unbreakable", bli_text_width("unbr", 4) + 0.01), 4);
    assert_int_equal(bli_text_break("λλλ", 0.1), 2); /* at least one whole character */
}

/* ---- figures to try ---- */

enum { MOST = 12 };

struct sample {
    struct bli_figure figure;
    struct bli_panel panel[BLI_PANELS_MAX];
    struct bli_series series[BLI_PANELS_MAX][2 * MOST];
    double x[2 * MOST], y[2 * MOST], half_width[2 * MOST];
    enum bli_verdict verdict[2 * MOST];
    char name[MOST][80];
    const char *names[2 * MOST];
};

static double pick(struct bal_rng *rng, double from, double to) {
    return from + (to - from) * bal_rng_uniform(rng);
}

static unsigned dice(struct bal_rng *rng, unsigned sides) {
    return (unsigned)bal_rng_below(rng, sides);
}

static void random_numbers(struct sample *sample, struct bal_rng *rng) {
    const double size = pow(10, pick(rng, -4, 6));
    for (int i = 0; i < 2 * MOST; i++) {
        sample->x[i] = i;
        sample->y[i] = size * pick(rng, 0.01, 1);
        sample->half_width[i] = dice(rng, 4) ? 0.1 * sample->y[i] : NAN;
        sample->verdict[i] = (enum bli_verdict)(dice(rng, 5) ? BLI_STABLE : dice(rng, 3));
        sample->names[i] = sample->name[i % MOST];
    }
}

static void random_sample(struct sample *sample, struct bal_rng *rng) {
    static const char *const words[] = {
        "pod:d=2",  "jsq", "pod-memory:d=1,b=1", "a policy with a long name of several words",
        "N = 1000", "λ"};
    memset(sample, 0, sizeof *sample);
    for (int g = 0; g < MOST; g++)
        snprintf(sample->name[g], sizeof sample->name[g], "%s %d", words[dice(rng, 6)], g);
    random_numbers(sample, rng);
    sample->figure = (struct bli_figure){
        .title = dice(rng, 3) ? "A title that may be long enough to need more than a single line of its own"
                              : NULL,
        .panel = sample->panel,
        .panels = 1 + dice(rng, dice(rng, 2) ? 3 : 12),
        .columns = dice(rng, 4)};
    const bool names = dice(rng, 4) == 0, theory = dice(rng, 2);
    for (size_t p = 0; p < sample->figure.panels; p++) {
        const size_t groups = 1 + dice(rng, MOST);
        struct bli_panel *panel = &sample->panel[p];
        *panel = (struct bli_panel){
            .title = dice(rng, 2) ? "panel" : NULL,
            .x = {.label = "load"},
            .y = {.label = dice(rng, 2) ? "mean response time" : "99.9th percentile of the response time",
                  .unit = "service times",
                  .log = dice(rng, 2)},
            .series = sample->series[p],
            .count = groups * (1 + theory)};
        if (names) {
            panel->x.names = sample->names;
            panel->x.name_count = MOST;
        }
        for (size_t s = 0; s < panel->count; s++)
            sample->series[p][s] =
                (struct bli_series){.name = sample->name[s % groups],
                                    .group = (unsigned)(s % groups),
                                    .style = names ? BLI_STYLE_BARS : (enum bli_style)dice(rng, 3),
                                    .theory = s >= groups,
                                    .count = MOST,
                                    .x = sample->x,
                                    .y = sample->y + dice(rng, MOST),
                                    .half_width = sample->half_width,
                                    .verdict = sample->verdict};
    }
}

/* ---- placement ---- */

static double right_end(const struct entry *entry) {
    return entry->left + entry->sample + SAMPLE_GAP +
           LETTERS * bli_text_width(entry->text, strlen(entry->text));
}

static double widest_tick(const struct scale *scale) {
    double width = 0;
    for (size_t i = 0; i < scale->count; i++)
        width = fmax(width, SMALL_LETTERS * bli_tick_width(&scale->tick[i]));
    return width;
}

static void check_legend(const struct layout *layout, double bottom) {
    for (size_t i = 0; i < layout->entries; i++) {
        const struct entry *a = &layout->entry[i];
        assert_true(a->left >= 0 && right_end(a) <= layout->width + 1e-9);
        assert_true(a->middle - LETTERS / 2 >= bottom && a->middle + LETTERS / 2 <= layout->height);
        for (size_t k = 0; k < i; k++) {
            const struct entry *b = &layout->entry[k];
            const bool same_row = fabs(a->middle - b->middle) < LETTERS;
            assert_true(!same_row || right_end(b) < a->left || right_end(a) < b->left);
        }
    }
}

static void check_panels(const struct bli_figure *figure, const struct layout *layout, double *bottom) {
    for (size_t i = 0; i < figure->panels; i++) {
        const struct panel_layout *a = &layout->panel[i];
        assert_true(a->frame.width >= 60 && a->frame.height >= 60);
        assert_true(a->frame.left > 0 && a->frame.left + a->frame.width <= layout->width);
        for (int line = 0; line < 2 && a->y_label[line]; line++) {
            assert_true(a->y_label_at[line] - LETTERS / 2 >= 0);
            /* a little air, also where digits are those of DejaVu Sans, and ticks as far from the axis as
             * drawn */
            assert_true(a->y_label_at[line] + LETTERS / 2 + 2 <=
                        a->frame.left - 6 - 1.144 * widest_tick(&a->y));
        }
        assert_true(!a->title || a->title_at + LETTERS / 2 <= a->frame.top);
        *bottom = fmax(*bottom, a->frame.top + a->frame.height);
        for (size_t k = 0; k < a->names && a->turn > 0; k++) { /* a turned name ends below its place */
            const double length = SMALL_LETTERS * bli_text_width(a->name[k], strlen(a->name[k]));
            const double place = a->frame.left + a->frame.width * bli_scale_share(&a->x, (double)k);
            assert_true(place - length * cos(a->turn * 3.14159 / 180) >= 0);
            *bottom = fmax(*bottom, a->frame.top + a->frame.height + length * sin(a->turn * 3.14159 / 180));
        }
        for (int line = 0; line < LABEL_LINES && a->x_label[line]; line++)
            *bottom = fmax(*bottom, a->x_label_at[line] + LETTERS / 2);
        for (size_t k = 0; k < i; k++) {
            const struct box *x = &a->frame, *y = &layout->panel[k].frame;
            assert_true(x->left >= y->left + y->width || y->left >= x->left + x->width ||
                        x->top >= y->top + y->height + SMALL_LETTERS);
        }
    }
}

static void nothing_covers_anything(void **state) {
    (void)state;
    struct sample *sample = malloc(sizeof *sample);
    struct bal_rng rng;
    bal_rng_init(&rng, 2, 0, BAL_STREAM_TEST);
    for (int round = 0; round < 500; round++) {
        random_sample(sample, &rng);
        assert_int_equal(bli_figure_check(&sample->figure, NULL), BAL_OK);
        struct layout *layout = bli_layout_new(&sample->figure);
        double bottom = 0;
        check_panels(&sample->figure, layout, &bottom);
        check_legend(layout, bottom);
        bli_layout_free(layout);
    }
    free(sample);
}

/* How many legend entries have this text. */
static size_t entries_with(const struct bli_figure *figure, const char *text) {
    struct layout *layout = bli_layout_new(figure);
    size_t count = 0;
    for (size_t i = 0; i < layout->entries; i++)
        count += strcmp(layout->entry[i].text, text) == 0;
    bli_layout_free(layout);
    return count;
}

static void panels_whose_axes_differ_say_so(void **state) {
    (void)state;
    static const char across[] = "panels differ in their x axes", up[] = "panels differ in their y axes";
    const double x[] = {0, 1}, low[] = {1, 2}, high[] = {1, 200};
    const struct bli_series small = {.count = 2, .x = x, .y = low}, large = {.count = 2, .x = x, .y = high};
    struct bli_panel panel[2] = {
        {.x = {.label = "load"}, .y = {.label = "delay"}, .series = &small, .count = 1},
        {.x = {.label = "load"}, .y = {.label = "delay"}, .series = &large, .count = 1}};
    const struct bli_figure figure = {.panel = panel, .panels = 2};
    assert_int_equal(entries_with(&figure, up), 1);
    assert_int_equal(entries_with(&figure, across), 0);
    panel[1].series = &small;
    assert_int_equal(entries_with(&figure, up), 0);
    panel[1].x.log = true;
    assert_int_equal(entries_with(&figure, across), 1);
    panel[1].x.label = "time"; /* other things have other axes */
    assert_int_equal(entries_with(&figure, across), 0);
}

/* Equal axes stay equal where some panels have unstable points and others have none, or more. */
static void strips_make_no_axes_differ(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {1, 2, 3};
    const enum bli_verdict good[3] = {0}, bad[] = {BLI_STABLE, BLI_STABLE, BLI_UNSTABLE};
    const struct bli_series one[] = {{.count = 2, .x = x, .y = y}},
                            two[] = {{.count = 3, .x = x, .y = y, .verdict = bad},
                                     {.group = 1, .count = 2, .x = x, .y = y, .verdict = good}},
                            all[] = {{.count = 3, .x = x, .y = y, .verdict = bad},
                                     {.group = 1, .count = 3, .x = x, .y = y, .verdict = bad}};
    const struct bli_panel panel[3] = {
        {.series = one, .count = 1}, {.series = two, .count = 2}, {.series = all, .count = 2}};
    const struct bli_figure figure = {.panel = panel, .panels = 3};
    assert_int_equal(entries_with(&figure, "panels differ in their y axes"), 0);
    struct layout *layout = bli_layout_new(&figure);
    for (int i = 0; i < 3; i++)
        assert_float_equal(layout->panel[i].strip, layout->panel[0].strip, 1e-12);
    bli_layout_free(layout);
}

/* However many curves are unstable, most of the height is left to the others, and marks do not overlap. */
static void strips_stay_low(void **state) {
    (void)state;
    const double x[] = {0, 1}, y[] = {1, 2};
    const enum bli_verdict bad[] = {BLI_STABLE, BLI_UNSTABLE};
    struct bli_series series[12];
    for (unsigned g = 0; g < 12; g++)
        series[g] = (struct bli_series){.group = g, .count = 2, .x = x, .y = y, .verdict = bad};
    const struct bli_panel panel = {.series = series, .count = 12};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    struct layout *layout = bli_layout_new(&figure);
    assert_true(layout->panel->strip >= 0.75 - 1e-12);
    assert_true(12 * layout->panel->strip_row <= 0.25 * layout->panel->frame.height + 1e-9);
    bli_layout_free(layout);
}

/* A computed line that goes to infinity does not flatten what was measured. */
static void poles_leave_the_panel(void **state) {
    (void)state;
    const double x[] = {0.5, 0.9, 0.99}, measured[] = {2, 5, NAN}, computed[] = {2, 8, 1000};
    const struct bli_series series[] = {{.count = 3, .x = x, .y = measured},
                                        {.theory = true, .count = 3, .x = x, .y = computed}};
    struct bli_panel panel = {.series = series, .count = 2};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    struct layout *layout = bli_layout_new(&figure);
    assert_true(layout->panel->y.high >= 8 && layout->panel->y.high < 11);
    bli_layout_free(layout);
    panel.count = 1, panel.series = series + 1; /* alone, it is what there is to see */
    layout = bli_layout_new(&figure);
    assert_true(layout->panel->y.high >= 1000);
    bli_layout_free(layout);
}

/* Points that a logarithmic axis has no place for are counted, and the other axis still reaches them. */
static void log_axes_say_what_they_lose(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4}, y[] = {1, 0, 5, -1};
    const struct bli_series series = {.count = 4, .x = x, .y = y};
    struct bli_panel panel = {.y = {.log = true}, .series = &series, .count = 1};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    assert_int_equal(entries_with(&figure, "not shown: 2 points at or below 0 (log axis)"), 1);
    struct layout *layout = bli_layout_new(&figure);
    assert_true(layout->panel->x.high >= 4);
    bli_layout_free(layout);
    panel.y.log = false;
    layout = bli_layout_new(&figure);
    assert_int_equal(layout->entries, 0);
    bli_layout_free(layout);
}

static void intervals_of_times_end_at_zero(void **state) {
    (void)state;
    const double x[] = {1}, y[] = {1}, half[] = {3};
    const struct bli_series series = {.count = 1, .x = x, .y = y, .half_width = half};
    struct bli_panel panel = {.y = {.nonnegative = true}, .series = &series, .count = 1};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    struct layout *layout = bli_layout_new(&figure);
    assert_true(layout->panel->y.low == 0 && layout->panel->y.high >= 4);
    bli_layout_free(layout);
    panel.y.nonnegative = false; /* differences may be below */
    layout = bli_layout_new(&figure);
    assert_true(layout->panel->y.low < -2);
    bli_layout_free(layout);
}

/* ---- the script ---- */

/* How often a text occurs in the script of a figure. */
static size_t times_in_script(const struct bli_figure *figure, const char *text) {
    char *script;
    assert_int_equal(bli_figure_script(figure, BLI_FIGURE_SVG, &script, NULL), BAL_OK);
    size_t count = 0;
    for (const char *at = script; (at = strstr(at, text)); at++)
        count++;
    free(script);
    return count;
}

/* Eyes that see no colours tell curves by their points or, where they have none, by their dashes. */
static void curves_differ_by_shape(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {1, 2, 3};
    const enum bli_style styles[] = {BLI_STYLE_LINE, BLI_STYLE_LINE, BLI_STYLE_LINE, BLI_STYLE_POINTS};
    const bool theories[] = {false, true, false, true};
    for (int kind = 0; kind < 4; kind++) { /* measured, computed, both; computed through points */
        struct bli_series series[6];
        size_t count = 0;
        for (unsigned g = 0; g < 3; g++) {
            const struct bli_series one = {.name = "a",
                                           .group = g,
                                           .style = styles[kind],
                                           .theory = theories[kind],
                                           .count = 3,
                                           .x = x,
                                           .y = y};
            series[count++] = one;
            if (kind < 2)
                continue;
            series[count] = one;
            series[count++].theory = !theories[kind];
        }
        const struct bli_panel panel = {.series = series, .count = count};
        const struct bli_figure figure = {.panel = &panel, .panels = 1};
        const size_t wanted = kind < 3 ? 2 : 0; /* a curve and its sample in the legend */
        assert_int_equal(times_in_script(&figure, " dt (12,8)"), wanted);
        assert_int_equal(times_in_script(&figure, " dt (4,6)"), wanted);
    }
}

/* A measured curve without a computed one, in a figure that has some, is pale and keeps its dashes. */
static void pale_curves_keep_their_dashes(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {1, 2, 3};
    const struct bli_series series[] = {
        {.name = "a", .style = BLI_STYLE_LINE, .count = 3, .x = x, .y = y},
        {.name = "a", .style = BLI_STYLE_LINE, .theory = true, .count = 3, .x = x, .y = y},
        {.name = "b", .style = BLI_STYLE_LINE, .group = 1, .count = 3, .x = x, .y = y}};
    const struct bli_panel panel = {.series = series, .count = 3};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    assert_int_equal(times_in_script(&figure, " dt (12,8)"), 2);
    assert_int_equal(times_in_script(&figure, "'#98d55e00'"), 2); /* the curve and its sample */
}

/* What is computed at a named place is a stroke there; no line leads from place to place. */
static void named_places_are_not_joined(void **state) {
    (void)state;
    const double x[] = {0, 1}, y[] = {1, 2};
    static const char *const names[] = {"one", "other"};
    const struct bli_series series[] = {{.name = "a", .count = 2, .x = x, .y = y},
                                        {.name = "a", .theory = true, .count = 2, .x = x, .y = y}};
    struct bli_panel panel = {.x = {.names = names, .name_count = 2}, .series = series, .count = 2};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    assert_int_equal(times_in_script(&figure, " with lines"), 0);
    assert_int_equal(times_in_script(&figure, " with vectors nohead"), 1);
    panel.count = 1; /* nor a pale one from point to point */
    assert_int_equal(times_in_script(&figure, " with lines"), 0);
    panel.x.names = NULL;
    assert_int_equal(times_in_script(&figure, " with lines"), 1);
}

/* Each doubted point has its ring, and the legend a sample; one that is not drawn has none. */
static void doubted_points_have_rings(void **state) {
    (void)state;
    const double x[] = {0, 1, 2}, y[] = {1, 2, 3};
    const enum bli_verdict verdict[] = {BLI_STABLE, BLI_STABLE, BLI_UNSTABLE};
    bool doubted[] = {false, true, true};
    const struct bli_series series = {
        .name = "a", .count = 3, .x = x, .y = y, .verdict = verdict, .doubted = doubted};
    const struct bli_panel panel = {.series = &series, .count = 1};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    assert_int_equal(times_in_script(&figure, "'doubted'"), 1);
    assert_int_equal(times_in_script(&figure, "_6 using 1:2 with points pt 6 "), 1);
    assert_int_equal(times_in_script(&figure, "$data_0_0_6 << END\n\n1 2 2 2\n\nEND"), 1);
    doubted[1] = false;
    assert_int_equal(times_in_script(&figure, "'doubted'"), 0);
}

/* Unstable points of the first and the eighth group, which have one colour, differ by shape. */
static void crosses_differ_by_shape(void **state) {
    (void)state;
    const double x[] = {0, 1}, y[] = {1, 2};
    const enum bli_verdict bad[] = {BLI_STABLE, BLI_UNSTABLE};
    const struct bli_series series[] = {{.count = 2, .x = x, .y = y, .verdict = bad},
                                        {.group = 7, .count = 2, .x = x, .y = y, .verdict = bad}};
    const struct bli_panel panel = {.series = series, .count = 2};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    assert_int_equal(times_in_script(&figure, "$data_0_0_5 using 1:2 with points pt 6 "), 1);
    assert_int_equal(times_in_script(&figure, "$data_0_1_5 using 1:2 with points pt 4 "), 1);
    assert_int_equal(times_in_script(&figure, " pt 2 "), 3); /* each has its cross; one in the legend */
}

/* And bars by how they are filled, in the panel and in the legend. */
static void bars_differ_by_more_than_colour(void **state) {
    (void)state;
    static const double x[] = {0, 1}, y[] = {2, 3};
    static const char *const names[] = {"a", "b"};
    const struct bli_series series[] = {
        {.name = "one", .style = BLI_STYLE_BARS, .group = 0, .count = 2, .x = x, .y = y},
        {.name = "two", .style = BLI_STYLE_BARS, .group = 1, .count = 2, .x = x, .y = y},
        {.name = "three", .style = BLI_STYLE_BARS, .group = 2, .count = 2, .x = x, .y = y}};
    const struct bli_panel panel = {.x = {.names = names, .name_count = 2}, .count = 3, .series = series};
    const struct bli_figure figure = {.panels = 1, .panel = &panel};
    static const char *const fills[] = {" fs pattern 3 ", " fs pattern 4 ", " fs pattern 1 "};
    for (int i = 0; i < 3; i++)
        assert_int_equal(times_in_script(&figure, fills[i]), 2);
}

/* What is left of a script without its strings: all that gnuplot could take for a command. */
static char *without_strings(const char *script) {
    char *rest = malloc(strlen(script) + 1), *to = rest;
    bool inside = false;
    for (; *script; script++) {
        assert_true(!inside || *script != '\n'); /* no string goes over the end of its line */
        if (*script == '\'')
            inside = !inside;
        else if (!inside)
            *to++ = *script;
    }
    assert_false(inside);
    *to = '\0';
    return rest;
}

static void no_text_becomes_a_command(void **state) {
    (void)state;
    static const char *const bad[] = {"EVIL'",        "EVIL'; system('x') #",
                                      "`EVIL`",       "EVIL\nset output 'x'",
                                      "\"EVIL\"",     "EVIL\\",
                                      "EVIL''",       "'EVIL",
                                      "$EVIL << EOD", "EVIL % %s %d",
                                      "@EVIL",        "{/Symbol EVIL}_x^y"};
    const double x[] = {0, 1}, y[] = {1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *names[] = {bad[i], bad[i]};
        const struct bli_series series = {
            .name = bad[i], .style = BLI_STYLE_BARS, .count = 2, .x = x, .y = y};
        const struct bli_panel panel = {
            .title = bad[i],
            .x = {.label = bad[i], .unit = bad[i], .names = names, .name_count = 2},
            .y = {.label = bad[i], .unit = bad[i]},
            .series = &series,
            .count = 1};
        const struct bli_figure figure = {.title = bad[i], .panel = &panel, .panels = 1};
        char *script;
        assert_int_equal(bli_figure_script(&figure, BLI_FIGURE_SVG, &script, NULL), BAL_OK);
        assert_non_null(strstr(script, "EVIL"));
        char *rest = without_strings(script);
        assert_null(strstr(rest, "EVIL"));
        assert_null(strstr(rest, "system"));
        free(rest);
        free(script);
    }
}

static void expect_refused(const struct bli_figure *figure, const char *part) {
    struct bal_error err = {0};
    char *script;
    assert_int_equal(bli_figure_script(figure, BLI_FIGURE_SVG, &script, &err), BAL_E_RANGE);
    assert_non_null(strstr(err.text, part));
}

static void bad_figures_are_refused(void **state) {
    (void)state;
    static const struct bli_series stranger = {.group = BLI_GROUP_INK + 1};
    struct bli_panel panel = {0};
    struct bli_figure figure = {.panel = &panel, .panels = 0};
    expect_refused(&figure, "0 panels");
    figure.panels = BLI_PANELS_MAX + 1;
    expect_refused(&figure, "37 panels");
    figure.panels = 1;
    panel.y = (struct bli_axis){.low = 2, .high = 1};
    expect_refused(&figure, "y axis ends at 1");
    panel.y = (struct bli_axis){.log = true, .low = 0, .high = 1};
    expect_refused(&figure, "cannot reach 0");
    panel.y = (struct bli_axis){.log = true, .low = NAN, .high = -1};
    expect_refused(&figure, "cannot reach -1");
    panel.y = (struct bli_axis){.low = 0, .high = INFINITY};
    expect_refused(&figure, "beyond");
    panel = (struct bli_panel){.series = &stranger, .count = 1};
    expect_refused(&figure, "groups");
}

/* What is asked for is on the paper, and the lines around it keep their places. */
static void sizes_are_kept(void **state) {
    (void)state;
    static const double x[] = {1, 2, 3}, y[] = {1, 4, 9};
    static const struct bli_series series = {
        .name = "squares", .style = BLI_STYLE_POINTS, .count = 3, .x = x, .y = y};
    static const struct bli_panel panel = {
        .x = {.label = "x"}, .y = {.label = "y"}, .series = &series, .count = 1};
    struct bli_figure figure = {.title = "sized", .panel = &panel, .panels = 1, .size = {360, 288, 12}};
    char *script;
    assert_int_equal(bli_figure_script(&figure, BLI_FIGURE_PDF, &script, NULL), BAL_OK);
    assert_non_null(strstr(script, "set terminal pdfcairo enhanced size 5in,4in"));
    assert_non_null(strstr(script, " font 'Liberation Sans,18'")); /* 12 points, see bli_pen_devices */
    assert_null(strstr(script, " font 'Liberation Sans,12'"));
    free(script);
    for (double height = 150; height < 400; height += 50) {
        figure.size = (struct bli_figure_size){.height = height, .letters = 9};
        struct layout *layout = bli_layout_new(&figure);
        assert_non_null(layout);
        assert_true(fabs(layout->height * layout->scale - height) < 1e-9);
        assert_true(fabs(layout->width * layout->scale - 252) < 1e-9);
        assert_true(layout->panel[0].frame.top + layout->panel[0].frame.height < layout->height);
        bli_layout_free(layout);
    }
    figure.size = (struct bli_figure_size){.height = 60};
    expect_refused(&figure, "60 points high has no room");
    figure.size = (struct bli_figure_size){.width = 10};
    expect_refused(&figure, "1 to 100 inches wide");
    figure.size = (struct bli_figure_size){.letters = NAN};
    expect_refused(&figure, "letters of 4 to 72 points");
}

static void formulas_are_characters(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"$\\lambda_1$", "λ₁"},
        {"rate $\\lambda_{12}$, $N^2$ and $E[T]^{-1}$", "rate λ₁₂, N² and E[T]⁻¹"},
        {"$\\rho \\to 1$", "ρ → 1"},
        {"$P(T > t)$", "P(T > t)"},
        {"$x_\\rho$", "xᵨ"},
        /* What has no character stays. */
        {"$x_{aq}$ $x_q$ $\\foo$ $x_$ $x_{$ $x^{12$", "x_{aq} x_q \\foo x_ x_{ x^{12"},
        /* No formulas. */
        {"$5 or $6", "$5 or $6"},
        {"$5 and $x_1", "$5 and $x_1"},
        {"pod:d_1^2", "pod:d_1^2"},
        {"$$", "$$"},
        {"$", "$"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = bli_text_formula(cases[i][0]);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
    char *bad = bli_text_formula("\xff$x_\xff$");
    assert_string_equal(bad, "\xef\xbf\xbdx_\xef\xbf\xbd");
    free(bad);
}

static void data_is_written_as_csv(void **state) {
    (void)state;
    static const double x[] = {0, 1, NAN}, y[] = {2.5, NAN, 1}, half[] = {0.5, NAN, 0};
    static const enum bli_verdict verdict[] = {BLI_STABLE, BLI_UNSTABLE, BLI_STABLE};
    static const bool doubted[] = {true, false, false};
    static const char *const names[] = {"one, two", "three"};
    static const struct bli_series series[] = {
        {.name = "a",
         .style = BLI_STYLE_POINTS,
         .count = 3,
         .x = x,
         .y = y,
         .half_width = half,
         .verdict = verdict,
         .doubted = doubted},
        {.name = "a", .theory = true, .count = 1, .x = x, .y = y},
        {.theory = true, .bound = true, .count = 1, .x = x, .y = y},
    };
    static const struct bli_panel panel = {.title = "p",
                                           .x = {.label = "x", .names = names, .name_count = 2},
                                           .y = {.label = "time", .unit = "slots"},
                                           .series = series,
                                           .count = 3};
    static const struct bli_figure figure = {.panel = &panel, .panels = 1};
    char *data;
    size_t size;
    assert_int_equal(bli_figure_render(&figure, BLI_FIGURE_CSV, &data, &size, NULL), BAL_OK);
    assert_string_equal(data, "panel,series,kind,x.label,x,y.label,y,y.ci,verdict,doubted\n"
                              "p,a,simulation,x,\"one, two\",time (slots),2.5,0.5,stable,yes\n"
                              "p,a,simulation,x,three,time (slots),,,unstable,no\n"
                              "p,a,theory,x,\"one, two\",time (slots),2.5,,,\n"
                              "p,,bound,x,\"one, two\",time (slots),2.5,,,\n");
    assert_int_equal(size, strlen(data));
    free(data);
}

/* Without colours: by shape and mark. */
static void groups_differ_in_grey(void **state) {
    (void)state;
    for (unsigned a = 0; a < 18; a++)
        for (unsigned b = 0; b < a; b++) {
            double size;
            assert_false(bli_pen_shape_of(a) == bli_pen_shape_of(b) &&
                         bli_pen_mark_of(a, &size) == bli_pen_mark_of(b, &size));
        }
}

static void formats_are_told_by_suffix(void **state) {
    (void)state;
    assert_int_equal(bli_figure_format_of("a.b/c.svg"), BLI_FIGURE_SVG);
    assert_int_equal(bli_figure_format_of("x.png"), BLI_FIGURE_PNG);
    assert_int_equal(bli_figure_format_of("x.pdf"), BLI_FIGURE_PDF);
    assert_int_equal(bli_figure_format_of("x.jpeg"), BLI_FIGURE_FORMATS);
    assert_int_equal(bli_figure_format_of("svg"), BLI_FIGURE_FORMATS);
    const struct bli_panel panel = {0};
    const struct bli_figure figure = {.panel = &panel, .panels = 1};
    struct bal_error err = {0};
    assert_int_equal(bli_figure_write(&figure, "figure.jpeg", &err), BAL_E_UNKNOWN);
    assert_non_null(strstr(err.text, "'figure.jpeg': its name must end in .svg, .png, .pdf, .eps or .csv"));
}

/* ---- pictures ---- */

static size_t count_text(const char *text, const char *part) {
    size_t count = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* Every tag that is opened is closed, in order, and no stray sign stands in the text. */
static void expect_well_formed(const char *svg) {
    char open[64][32];
    int depth = 0;
    for (const char *at = svg; (at = strchr(at, '<')); at++) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        if (at[1] == '?' || at[1] == '!')
            continue;
        char name[32] = "";
        sscanf(at + (at[1] == '/' ? 2 : 1), "%31[a-zA-Z]", name);
        if (at[1] == '/') {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        } else if (end[-1] != '/') {
            assert_true(depth < 64);
            strcpy(open[depth++], name);
        }
    }
    assert_int_equal(depth, 0);
}

static __attribute__((noinline)) char *render(const struct bli_figure *figure, enum bli_figure_format format,
                                              size_t *size) {
    struct bal_error err = {0};
    char *data = NULL;
    if (bli_figure_render(figure, format, &data, size, &err))
        fail_msg("%s", err.text);
    return data;
}

/* In the SVG a shape is a <use>: gpPt6 a full circle, gpPt5 a hollow one, gpPt1 a cross. */
static void points_are_drawn_as_their_verdict_says(void **state) {
    (void)state;
    const double x[] = {1, 2, 3, 4, 5, 6, 7}, y[] = {1, 2, NAN, 4, 5, INFINITY, 1e6};
    const enum bli_verdict verdict[] = {BLI_STABLE, BLI_STABLE,   BLI_STABLE,  BLI_UNDECIDED,
                                        BLI_STABLE, BLI_UNSTABLE, BLI_UNSTABLE};
    const struct bli_series series = {.name = "one", .count = 7, .x = x, .y = y, .verdict = verdict};
    const struct bli_panel panel = {.series = &series, .count = 1};
    const struct bli_figure figure = {.title = "<points> & \"more\"", .panel = &panel, .panels = 1};
    size_t size;
    char *svg = render(&figure, BLI_FIGURE_SVG, &size);
    assert_int_equal(size, strlen(svg));
    expect_well_formed(svg);
    assert_int_equal(count_text(svg, "gpPt6' transform"), 3 + 1);     /* and one in the legend */
    assert_int_equal(count_text(svg, "gpPt5' transform"), 1 + 1 + 2); /* under each cross of this group */
    assert_int_equal(count_text(svg, "gpPt1' transform"), 2 + 1);
    assert_non_null(strstr(svg, ">unstable<"));
    assert_non_null(strstr(svg, ">undecided<"));
    assert_non_null(strstr(svg, "<title>&lt;points&gt; &amp; \"more\"</title>"));
    assert_null(strstr(svg, "1000000")); /* the mean of an unstable point moves no axis */
    assert_null(strstr(svg, "rgb(31,31,31)"));
    assert_non_null(strstr(svg, "fill=\"currentColor\""));
    free(svg);
}

static void any_text_gives_a_good_picture(void **state) {
    (void)state;
    const double x[] = {0, 1}, y[] = {1, 2};
    const char *names[] = {"5% {x}_y", "'it's <b> &amp; \xff\n`id`'"};
    const struct bli_series series = {.name = names[1], .style = BLI_STYLE_BARS, .count = 2, .x = x, .y = y};
    const struct bli_panel panel = {.title = names[0],
                                    .x = {.label = "a\\nb $x @y", .names = names, .name_count = 2},
                                    .y = {.label = "</g></svg><script>alert(1)</script>", .unit = "%"},
                                    .series = &series,
                                    .count = 1};
    const struct bli_figure figure = {
        .title = "</title><script>alert(1)</script>", .panel = &panel, .panels = 1};
    size_t size;
    char *svg = render(&figure, BLI_FIGURE_SVG, &size);
    expect_well_formed(svg);
    assert_null(strstr(svg, "<script"));
    assert_int_equal(count_text(svg, "&lt;script"), 3); /* its name, its title, a label */
    assert_non_null(strstr(svg, ">5% {x}_y<"));
    assert_non_null(strstr(svg, "’it’s &lt;b> &amp;amp; \uFFFD `id`’"));
    assert_non_null(strstr(svg, "a\\nb $x @y"));
    free(svg);
}

static void identifiers_do_not_mix(void **state) {
    (void)state;
    const double x[] = {1, 2}, y[] = {1, 2};
    const struct bli_series series = {.count = 2, .x = x, .y = y};
    const struct bli_panel panel = {.series = &series, .count = 1};
    struct bli_figure figure = {.title = "one", .panel = &panel, .panels = 1};
    size_t size;
    char *one = render(&figure, BLI_FIGURE_SVG, &size), *again = render(&figure, BLI_FIGURE_SVG, &size);
    figure.title = "two";
    char *two = render(&figure, BLI_FIGURE_SVG, &size);
    assert_string_equal(one, again);
    char first[10], second[10];
    assert_int_equal(sscanf(strstr(one, "id='"), "id='%9[f0-9a-f]", first), 1);
    assert_int_equal(sscanf(strstr(two, "id='"), "id='%9[f0-9a-f]", second), 1);
    assert_string_not_equal(first, second);
    assert_int_equal(count_text(one, "href='#"), count_text(one, "href='#f"));
    free(one);
    free(again);
    free(two);
}

static void every_style_and_format_is_drawn(void **state) {
    (void)state;
    struct sample *sample = malloc(sizeof *sample);
    struct bal_rng rng;
    bal_rng_init(&rng, 3, 0, BAL_STREAM_TEST);
    static const char *const magic[] = {"<?xml", "\x89PNG\r\n", "%PDF-", "%!PS-Adobe-3.0 EPSF-3.0"};
    for (int round = 0; round < 8; round++) {
        random_sample(sample, &rng);
        const enum bli_figure_format format = (enum bli_figure_format)(round % BLI_FIGURE_CSV);
        size_t size;
        char *data = render(&sample->figure, format, &size);
        assert_true(size > 1000);
        assert_memory_equal(data, magic[format], strlen(magic[format]));
        if (format == BLI_FIGURE_SVG)
            expect_well_formed(data);
        free(data);
    }
    free(sample);
}

static void empty_figures_are_drawn(void **state) {
    (void)state;
    const double x[] = {NAN}, y[] = {1};
    const struct bli_series series = {.name = "nothing", .count = 1, .x = x, .y = y};
    const struct bli_panel panels[] = {{.y = {.log = true}}, {.series = &series, .count = 1}};
    const struct bli_figure figure = {.panel = panels, .panels = 2};
    size_t size;
    char *svg = render(&figure, BLI_FIGURE_SVG, &size);
    expect_well_formed(svg);
    free(svg);
}

/* ---- files and failures ---- */

static const struct bli_panel plain_panel = {.title = "plain"};
static const struct bli_figure plain = {.panel = &plain_panel, .panels = 1};

/* An empty directory to work in. */
static void enter_directory(char place[64]) {
    strcpy(place, "/tmp/ballast-figure-XXXXXX");
    assert_non_null(mkdtemp(place));
    assert_int_equal(chdir(place), 0);
}

static void leave_directory(const char *place) {
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(place), 0); /* and nothing was left behind */
}

static void files_are_whole_or_absent(void **state) {
    (void)state;
    char place[64];
    enter_directory(place);
    struct bal_error err = {0};
    assert_int_equal(bli_figure_write(&plain, "x.svg", &err), BAL_OK);
    struct stat about;
    assert_int_equal(stat("x.svg", &about), 0);
    const mode_t mask = umask(0);
    umask(mask);
    assert_int_equal(about.st_mode & 0777, 0666 & ~mask);
    assert_int_equal(bli_figure_write(&plain, "x.svg", &err), BAL_OK); /* replaces the first */
    assert_int_equal(bli_figure_write(&plain, "nowhere/x.svg", &err), BAL_E_IO);
    assert_non_null(strstr(err.text, "'nowhere/x.svg' cannot be written: No such file"));
    assert_int_equal(mkdir("y.svg", 0777), 0);
    assert_int_equal(bli_figure_write(&plain, "y.svg", &err), BAL_E_IO); /* cannot take the place of a
                                                                            directory */
    assert_int_equal(rmdir("y.svg"), 0);
    assert_int_equal(unlink("x.svg"), 0);
    leave_directory(place);
}

/* Puts a program called gnuplot, or none, where it is looked for, and expects the error that follows. */
static void expect_failure(const char *program, const char *part) {
    char place[64];
    enter_directory(place);
    if (program) {
        FILE *file = fopen("gnuplot", "w");
        fprintf(file, "#!/bin/sh\n%s\n", program);
        fclose(file);
        assert_int_equal(chmod("gnuplot", 0755), 0);
    }
    char *path = strdup(getenv("PATH"));
    setenv("PATH", place, 1);
    struct bal_error err = {0};
    assert_int_equal(bli_figure_write(&plain, "x.svg", &err), BAL_E_IO);
    setenv("PATH", path, 1);
    free(path);
    if (!strstr(err.text, part))
        fail_msg("'%s' does not say '%s'", err.text, part);
    assert_int_equal(access("x.svg", F_OK), -1);
    unlink("gnuplot");
    leave_directory(place);
}

static void failures_are_told_in_one_line(void **state) {
    (void)state;
    expect_failure(
        NULL, "gnuplot is not installed, and figures need it; on Debian it is in the package gnuplot-nox");
    expect_failure("echo something >&2; echo '   line 3: undefined thing' >&2; exit 1",
                   "gnuplot failed: line 3: undefined thing");
    expect_failure("exit 0", "gnuplot failed: it gave no reason");
    expect_failure("kill -9 $$", "gnuplot was ended by signal 9");
    expect_failure("head -c 10 >/dev/null; exit 1", "gnuplot failed"); /* without reading all of its script */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(one_value_gets_a_short_axis),
        cmocka_unit_test(ticks_are_the_decimals_that_they_show),
        cmocka_unit_test(hours_are_those_of_a_clock),
        cmocka_unit_test(axes_end_where_they_are_told),
        cmocka_unit_test(axes_fit_any_data),
        cmocka_unit_test(axes_survive_what_is_no_number),
        cmocka_unit_test(strips_leave_the_ticks),
        cmocka_unit_test(text_is_made_harmless),
        cmocka_unit_test(text_is_measured_and_broken),
        cmocka_unit_test(nothing_covers_anything),
        cmocka_unit_test(panels_whose_axes_differ_say_so),
        cmocka_unit_test(strips_make_no_axes_differ),
        cmocka_unit_test(strips_stay_low),
        cmocka_unit_test(poles_leave_the_panel),
        cmocka_unit_test(log_axes_say_what_they_lose),
        cmocka_unit_test(intervals_of_times_end_at_zero),
        cmocka_unit_test(curves_differ_by_shape),
        cmocka_unit_test(pale_curves_keep_their_dashes),
        cmocka_unit_test(named_places_are_not_joined),
        cmocka_unit_test(doubted_points_have_rings),
        cmocka_unit_test(crosses_differ_by_shape),
        cmocka_unit_test(bars_differ_by_more_than_colour),
        cmocka_unit_test(no_text_becomes_a_command),
        cmocka_unit_test(bad_figures_are_refused),
        cmocka_unit_test(sizes_are_kept),
        cmocka_unit_test(formulas_are_characters),
        cmocka_unit_test(data_is_written_as_csv),
        cmocka_unit_test(groups_differ_in_grey),
        cmocka_unit_test(formats_are_told_by_suffix),
        cmocka_unit_test(points_are_drawn_as_their_verdict_says),
        cmocka_unit_test(any_text_gives_a_good_picture),
        cmocka_unit_test(identifiers_do_not_mix),
        cmocka_unit_test(every_style_and_format_is_drawn),
        cmocka_unit_test(empty_figures_are_drawn),
        cmocka_unit_test(files_are_whole_or_absent),
        cmocka_unit_test(failures_are_told_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
