/* SPDX-License-Identifier: BSD-2-Clause */
/* The starting state of a fluid path, by name or from a file. */
#include "ballast/number.h"
#include "study/fluid_path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FULL = 20,             /* jobs at each server of a full system */
    FILE_LEVELS = 1 << 16, /* most levels in a file */
};

struct levels {
    double *s;
    size_t count;
};

static bool add_level(struct levels *levels, double value) {
    double *larger = realloc(levels->s, (levels->count + 1) * sizeof *larger);
    if (!larger)
        return false;
    larger[levels->count++] = value;
    levels->s = larger;
    return true;
}

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory");
}

static enum bal_code read_line(struct levels *levels, char *line, const char *name, unsigned number,
                               struct bal_error *err) {
    line[strcspn(line, "#")] = 0;
    char *rest = line;
    for (char *word; (word = strtok_r(rest, " \t\r\n,", &rest));) {
        double value;
        if (!bli_share_parse(word, strlen(word), &value) || !(value >= 0 && value <= 1))
            return bal_fail(err, BAL_E_SYNTAX, "%s:%u: '%.60s' is not a fraction from 0 to 1", name, number,
                            word);
        if (levels->count == FILE_LEVELS)
            return bal_fail(err, BAL_E_RANGE, "%s:%u: more than %d numbers", name, number, FILE_LEVELS);
        if (!add_level(levels, value))
            return no_memory(err);
    }
    return BAL_OK;
}

/* Numbers between blanks or commas; # begins a comment. */
static enum bal_code read_levels(struct levels *levels, FILE *file, const char *name, struct bal_error *err) {
    char line[4096];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        if (!strchr(line, '\n') && !feof(file))
            return bal_fail(err, BAL_E_SYNTAX, "%s:%u: a line of more than %zu characters; break it", name,
                            number, sizeof line - 2);
        const enum bal_code code = read_line(levels, line, name, number, err);
        if (code)
            return code;
    }
    if (ferror(file))
        return bal_fail(err, BAL_E_IO, "%s: cannot be read: %s", name, strerror(errno));
    return BAL_OK;
}

static enum bal_code read_file(struct levels *levels, const char *name, struct bal_error *err) {
    FILE *file = fopen(name, "r");
    if (!file)
        return bal_fail(err, BAL_E_IO, "%s: neither empty nor full, nor a file that can be read: %s", name,
                        strerror(errno));
    const enum bal_code code = read_levels(levels, file, name, err);
    fclose(file);
    return code;
}

static enum bal_code fill_levels(struct levels *levels, struct bal_error *err) {
    while (levels->count < FULL)
        if (!add_level(levels, 1))
            return no_memory(err);
    return BAL_OK;
}

enum bal_code bli_fluid_path_start(const char *name, double **start, size_t *count, struct bal_error *err) {
    struct levels levels = {0};
    enum bal_code code = BAL_OK;
    if (strcmp(name, "full") == 0)
        code = fill_levels(&levels, err);
    else if (strcmp(name, "empty") != 0)
        code = read_file(&levels, name, err);
    if (code) {
        free(levels.s);
        levels = (struct levels){0};
    }
    *start = levels.s;
    *count = levels.count;
    return code;
}
