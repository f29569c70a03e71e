/* SPDX-License-Identifier: BSD-2-Clause */
/* A unit is open when the name does not give it. Then each possible unit is checked against what is known:
 *
 *   - the median is less than an hour (a single value may be anything), and on average
 *     nothing is served in less than a microsecond;
 *   - a fraction of a nanosecond is not possible;
 *   - lines are written when requests end: with the right unit, start and length make ends that are in order.
 *     This is informative if the starts themselves are not in order, or if lines are known to be written so.
 *
 * If exactly one unit is left it is used, else the log is refused. */
#include "log/infer_units.h"

#include "log/clock.h"

#include <math.h>
#include <stdlib.h>

#define LEAST 1e-6 /* seconds */
#define MOST 3600.0

/* Lines that come too late may be a part of all: servers write in blocks, and several write to one file. */
#define LATE_PART 0.05

/* Values that do not look as they should may be a part of all. */
#define ODD_PART 0.05

enum { LATE_MIN = 3, UNITS = 4 };

static const int units[UNITS] = {BLI_LOG_S, BLI_LOG_MS, BLI_LOG_US, BLI_LOG_NS};

static double seconds_of(int unit) {
    return unit == BLI_LOG_S ? 1 : unit == BLI_LOG_MS ? 1e-3 : unit == BLI_LOG_US ? 1e-6 : 1e-9;
}

/* 41 ms */
static void show_length(double seconds, char *text, size_t size) {
    static const struct {
        double seconds;
        const char *name;
    } lengths[] = {{3600, "h"}, {60, "min"}, {1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    size_t i = 0;
    while (i + 1 < sizeof lengths / sizeof *lengths && seconds < 0.9995 * lengths[i].seconds)
        i++;
    snprintf(text, size, "%.3g %s", seconds / lengths[i].seconds, lengths[i].name);
}

/* What a field holds over the lines of the sample. */
struct unit_numbers {
    size_t lines;                 /* in the format */
    size_t count;                 /* that have a number */
    size_t units;                 /* of these, with a unit of their own */
    size_t wholes;                /* of these, without a fraction */
    size_t commas;                /* of these, with a comma in it */
    size_t decimal;               /* of these, where it cannot stand between thousands: 0,25 */
    int decimals;                 /* the most that one has */
    double sum;                   /* as they stand */
    double middle;                /* half of them are longer */
    struct bli_log_span text;     /* the first that is no number */
    size_t odds;                  /* of these, that are no lengths of time as the program writes them */
    struct bli_log_span odd;      /* the first of them */
    double value[BLI_LOG_SAMPLE]; /* by line; NaN: none */
    int64_t time[BLI_LOG_SAMPLE]; /* by line */
    bool second[BLI_LOG_SAMPLE];  /* the time is a whole second */
};

static bool is_digit(char c) {
    return (unsigned char)(c - '0') < 10;
}

static size_t count_digits(const char *at, const char *end) {
    size_t count = 0;
    while (at + count < end && is_digit(at[count]))
        count++;
    return count;
}

/* Does it look as the program writes it? */
static bool has_shape(enum bli_log_shape shape, bool point, size_t decimals, bool exact) {
    switch (shape) {
    case BLI_LOG_THOUSANDTHS:
        return exact ? point && decimals == 3 : decimals <= 3;
    case BLI_LOG_WHOLES:
        return !point;
    default:
        return true;
    }
}

/* Counts one value: of a list, the first number. exact: the number comes from the program itself, not through
 * another one that may have reformatted it. */
static void count_number(struct unit_numbers *numbers, struct bli_log_span text, enum bli_log_shape shape,
                         bool exact, double *value) {
    text = bli_log_trim(text);
    const char *at = text.text, *end = at + text.length;
    const size_t before = count_digits(at, end);
    const char *mark = at + before;
    const bool point = mark < end && *mark == '.';
    const bool comma = mark + 1 < end && *mark == ',' && is_digit(mark[1]);
    const size_t decimals = point || comma ? count_digits(mark + 1, end) : 0;
    if (before + decimals == 0) {
        if (!numbers->text.text && text.length > 0 && *at != '-')
            numbers->text = text;
        return;
    }
    const char *rest = mark + (point || comma ? 1 + decimals : 0);
    char digits[40];
    const size_t length = (size_t)(rest - at) < sizeof digits ? (size_t)(rest - at) : sizeof digits - 1;
    memcpy(digits, at, length);
    digits[length] = 0;
    if (comma)
        digits[before < length ? before : length - 1] = '.';
    *value = strtod(digits, NULL);
    numbers->count++;
    numbers->sum += *value;
    numbers->units += rest < end && *rest != ',' && *rest != ' ' && *rest != 'e' && *rest != 'E';
    numbers->wholes += decimals == 0;
    numbers->commas += comma;
    numbers->decimal += comma && (decimals != 3 || before > 3 || *at == '0');
    numbers->decimals = (int)decimals > numbers->decimals ? (int)decimals : numbers->decimals;
    if (!has_shape(shape, point, decimals, exact) && numbers->odds++ == 0)
        numbers->odd = text;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void find_median(struct unit_numbers *numbers) {
    double sorted[BLI_LOG_SAMPLE];
    size_t count = 0;
    for (size_t i = 0; i < numbers->lines; i++)
        if (!isnan(numbers->value[i]))
            sorted[count++] = numbers->value[i];
    qsort(sorted, count, sizeof *sorted, by_size);
    numbers->middle = count > 0 ? sorted[count / 2] : 0;
}

static void count_numbers(const struct bli_log_format *format, const struct bli_log_sample *sample,
                          const struct bli_log_binding *binding, const struct bli_log_length *length,
                          bool exact, struct unit_numbers *numbers) {
    *numbers = (struct unit_numbers){0};
    struct bli_log_clock clock = {0};
    struct bli_log_span fields[BLI_LOG_FIELDS];
    for (size_t i = 0; i < sample->count; i++) {
        int decimals;
        double *value = &numbers->value[numbers->lines];
        if (!format->kind->split(format, sample->line[i], fields) || !fields[binding->time].text ||
            !bli_log_clock_read(&clock, fields[binding->time], &numbers->time[numbers->lines], &decimals))
            continue;
        *value = NAN;
        numbers->second[numbers->lines] = decimals == 0;
        if (fields[length->field].text)
            count_number(numbers, fields[length->field], length->shape, exact, value);
        numbers->lines++;
    }
    find_median(numbers);
}

/* How many lines come more than the clock's step and half a second after a line that they should precede,
 * when lengths are in that unit; 0 for the starts alone. */
static size_t count_late(const struct unit_numbers *numbers, double unit) {
    size_t late = 0;
    double latest = -INFINITY;
    for (size_t i = 0; i < numbers->lines; i++) {
        const double length = unit > 0 ? unit * numbers->value[i] : 0;
        if (isnan(length))
            continue;
        const double end = (double)(numbers->time[i] - numbers->time[0]) * 1e-9 + length;
        const double slack = (numbers->second[i] ? 1 : 0) + 0.5;
        late += end < latest - slack;
        latest = fmax(latest, end);
    }
    return late;
}

/* The units that are consistent with the order of the lines. */
static bool is_in_order(const struct unit_numbers *numbers, size_t starts_late, int unit, bool by_ends) {
    const size_t late = count_late(numbers, seconds_of(unit));
    if (starts_late >= LATE_MIN) /* they are not in the order of their starts: then in that of their ends */
        return late <= starts_late / 10 + 1;
    return !by_ends || late < LATE_MIN || (double)late <= LATE_PART * (double)numbers->count;
}

static bool is_possible(const struct unit_numbers *numbers, int unit) {
    const double mean = numbers->sum / (double)numbers->count;
    return numbers->middle * seconds_of(unit) <= MOST && mean * seconds_of(unit) >= LEAST;
}

static size_t list_readings(const struct unit_numbers *numbers, bool at_end, bool by_ends, int left[UNITS]) {
    const size_t starts_late = at_end ? 0 : count_late(numbers, 0);
    size_t count = 0;
    for (size_t i = 0; i < UNITS; i++) {
        if (!is_possible(numbers, units[i]))
            continue;
        if (units[i] == BLI_LOG_NS && numbers->wholes < numbers->count)
            continue;
        if (!at_end && !is_in_order(numbers, starts_late, units[i], by_ends))
            continue;
        left[count++] = units[i];
    }
    return count;
}

static enum bal_code fail_ambiguous(const struct bli_log_field_names *words,
                                    const struct bli_log_length *length, const struct unit_numbers *numbers,
                                    const int *left, size_t count, struct bal_error *err) {
    const char *sign = words->sign, *name = length->name;
    if (numbers->count == 0 && numbers->text.text) {
        char text[40];
        bli_log_show(numbers->text, text, sizeof text);
        return bal_fail(err, BAL_E_FORMAT, "%s%s is '%s', which is no length of time; name another field",
                        sign, name, text);
    }
    if (numbers->count == 0)
        return bal_fail(err, BAL_E_FORMAT,
                        "no number of the first lines tells the unit of %s%s; say it: --service-field %s:ms",
                        sign, name, name);
    const double mean = numbers->sum / (double)numbers->count;
    if (count == 0)
        return bal_fail(err, BAL_E_FORMAT,
                        "%s%s, %.6g on average, is no length of time in any unit; name another field", sign,
                        name, mean);
    char readings[300];
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        char text[40];
        show_length(mean * seconds_of(left[i]), text, sizeof text);
        used += (size_t)snprintf(readings + used, sizeof readings - used, "%s%s (--service-field %s:%s)",
                                 i == 0          ? ""
                                 : i + 1 < count ? ", "
                                                 : " or ",
                                 text, name, bli_log_unit_text(left[i]));
        if (used >= sizeof readings)
            break;
    }
    return bal_fail(err, BAL_E_FORMAT, "in which unit is %s%s, %.6g on average? its mean is %s", sign, name,
                    mean, readings);
}

/* Go counts nanoseconds: written as seconds or milliseconds they have nearly always their last digit. */
static int unit_of_nanoseconds(const struct unit_numbers *numbers) {
    if (numbers->wholes == numbers->count)
        return BLI_LOG_NS;
    return numbers->decimals > 6 ? BLI_LOG_S : numbers->count >= 3 ? BLI_LOG_MS : BLI_LOG_UNIT_OPEN;
}

static enum bal_code fail_shape(const struct bli_log_field_names *words, const struct bli_log_length *length,
                                const struct unit_numbers *numbers, struct bal_error *err) {
    char odd[40];
    bli_log_show(numbers->odd, odd, sizeof odd);
    return bal_fail(
        err, BAL_E_FORMAT,
        "%s%s is '%s', but %s writes %s: the format does not fit the log, or its unit is to be said"
        " (--service-field %s:ms)",
        words->sign, length->name, odd, words->program,
        length->shape == BLI_LOG_THOUSANDTHS ? "seconds with three decimals" : "whole numbers", length->name);
}

/* A field that has a program's name but not its form is from another program, and its unit is open. */
static enum bal_code check_shape(const struct bli_log_field_names *words, struct bli_log_length *length,
                                 const struct unit_numbers *numbers, bool exact, struct bal_error *err) {
    const bool always_whole =
        length->shape == BLI_LOG_THOUSANDTHS && numbers->wholes == numbers->count && numbers->sum > 0;
    const bool odd = (double)numbers->odds > ODD_PART * (double)numbers->count; /* a line may be broken */
    if (!odd && !always_whole)
        return BAL_OK;
    if (exact)
        return fail_shape(words, length, numbers, err);
    length->scale.unit = BLI_LOG_UNIT_OPEN;
    length->scale.list = false;
    return BAL_OK;
}

static enum bal_code check_commas(const struct bli_log_field_names *words, struct bli_log_length *length,
                                  const struct unit_numbers *numbers, struct bal_error *err) {
    const size_t points = numbers->count - numbers->wholes - numbers->commas;
    if (length->scale.list || numbers->commas <= points) /* most have none */
        return BAL_OK;
    if (numbers->decimal == 0)
        return bal_fail(
            err, BAL_E_FORMAT,
            "the commas of %s%s may stand before a fraction or between thousands; write the numbers"
            " without",
            words->sign, length->name);
    length->scale.comma = true;
    return BAL_OK;
}

/* Another unit brings lines into order that are not with this one. */
static int find_better_unit(const struct unit_numbers *numbers, size_t starts_late) {
    for (size_t i = 0; i < UNITS && starts_late >= LATE_MIN; i++)
        if (count_late(numbers, seconds_of(units[i])) <= starts_late / 10)
            return units[i];
    return BLI_LOG_UNIT_OPEN;
}

/* Lines are written in the order of ends: lengths that are too long bring them out of order, and such that
 * are too short do not bring those into order whose starts are not. */
static enum bal_code check_order(const struct bli_log_field_names *words, const struct bli_log_length *length,
                                 const struct unit_numbers *numbers, const char *mean,
                                 struct bal_error *err) {
    const size_t starts_late = count_late(numbers, 0);
    const size_t late = count_late(numbers, seconds_of(length->scale.unit));
    if (late >= LATE_MIN && (double)late > LATE_PART * (double)numbers->count && late > 2 * starts_late)
        return bal_fail(err, BAL_E_FORMAT,
                        "with %s%s of %s on average, %zu of %zu requests would end before one that was logged"
                        " earlier: it is something else, or in another unit (--service-field %s:ms)",
                        words->sign, length->name, mean, late, numbers->count, length->name);
    const int better = 2 * late > starts_late ? find_better_unit(numbers, starts_late) : BLI_LOG_UNIT_OPEN;
    if (better == BLI_LOG_UNIT_OPEN)
        return BAL_OK;
    return bal_fail(
        err, BAL_E_FORMAT,
        "lines are in the order in which requests end if %s%s is in %s, and not if it is in %s; say"
        " which: --service-field %s:%s or %s:%s",
        words->sign, length->name, bli_log_unit_text(better), bli_log_unit_text(length->scale.unit),
        length->name, bli_log_unit_text(better), length->name, bli_log_unit_text(length->scale.unit));
}

/* A known unit must not contradict the numbers either. */
static enum bal_code check_known(const struct bli_log_field_names *words,
                                 const struct bli_log_binding *binding, const struct bli_log_length *length,
                                 const struct unit_numbers *numbers, struct bal_error *err) {
    if (numbers->count == 0 || 2 * numbers->units > numbers->count)
        return BAL_OK;
    const double mean = seconds_of(length->scale.unit) * numbers->sum / (double)numbers->count;
    char text[40];
    show_length(mean, text, sizeof text);
    if (numbers->sum > 0 && !is_possible(numbers, length->scale.unit))
        return bal_fail(
            err, BAL_E_FORMAT,
            "%s%s would be %s on average, which cannot be: it is something else, or in another unit"
            " (--service-field %s:ms)",
            words->sign, length->name, text, length->name);
    if (binding->at_end || !words->starts || length->field != binding->whole.field)
        return BAL_OK;
    return check_order(words, length, numbers, text, err);
}

/* The file is written by the program itself, in its own format. */
static bool is_exact(const struct bli_log_field_names *words) {
    return words == &bli_log_names_nginx || words->starts || words == &bli_log_names_squid ||
           words == &bli_log_names_lighttpd || words == &bli_log_names_tomcat || words == &bli_log_names_iis;
}

static enum bal_code infer_unit(const struct bli_log_field_names *words,
                                const struct bli_log_binding *binding, struct bli_log_length *length,
                                const struct unit_numbers *numbers, struct bal_error *err) {
    enum bal_code code = check_commas(words, length, numbers, err);
    if (!code && numbers->count > 0)
        code = check_shape(words, length, numbers, is_exact(words), err);
    if (code || length->said)
        return code;
    if (length->scale.unit != BLI_LOG_UNIT_OPEN)
        return check_known(words, binding, length, numbers, err);
    if (numbers->lines == 0 || 2 * numbers->units > numbers->count) { /* no lines, or units of their own */
        length->scale.unit = BLI_LOG_S;
        return BAL_OK;
    }
    if (length->shape == BLI_LOG_NANOSECONDS && numbers->count > 0)
        length->scale.unit = unit_of_nanoseconds(numbers);
    if (length->scale.unit != BLI_LOG_UNIT_OPEN)
        return BAL_OK;
    int left[UNITS];
    const size_t count =
        numbers->count > 0 ? list_readings(numbers, binding->at_end, words->starts, left) : 0;
    if (count != 1)
        return fail_ambiguous(words, length, numbers, left, count, err);
    length->scale.unit = left[0];
    return BAL_OK;
}

/* Both are known: the whole cannot be less than its part. Rounding, and two clocks, may make a difference of
 * some milliseconds. */
static enum bal_code check_part(const struct bli_log_field_names *words,
                                const struct bli_log_binding *binding, const struct unit_numbers *service,
                                const struct unit_numbers *whole, struct bal_error *err) {
    size_t both = 0, less = 0;
    for (size_t i = 0; i < service->lines && i < whole->lines; i++) {
        if (isnan(service->value[i]) || isnan(whole->value[i]))
            continue;
        both++;
        less += whole->value[i] * seconds_of(binding->whole.scale.unit) + 0.002 <
                service->value[i] * seconds_of(binding->service.scale.unit);
    }
    if (less < 2 || less * 10 < both)
        return BAL_OK;
    return bal_fail(err, BAL_E_FORMAT,
                    "%s%s is longer than %s%s, which is a part of it, in %zu of %zu lines: are they swapped?",
                    words->sign, binding->service.name, words->sign, binding->whole.name, less, both);
}

/* The time of the whole request is optional: if its unit stays open, it is left out. */
static enum bal_code infer_whole_unit(const struct bli_log_format *format,
                                      const struct bli_log_field_names *words,
                                      const struct bli_log_sample *sample, struct bli_log_binding *binding,
                                      const struct unit_numbers *service, struct unit_numbers *numbers,
                                      struct bal_error *err) {
    count_numbers(format, sample, binding, &binding->whole, is_exact(words), numbers);
    enum bal_code code = infer_unit(words, binding, &binding->whole, numbers, NULL);
    if (!code)
        code = check_part(words, binding, service, numbers, err);
    else if (is_exact(words))
        code = infer_unit(words, binding, &binding->whole, numbers, err);
    else
        code = BAL_OK;
    if (binding->whole.scale.unit == BLI_LOG_UNIT_OPEN)
        binding->whole.field = -1;
    return code;
}

enum bal_code bli_log_infer_units(const struct bli_log_format *format,
                                  const struct bli_log_field_names *words,
                                  const struct bli_log_sample *sample, struct bli_log_binding *binding,
                                  struct bal_error *err) {
    if (binding->service.field < 0)
        return BAL_OK;
    struct unit_numbers *service = malloc(2 * sizeof *service);
    if (!service)
        return bal_fail(err, BAL_E_MEMORY, "not enough memory for the first lines of a log");
    const bool same = binding->service.field == binding->whole.field;
    count_numbers(format, sample, binding, &binding->service, is_exact(words), service);
    if (binding->open) /* lines are written at the end of requests, so the times of ends are in order */
        binding->at_end = count_late(service, 0) < LATE_MIN;
    enum bal_code code = infer_unit(words, binding, &binding->service, service, err);
    if (!code && same)
        binding->whole = binding->service;
    else if (!code && binding->whole.field >= 0)
        code = infer_whole_unit(format, words, sample, binding, service, &service[1], err);
    free(service);
    return code;
}
