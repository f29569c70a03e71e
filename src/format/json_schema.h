/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON schema of what a function writes as JSON. The function is called twice: once with the members that
 * are always there, which are required then, and once with all. Of a list the first item stands for all; so
 * does the first member of a map (bli_json_open_map). Text and numbers may be null. */
#ifndef FORMAT_JSON_SCHEMA_H
#define FORMAT_JSON_SCHEMA_H

#include "format/json.h"

/* Writes it as a member, or as the outermost value; false without memory. */
bool bli_json_schema(struct json *into, const char *key,
                     void (*write)(struct json *json, const void *context), const void *context);

#endif
