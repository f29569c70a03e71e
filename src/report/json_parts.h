/* SPDX-License-Identifier: BSD-2-Clause */
/* What the JSON of several reports has: settings of the model, and estimates. */
#ifndef REPORT_JSON_PARTS_H
#define REPORT_JSON_PARTS_H

#include "ballast/model.h"
#include "ballast/stats.h"
#include "format/json.h"

/* Settings of a model as members, in the order of their names, which have blanks between them. Behind a name:
 * # a number (text that is none stays), ! true or false, ? left out where it has its default. */
void bli_json_model(struct json *json, const struct bli_model *model, const char *names);

/* Where the condition holds. */
void bli_json_model_if(struct json *json, const struct bli_model *model, bool condition, const char *names);

/* An estimate as KEY and KEY with a suffix; and as an object of mean and ci. */
void bli_json_estimate(struct json *json, const char *key, const char *suffix, struct bli_estimate estimate);
void bli_json_interval(struct json *json, const char *key, struct bli_estimate estimate);

#endif
