/* SPDX-License-Identifier: BSD-2-Clause */
/* Papers: directories of experiment files that check the claims of a paper.
 *
 * A paper NAME is a directory NAME with a file `paper.txt` (its first line is the title, its second says
 * where it appeared, the rest is for readers) and the experiment files `*.yaml`, one for each figure or
 * question. */
#ifndef REPORT_PAPER_H
#define REPORT_PAPER_H

#include "ballast/error.h"

#include <stddef.h>

struct bli_paper {
    char *name;
    char *directory;
    char *title, *source;
    size_t experiments;
    char **experiment; /* paths, in the order of their names */
};

struct bli_papers {
    size_t count;
    struct bli_paper *paper; /* in the order of their names */
};

/* Reads all papers in a directory. A directory without a paper.txt is not a paper and is skipped. */
enum bal_code bli_papers_init(struct bli_papers *papers, const char *directory, struct bal_error *err);
void bli_papers_fini(struct bli_papers *papers);

/* Reads one. */
enum bal_code bli_paper_init(struct bli_paper *paper, const char *directory, struct bal_error *err);
void bli_paper_fini(struct bli_paper *paper);

/* Where papers are: the directory that $BALLAST_PAPERS names; without it `share/ballast/papers` of the place
 * where the program is installed, or `papers` of the source tree whose build directory it is in. The caller
 * frees *directory. */
enum bal_code bli_papers_directory(char **directory, struct bal_error *err);

#endif
