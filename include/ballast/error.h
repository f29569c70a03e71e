/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors: one list of codes, one value that carries a code and a sentence.
 *
 * Every function that can fail on its input returns an enum bal_code (0 is success) and, where it takes a
 * struct bal_error, writes one line there that names the place, the value and what would be right. The
 * library neither prints nor exits. */
#ifndef BALLAST_ERROR_H
#define BALLAST_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/* name, what it means in general */
#define BAL_CODES(X)                                                                                         \
    X(OK, "success")                                                                                         \
    X(E_SYNTAX, "text that cannot be read")                                                                  \
    X(E_UNKNOWN, "a name that does not exist")                                                               \
    X(E_RANGE, "a value out of its range")                                                                   \
    X(E_MODEL, "parts that do not fit together")                                                             \
    X(E_MEMORY, "not enough memory")                                                                         \
    X(E_IO, "a file that cannot be read or written")                                                         \
    X(E_FORMAT, "a file of another kind or version")                                                         \
    X(E_STOPPED, "stopped on request before the end")                                                        \
    X(E_NUMERIC, "a computation that did not converge")

enum bal_code {
#define X(name, text) BAL_##name,
    BAL_CODES(X)
#undef X
};

struct bal_error {
    enum bal_code code;
    char text[512]; /* one line without a newline; empty when code is BAL_OK */
};

/* Fills *err (which may be NULL) and returns code, so that a caller can write `return bal_fail(...)`.
 * Text that does not fit ends in "...". Control characters and bytes that are no
 * UTF-8 are shown as '?'. */
enum bal_code bal_fail(struct bal_error *err, enum bal_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The general meaning of a code, never NULL. */
const char *bal_code_text(enum bal_code code);

#ifdef __cplusplus
}
#endif
#endif
