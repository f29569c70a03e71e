/* What an experiment file says by naming another file is put into its text, so that the text alone is the
 * experiment: what is stored with results must not change with what lies outside. So far that is a load curve
 * of the form file(PATH), with or without `repeat`, as the value of `curve` or as a value of an axis; it
 * becomes table(...). */
#ifndef SPEC_EMBED_H
#define SPEC_EMBED_H

#include "ballast/error.h"

#include <stddef.h>

/* *embedded is the text with all of that in it, terminated; the caller frees it. A text that is no YAML stays
 * as it is: whoever reads it will say so. name stands for the file in messages. */
enum bal_code bal_embed(const char *text, size_t length, const char *name, char **embedded, size_t *size,
                        struct bal_error *err);

/* Fails if there is something left to embed. */
enum bal_code bal_embed_check(const char *text, size_t length, const char *name, struct bal_error *err);

#endif
