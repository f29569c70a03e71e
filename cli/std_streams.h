/* SPDX-License-Identifier: BSD-2-Clause */
/* Standard streams of the program: errors of writing, and readers that have gone. Embedded commands do not
 * use this. */
#ifndef CLI_STD_STREAMS_H
#define CLI_STD_STREAMS_H

/* A full disk, or a pipe whose reader has gone, then gives an error of writing and does not end the program,
 * which must clean up first. cli_fail_printing reports errno for standard output. If the reader of a pipe has
 * gone it prints nothing; after the cleanup the program ends by SIGPIPE, as usual. */
void cli_ignore_sigpipe(void);
int cli_fail_printing(const char *what); /* "the results ", or ""; CLI_BAD_INPUT */
void cli_reraise_sigpipe(void);

#endif
