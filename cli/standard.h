/* What the program alone does with its standard streams. */
#ifndef CLI_STANDARD_H
#define CLI_STANDARD_H

/* A file that may not grow and a pipe that nobody reads make errors of writing and do not end the program,
 * which has things to put away. cli_fail_printing says what errno tells of standard output; of a reader that
 * has gone it says nothing, and once all is put away the program ends by the signal after all, as programs
 * do. */
void cli_survive_writing(void);
int cli_fail_printing(const char *what); /* "the results ", or ""; CLI_BAD_INPUT */
void cli_end_with_reader(void);

#endif
