/* Whole files. */
#ifndef FORMAT_FILE_H
#define FORMAT_FILE_H

#include "ballast/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Writes a file so that it is there complete or not at all, however the process ends: it gets its name when
 * all of it is written. Symbolic links stay and what they lead to is written; a file that stood there is
 * replaced by one with its permissions and, where that is allowed, its owner. What is no file (a terminal, a
 * pipe, /dev/null) or is open already (/dev/stdout) is written as it is. */
enum bal_code bal_file_write(const char *path, const char *data, size_t size, struct bal_error *err);

/* All of it, though signals come; false and errno if it cannot be. */
bool bal_file_write_all(int file, const char *data, size_t size);

/* Could it be written? To be asked before long work; it changes nothing. */
enum bal_code bal_file_check(const char *path, struct bal_error *err);

#endif
