/* Ticks at 1, 2 or 5 times a power of ten, as many as there is room for (the idea of Heckbert, Nice numbers for graph labels,
 * Graphics Gems, 1990), but the axis ends where the data end, with a little air, not at a tick. */
#include "report/scale.h"

#include "ballast/number.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static const double air = 0.04; /* between the data and the frame, as a share of the axis */

const struct span bal_span_empty = {INFINITY, -INFINITY, INFINITY};

void bal_span_add(struct span *span, double value) {
    if (!(fabs(value) <= BAL_SCALE_LARGEST))
        return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
    if (value >= 1 / BAL_SCALE_LARGEST)
        span->least = fmin(span->least, value);
}

double bal_scale_at(const struct scale *scale, double share) {
    if (scale->log)
        return scale->low * pow(scale->high / scale->low, share);
    return scale->low + share * (scale->high - scale->low);
}

double bal_scale_share(const struct scale *scale, double value) {
    if (scale->log)
        return log(value / scale->low) / log(scale->high / scale->low);
    return (value - scale->low) / (scale->high - scale->low);
}

void bal_scale_extend(struct scale *scale, double share) {
    scale->high = bal_scale_at(scale, 1 + share);
}

static struct tick *add_tick(struct scale *scale, double at, bool minor) {
    assert(scale->count < sizeof scale->tick / sizeof scale->tick[0]);
    struct tick *tick = &scale->tick[scale->count++];
    *tick = (struct tick){.at = at, .minor = minor};
    return tick;
}

static bool inside(const struct scale *scale, double value) {
    const double share = bal_scale_share(scale, value);
    return share > -1e-9 && share < 1 + 1e-9;
}

/* mantissa * 10^exponent, correctly rounded where that matters: 3 * 10^-1 must be the 0.3 of the data. */
static double decimal(double mantissa, int exponent) {
    return exponent < 0 ? mantissa / pow(10, -exponent) : mantissa * pow(10, exponent);
}

static void power_text(struct tick *tick, double mantissa, int exponent) {
    const char *minus = exponent < 0 ? "−" : "";
    const int digits = exponent < 0 ? -exponent : exponent;
    if (mantissa == 1)
        snprintf(tick->text, sizeof tick->text, "10^{%s%d}", minus, digits);
    else
        snprintf(tick->text, sizeof tick->text, "%.0f×10^{%s%d}", mantissa, minus, digits);
}

/* A plain number, from 10k on in short. */
static void plain_text(struct tick *tick, double value) {
    const double size = fabs(value);
    const double unit = size >= 1e9 ? 1e9 : size >= 1e6 ? 1e6 : size >= 1e4 ? 1e3 : 1;
    const char *suffix = unit == 1e9 ? "G" : unit == 1e6 ? "M" : unit == 1e3 ? "k" : "";
    char digits[BAL_NUMBER_TEXT];
    bal_number_print(size / unit, digits);
    snprintf(tick->text, sizeof tick->text, "%s%.12s%s", value < 0 ? "−" : "", digits, suffix);
}

/* ---- linear ---- */

/* The least of 1, 2, 5 times a power of ten that is at least wanted. */
static double nice_step(double wanted, int *exponent, double *mantissa) {
    *exponent = (int)floor(log10(wanted));
    const double rest = wanted / pow(10, *exponent);
    *mantissa = rest <= 1 + 1e-9 ? 1 : rest <= 2 + 1e-9 ? 2 : rest <= 5 + 1e-9 ? 5 : 10;
    if (*mantissa == 10) {
        *mantissa = 1;
        ++*exponent;
    }
    return decimal(*mantissa, *exponent);
}

static void linear_ticks(struct scale *scale, double wanted) {
    int exponent;
    double mantissa;
    const double step = nice_step((scale->high - scale->low) / wanted, &exponent, &mantissa);
    const double largest = fmax(fabs(scale->low), fabs(scale->high));
    for (double k = ceil(scale->low / step - 1e-9); scale->count < TICKS_MAX; k++) {
        const double at = decimal(k * mantissa, exponent);
        if (!inside(scale, at) || k + 1 == k)
            break;
        struct tick *tick = add_tick(scale, at, false);
        if (at != 0 && (exponent < -4 || largest >= 1e12))
            power_text(tick, k * mantissa, exponent);
        else
            plain_text(tick, at);
    }
}

static void linear_ends(struct scale *scale, const struct scale_wish *wish, const struct span *span) {
    double low = span->low, high = span->high;
    if (low > high)
        low = 0, high = 1;
    if (high - low <= 1e-9 * fmax(fabs(low), fabs(high))) {
        const double half = low == 0 ? 1 : fabs(low) / 2;
        low -= half;
        high += half;
    }
    const double more = air * (high - low);
    const bool zero = wish->from_zero && span->low >= 0 && low < 0.6 * high;
    scale->low = zero ? 0 : low - more;
    scale->high = high + more;
}

/* ---- logarithmic ---- */

/* Decades, and between them ticks without text; every second or third decade has a text where there are many. */
static void decade_ticks(struct scale *scale, double wanted) {
    const int first = (int)ceil(log10(scale->low) - 1e-9), last = (int)floor(log10(scale->high) + 1e-9);
    const int decades = last - first + 1;
    int stride = 1;
    while (decades > wanted * stride || decades > (TICKS_MAX - 1) * stride)
        stride++;
    const bool plain = first >= -2 && last <= 3;
    for (int e = first - 1; e <= last; e++) {
        const double at = decimal(1, e);
        if (e >= first) {
            const bool minor = e % stride != 0;
            struct tick *tick = add_tick(scale, at, minor);
            if (!minor && plain)
                plain_text(tick, at);
            else if (!minor)
                power_text(tick, 1, e);
        }
        for (int m = 2; m <= 9 && stride == 1; m++)
            if (inside(scale, decimal(m, e)))
                add_tick(scale, decimal(m, e), true);
    }
}

/* Within one or two decades: those of 1, 2, 5 times a power of ten, or of all digits, that find room. */
static void digit_ticks(struct scale *scale, double wanted) {
    const int first = (int)floor(log10(scale->low)), last = (int)floor(log10(scale->high) + 1e-9);
    /* Digits stand closest at 9 and 10. */
    const bool all = log(10. / 9.) / log(scale->high / scale->low) * wanted >= 0.8;
    for (int e = first; e <= last; e++)
        for (int m = 1; m <= 9; m++) {
            const double at = decimal(m, e);
            if (!inside(scale, at))
                continue;
            struct tick *tick = add_tick(scale, at, !(all || m == 1 || m == 2 || m == 5));
            if (tick->minor)
                continue;
            if (e < -3 || e > 5)
                power_text(tick, m, e);
            else
                plain_text(tick, at);
        }
}

static void log_ticks(struct scale *scale, double wanted) {
    const double decades = log10(scale->high / scale->low);
    const size_t labels = (size_t)fmax(0, floor(log10(scale->high) + 1e-9) - ceil(log10(scale->low) - 1e-9) + 1);
    if (decades < 0.3) /* too short for round digits: ticks as on a linear axis */
        linear_ticks(scale, wanted);
    else if (labels < 3 && decades * wanted > 0 && 3 * decades < wanted)
        digit_ticks(scale, wanted);
    else
        decade_ticks(scale, wanted);
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

void bal_scale_init(struct scale *scale, const struct scale_wish *wish, const struct span *span) {
    *scale = (struct scale){.log = wish->log};
    /* Ends that are given stand; what the data demand must then fit to them. */
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
    const double wanted = fmax(2, floor(wish->length / wish->spacing));
    if (wish->log)
        log_ticks(scale, wanted);
    else
        linear_ticks(scale, wanted);
}
