/* Whole files. */
#ifndef FORMAT_FILE_H
#define FORMAT_FILE_H

#include "ballast/error.h"

#include <stddef.h>

/* Writes a file so that it is there complete or not at all: beside its place first, then under its name. What
 * stood there before is replaced, unless it is no file (a terminal, a pipe, /dev/null): that is written as it
 * is. */
enum bal_code bal_file_write(const char *path, const char *data, size_t size, struct bal_error *err);

#endif
