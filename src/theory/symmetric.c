/* SPDX-License-Identifier: BSD-2-Clause */
/* Lyapunov's equation as one band of equations. A is nearly tridiagonal here, so that the unknowns with
 * indices i <= j (<= k) are coupled like neighbours in a grid, which Gauss's elimination solves in n^4 / 2
 * steps for matrices. A library would be faster, but the page of the playground has none, and must print the
 * same digits (docs/decisions/0140-expansions.md). */
#include "theory/symmetric.h"

#include "base/memory.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER_MAX = 3 };

bool bli_sparse_matrix_init(struct sparse_matrix *a, const double *dense, size_t n) {
    size_t entries = 0;
    for (size_t i = 0; i < n * n; i++)
        entries += dense[i] != 0;
    *a = (struct sparse_matrix){.n = n,
                                .start = malloc((n + 1) * sizeof *a->start),
                                .column = malloc((entries + 1) * sizeof *a->column),
                                .value = malloc((entries + 1) * sizeof *a->value)};
    if (!a->start || !a->column || !a->value) {
        bli_memory_lose();
        return false;
    }
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        a->start[i] = used;
        for (size_t j = 0; j < n; j++)
            if (dense[i * n + j] != 0) {
                a->column[used] = j;
                a->value[used++] = dense[i * n + j];
            }
    }
    a->start[n] = used;
    return true;
}

void bli_sparse_matrix_fini(struct sparse_matrix *a) {
    free(a->start);
    free(a->column);
    free(a->value);
}

/* Indices in rising order. */
static void sort_indices(size_t *index, unsigned order) {
    for (unsigned i = 1; i < order; i++)
        for (unsigned j = i; j > 0 && index[j] < index[j - 1]; j--) {
            const size_t other = index[j];
            index[j] = index[j - 1];
            index[j - 1] = other;
        }
}

/* The place of i <= j <= k among all such: those that end in less than k are k (k+1) (k+2) / 6, and so on. */
static size_t place_of(const size_t *index, unsigned order) {
    const size_t i = index[0], j = order > 1 ? index[1] : 0, k = order > 2 ? index[2] : 0;
    return order == 1   ? i
           : order == 2 ? j * (j + 1) / 2 + i
                        : k * (k + 1) * (k + 2) / 6 + j * (j + 1) / 2 + i;
}

/* The next in that order; false behind the last. */
static bool next_indices(size_t *index, unsigned order, size_t n) {
    for (unsigned m = 0; m < order; m++) {
        if (index[m] < (m + 1 < order ? index[m + 1] : n - 1)) {
            index[m]++;
            memset(index, 0, m * sizeof *index);
            return true;
        }
    }
    return false;
}

static size_t offset_of(const size_t *index, unsigned order, size_t n) {
    size_t offset = 0;
    for (unsigned m = 0; m < order; m++)
        offset = offset * n + index[m];
    return offset;
}

static size_t count_unknowns(size_t n, unsigned order) {
    return order == 1 ? n : order == 2 ? n * (n + 1) / 2 : n * (n + 1) * (n + 2) / 6;
}

/* Row i holds the columns i - lower .. i + upper, and behind them as many as exchanges of rows may bring. */
struct band {
    size_t n, lower, upper, width;
    double *value;
    double *unknown; /* the right side first */
};

static double *band_at(const struct band *band, size_t row, size_t column) {
    return &band->value[row * band->width + (column + band->lower - row)];
}

/* What is done for an entry of the system: measured first, then filled in. */
typedef void entry_visitor(struct band *band, size_t equation, size_t unknown, double value);

static void measure_entry(struct band *band, size_t equation, size_t unknown, double value) {
    (void)value;
    if (unknown + band->lower < equation)
        band->lower = equation - unknown;
    if (equation + band->upper < unknown)
        band->upper = unknown - equation;
}

static void add_entry(struct band *band, size_t equation, size_t unknown, double value) {
    *band_at(band, equation, unknown) += value;
}

/* The equation of the unknown with these indices says what A does to each of them. */
static void visit_entries(struct band *band, const struct sparse_matrix *a, unsigned order,
                          entry_visitor *visit) {
    size_t index[ORDER_MAX] = {0}, equation = 0;
    do {
        for (unsigned m = 0; m < order; m++)
            for (size_t e = a->start[index[m]]; e < a->start[index[m] + 1]; e++) {
                size_t other[ORDER_MAX];
                memcpy(other, index, sizeof other);
                other[m] = a->column[e];
                sort_indices(other, order);
                visit(band, equation, place_of(other, order), a->value[e]);
            }
        equation++;
    } while (next_indices(index, order, a->n));
}

static bool band_init(struct band *band, const struct sparse_matrix *a, unsigned order, const double *right) {
    *band = (struct band){.n = count_unknowns(a->n, order)};
    visit_entries(band, a, order, measure_entry);
    band->width = 2 * band->lower + band->upper + 1;
    band->value = calloc(band->n * band->width, sizeof *band->value);
    band->unknown = malloc(band->n * sizeof *band->unknown);
    if (!band->value || !band->unknown) {
        bli_memory_lose();
        return false;
    }
    visit_entries(band, a, order, add_entry);
    size_t index[ORDER_MAX] = {0}, equation = 0;
    do
        band->unknown[equation++] = -right[offset_of(index, order, a->n)];
    while (next_indices(index, order, a->n));
    return true;
}

static void band_fini(struct band *band) {
    free(band->value);
    free(band->unknown);
}

static size_t lesser(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Brings the largest entry of a column to the diagonal. */
static bool exchange_rows(struct band *band, size_t k, size_t last_row, size_t last_column) {
    size_t pivot = k;
    for (size_t i = k + 1; i <= last_row; i++)
        if (fabs(*band_at(band, i, k)) > fabs(*band_at(band, pivot, k)))
            pivot = i;
    for (size_t j = k; pivot != k && j <= last_column; j++) {
        const double other = *band_at(band, k, j);
        *band_at(band, k, j) = *band_at(band, pivot, j);
        *band_at(band, pivot, j) = other;
    }
    const double other = band->unknown[k];
    band->unknown[k] = band->unknown[pivot];
    band->unknown[pivot] = other;
    return *band_at(band, k, k) != 0;
}

/* Gauss's elimination with partial pivoting. */
static bool band_solve(struct band *band) {
    const size_t n = band->n;
    for (size_t k = 0; k < n; k++) {
        const size_t last_row = lesser(k + band->lower, n - 1),
                     last_column = lesser(k + band->lower + band->upper, n - 1);
        if (!exchange_rows(band, k, last_row, last_column))
            return false;
        const double *upper = band_at(band, k, k);
        for (size_t i = k + 1; i <= last_row; i++) {
            double *row = band_at(band, i, k);
            const double factor = row[0] / upper[0];
            if (factor == 0)
                continue;
            for (size_t j = 0; j <= last_column - k; j++)
                row[j] -= factor * upper[j];
            band->unknown[i] -= factor * band->unknown[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        const double *upper = band_at(band, k, k);
        const size_t last = lesser(band->lower + band->upper, n - 1 - k);
        for (size_t j = 1; j <= last; j++)
            band->unknown[k] -= upper[j] * band->unknown[k + j];
        band->unknown[k] /= upper[0];
    }
    return true;
}

/* Each unknown is at all places that a permutation of its indices names. */
static void spread(const struct band *band, size_t n, unsigned order, double *x) {
    size_t count = 1;
    for (unsigned m = 0; m < order; m++)
        count *= n;
    for (size_t offset = 0; offset < count; offset++) {
        size_t index[ORDER_MAX] = {0};
        size_t left = offset;
        for (unsigned m = 0; m < order; m++, left /= n)
            index[m] = left % n;
        sort_indices(index, order);
        x[offset] = band->unknown[place_of(index, order)];
    }
}

bool bli_symmetric_solve(const struct sparse_matrix *a, unsigned order, const double *right, double *x) {
    struct band band;
    const bool solved = band_init(&band, a, order, right) && band_solve(&band);
    if (solved)
        spread(&band, a->n, order, x);
    band_fini(&band);
    return solved;
}
