/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads and writes whole files. */
#ifndef FORMAT_FILE_H
#define FORMAT_FILE_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes a file atomically: it gets its name when all of it is written, so that it is complete or absent
 * however the process ends. A symbolic link stays, and its target is written. An existing file is replaced by
 * one with the same permissions and, where that is allowed, the same owner. What is not a regular file (a
 * terminal, a pipe, /dev/null) or is open already (/dev/stdout) is written directly. */
enum bal_code bli_file_write(const char *path, const char *data, size_t size, struct bal_error *err);

/* Writes all bytes, also when signals interrupt it. False, with errno set, on failure. */
bool bli_file_write_all(int file, const char *data, size_t size);

/* Can the file be written? For a check before long work; changes nothing. */
enum bal_code bli_file_check(const char *path, struct bal_error *err);

/* Are these names of one regular file? Files that do not exist yet are compared by name. */
bool bli_file_is_same(const char *a, const char *b);

#endif
