/* SPDX-License-Identifier: BSD-2-Clause */
/* Replaces references to other files in an experiment file, so that the text alone is the experiment: what
 * is stored with results must not depend on other files.
 * - A load curve of the form file(PATH), with or without `repeat`, as the value of `curve` or as a value of
 *   an axis, becomes table(...).
 * - A policy from a file, ./mine.so:d=3 in the list of policies, becomes /home/me/mine.so@SHA256:d=3. The
 *   code is not copied into the text: whoever reads results of others would run it. A relative path starts
 *   at the directory of the experiment file. */
#ifndef SPEC_EMBED_FILES_H
#define SPEC_EMBED_FILES_H

#include "ballast/error.h"

#include <stddef.h>

/* *embedded is the text with all of that in it, terminated; the caller frees it. A text that is not YAML
 * stays as it is: the reader reports the error later. name stands for the file in messages. */
enum bal_code bli_embed(const char *text, size_t length, const char *name, char **embedded, size_t *size,
                        struct bal_error *err);

/* Fails if a reference to a file is left. */
enum bal_code bli_embed_check(const char *text, size_t length, const char *name, struct bal_error *err);

#endif
