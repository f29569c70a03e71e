/* A private directory for the files of real processes. */
#ifndef RIG_PLACE_H
#define RIG_PLACE_H

#include "ballast/error.h"

enum { RIG_PATH = 512 };

/* Makes one under TMPDIR (or /tmp), named after this process, and removes those that processes have left
 * which are no more. */
enum bal_code bal_place_make(char path[RIG_PATH], struct bal_error *err);
/* Removes it with all that is in it. */
void bal_place_remove(const char *path);

#endif
