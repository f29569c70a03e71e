/* SPDX-License-Identifier: BSD-2-Clause */
/* A locale whose decimal point is a comma, for tests. Include after cmocka.h. */
#ifndef UNIT_COMMA_LOCALE_H
#define UNIT_COMMA_LOCALE_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static void write_locale_file(const char *directory, const char *name, const char *head, const char *tail,
                              bool ascii) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(head, file);
    for (unsigned c = 0; ascii && c < 128; c++)
        fprintf(file, "<U%04X> /x%02x\n", c, c);
    fputs(tail, file);
    assert_int_equal(fclose(file), 0);
}

/* A locale whose decimal point is a comma, made on the spot: few machines have one installed. */
static void enter_comma_locale(char *directory) {
    assert_non_null(mkdtemp(directory));
    write_locale_file(directory, "source",
                      "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\ngrouping -1\n",
                      "END LC_NUMERIC\n", false);
    write_locale_file(directory, "ascii", "<code_set_name> ASCII\n<escape_char> /\nCHARMAP\n",
                      "END CHARMAP\n", true);
    char command[1000];
    snprintf(command, sizeof command,
             "cd %s && localedef -c --no-archive -i ./source -f ./ascii ./comma 2>/dev/null", directory);
    (void)!system(command); /* it grumbles about all that is missing; what counts is whether the locale works
                             */
    setenv("LOCPATH", directory, 1);
    assert_non_null(setlocale(LC_NUMERIC, "comma"));
    assert_string_equal(localeconv()->decimal_point, ",");
}

static void leave_comma_locale(const char *directory) {
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    char command[1000];
    snprintf(command, sizeof command, "rm -r %s", directory);
    assert_int_equal(system(command), 0);
}

#endif
