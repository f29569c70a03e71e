/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the commands that computed trials, for the files of the store that write it. */
#ifndef STORE_RECORDED_COMMANDS_H
#define STORE_RECORDED_COMMANDS_H

#include "store/store_file.h"

enum bal_code bli_store_create_commands(struct bli_store *store, struct bal_error *err);
enum bal_code bli_store_has_commands(struct bli_store *store, bool *has, struct bal_error *err);

#endif
