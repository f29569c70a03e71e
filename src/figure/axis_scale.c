/* SPDX-License-Identifier: BSD-2-Clause */
/* Ticks at 1, 2 or 5 times a power of ten, as many as fit (the idea of Heckbert, Nice numbers for graph
 * labels, Graphics Gems, 1990), but the axis ends where the data end, with a little air, not at a tick. */
#include "figure/axis_scale.h"

#include "ballast/number.h"
#include "format/text.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double air = 0.04; /* between the data and the frame, as a share of the axis */

const struct span bli_span_empty = {INFINITY, -INFINITY, INFINITY};

void bli_span_add(struct span *span, double value) {
    if (!(fabs(value) <= BLI_SCALE_LARGEST))
        return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
    if (value >= 1 / BLI_SCALE_LARGEST)
        span->least = fmin(span->least, value);
}

double bli_scale_at(const struct scale *scale, double share) {
    if (scale->log)
        return scale->low * pow(scale->high / scale->low, share);
    return scale->low + share * (scale->high - scale->low);
}

double bli_scale_share(const struct scale *scale, double value) {
    if (scale->log)
        return log(value / scale->low) / log(scale->high / scale->low);
    return (value - scale->low) / (scale->high - scale->low);
}

void bli_scale_extend(struct scale *scale, double share) {
    scale->high = bli_scale_at(scale, 1 + share);
}

static struct tick *add_tick(struct scale *scale, double at, bool minor) {
    assert(scale->count < sizeof scale->tick / sizeof scale->tick[0]);
    struct tick *tick = &scale->tick[scale->count++];
    *tick = (struct tick){.at = at, .minor = minor};
    return tick;
}

static bool is_on_scale(const struct scale *scale, double value) {
    const double share = bli_scale_share(scale, value);
    return share > -1e-9 && share < 1 + 1e-9;
}

/* mantissa * 10^exponent, correctly rounded where that matters: 3 * 10^-1 must be the 0.3 of the data. */
static double decimal_value(double mantissa, int exponent) {
    return exponent < 0 ? mantissa / pow(10, -exponent) : mantissa * pow(10, exponent);
}

static void power_text(struct tick *tick, double mantissa, int exponent) {
    const char *minus = exponent < 0 ? "−" : "";
    const int digits = exponent < 0 ? -exponent : exponent;
    if (mantissa == 1)
        snprintf(tick->text, sizeof tick->text, "10^{%s%d}", minus, digits);
    else
        snprintf(tick->text, sizeof tick->text, "%s%.0f×10^{%s%d}", mantissa < 0 ? "−" : "", fabs(mantissa),
                 minus, digits);
}

/* A plain number, in short where the largest of its scale is 10k or more. */
static void plain_text(struct tick *tick, double value, double largest) {
    const double size = fabs(value);
    const double unit = size >= 1e9 ? 1e9 : size >= 1e6 ? 1e6 : size > 0 && largest >= 1e4 ? 1e3 : 1;
    const char *suffix = unit == 1e9 ? "G" : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
    char digits[BLI_NUMBER_TEXT];
    bli_number_print(size / unit, digits);
    snprintf(tick->text, sizeof tick->text, "%s%.12s%s", value < 0 ? "−" : "", digits, suffix);
}

double bli_tick_width(const struct tick *tick) {
    const char *raised = strstr(tick->text, "^{");
    if (!raised)
        return bli_text_width(tick->text, strlen(tick->text));
    const char *from = raised + 2, *to = strchr(from, '}');
    return bli_text_width(tick->text, (size_t)(raised - tick->text)) +
           0.8 * bli_text_width(from, (size_t)(to - from));
}

/* Do the texts keep their distance? */
static bool texts_fit(const struct scale *scale, const struct scale_wish *wish) {
    const struct tick *last = NULL;
    for (size_t i = 0; i < scale->count; i++) {
        const struct tick *tick = &scale->tick[i];
        if (tick->minor)
            continue;
        if (last) {
            const double distance =
                wish->length * (bli_scale_share(scale, tick->at) - bli_scale_share(scale, last->at));
            const double widths = SMALL_LETTERS * (bli_tick_width(last) + bli_tick_width(tick)) / 2;
            if (distance < (wish->across ? widths + 12 : 2.6 * SMALL_LETTERS))
                return false;
        }
        last = tick;
    }
    return true;
}

/* ---- linear ---- */

/* Ticks at the multiples of mantissa 10^exponent; false when they are too many. */
static bool fill_linear(struct scale *scale, double mantissa, int exponent) {
    scale->count = 0;
    const double largest = fmax(fabs(scale->low), fabs(scale->high));
    for (double k = ceil(scale->low / decimal_value(mantissa, exponent) - 1e-9); k + 1 > k; k++) {
        const double at = decimal_value(k * mantissa, exponent);
        if (!is_on_scale(scale, at))
            return true;
        if (scale->count == TICKS_MAX)
            return false;
        struct tick *tick = add_tick(scale, at, false);
        if (at != 0 && (exponent < -4 || largest >= 1e12))
            power_text(tick, k * mantissa, exponent);
        else
            plain_text(tick, at, largest);
    }
    return false;
}

/* From many ticks to few: the first set that fits, but at least two ticks, even if they are crowded. */
/* Ticks where a clock has them; false when no step suits. */
static bool hour_ticks(struct scale *scale, const struct scale_wish *wish) {
    static const double step[] = {1, 2, 3, 6, 12, 24};
    for (size_t i = 0; i < sizeof step / sizeof *step; i++)
        if (fill_linear(scale, step[i], 0) && scale->count > 2 && texts_fit(scale, wish))
            return true;
    return false;
}

static void linear_ticks(struct scale *scale, const struct scale_wish *wish) {
    static const double mantissa[] = {1, 2, 5};
    if (wish->hours && hour_ticks(scale, wish))
        return;
    const int first = (int)floor(log10(scale->high - scale->low)) - 2;
    int sparsest = 0;
    for (int i = 0; i < 12; i++) {
        if (!fill_linear(scale, mantissa[i % 3], first + i / 3) || scale->count < 2)
            continue;
        if (texts_fit(scale, wish))
            return;
        sparsest = i;
    }
    fill_linear(scale, mantissa[sparsest % 3], first + sparsest / 3);
}

static void linear_ends(struct scale *scale, const struct scale_wish *wish, const struct span *span) {
    double low = span->low, high = span->high;
    if (low > high)
        low = 0, high = 1;
    if (high - low <= 1e-9 * fmax(fabs(low), fabs(high))) {
        /* One value in the middle: of the x axis, a short piece around it. */
        const double half = low == 0 ? 1 : fabs(low) * (wish->across ? 0.1 : 0.5);
        low -= half;
        high += half;
    }
    const double more = air * (high - low);
    const bool zero = wish->from_zero && span->low >= 0 && low < 0.6 * high;
    scale->low = zero ? 0 : low - more;
    scale->high = high + more;
}

/* ---- logarithmic ---- */

/* Can all ticks be written without powers? */
static bool is_plain(const struct scale *scale) {
    return scale->low >= 0.999e-3 && scale->high < 10e3;
}

/* Texts get fewer from level to level: first at these digits, then at every second, third, ... decade. */
static const char *const labelled[] = {"123456789", "125", "13", "1"};
enum { DECADES = sizeof labelled / sizeof *labelled - 1 };

static void fill_log(struct scale *scale, int level) {
    scale->count = 0;
    const char *digits = labelled[level < DECADES ? level : DECADES];
    const int stride = level <= DECADES ? 1 : level - DECADES + 1;
    const int first = (int)floor(log10(scale->low) - 1e-9), last = (int)floor(log10(scale->high) + 1e-9);
    const bool plain = is_plain(scale);
    for (int e = first; e <= last; e++)
        for (int m = 1; m <= (stride == 1 ? 9 : 1); m++) {
            const double at = decimal_value(m, e);
            if (!is_on_scale(scale, at))
                continue;
            struct tick *tick = add_tick(scale, at, !strchr(digits, '0' + m) || e % stride != 0);
            if (!tick->minor && plain)
                plain_text(tick, at, at);
            else if (!tick->minor)
                power_text(tick, m, e);
        }
}

static size_t count_texts(const struct scale *scale) {
    size_t count = 0;
    for (size_t i = 0; i < scale->count; i++)
        count += !scale->tick[i].minor;
    return count;
}

/* As on a linear axis: from many to few. */
static void log_ticks(struct scale *scale, const struct scale_wish *wish) {
    const int decades = (int)log10(scale->high / scale->low);
    /* Powers are long to read, so where there are several decades their own texts suffice; all digits of very
     * many are more than there is memory for. */
    int level = is_plain(scale) || decades < 2 ? 0 : decades < TICKS_MAX - 2 ? DECADES : DECADES + 1;
    int sparsest = -1;
    for (; level <= DECADES + decades; level++) {
        fill_log(scale, level);
        if (count_texts(scale) < 2)
            break;
        if (texts_fit(scale, wish))
            return;
        sparsest = level;
    }
    if (sparsest < 0) /* a short piece that holds no two round numbers */
        linear_ticks(scale, wish);
    else
        fill_log(scale, sparsest);
}

static void log_ends(struct scale *scale, const struct span *span) {
    double low = span->least, high = span->high;
    if (!(low <= high))
        low = 0.1, high = 10;
    if (high / low < 1.0001)
        low /= 2, high *= 2;
    const double more = pow(high / low, air);
    scale->low = low / more;
    scale->high = high * more;
}

void bli_scale_init(struct scale *scale, const struct scale_wish *wish, const struct span *span) {
    *scale = (struct scale){.log = wish->log};
    /* Ends that are given are kept; the data must then fit between them. */
    const bool given = !(wish->low == 0 && wish->high == 0);
    struct span all = *span;
    if (given && isfinite(wish->low)) {
        all.low = wish->low;
        all.high = fmax(all.high, wish->low);
        all.least = wish->low > 0 ? wish->low : all.least;
    }
    if (given && isfinite(wish->high)) {
        all.high = wish->high;
        all.low = fmin(all.low, wish->high);
        all.least = wish->high > 0 ? fmin(all.least, wish->high) : all.least;
    }
    if (wish->log)
        log_ends(scale, &all);
    else
        linear_ends(scale, wish, &all);
    if (given && isfinite(wish->low))
        scale->low = wish->low;
    if (given && isfinite(wish->high))
        scale->high = wish->high;
    assert(scale->low < scale->high);
    if (wish->log)
        log_ticks(scale, wish);
    else
        linear_ticks(scale, wish);
}
