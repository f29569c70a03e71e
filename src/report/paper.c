/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds and reads the directories of papers. */
#include "report/paper.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory to read the papers");
}

static char *join_path(const char *directory, const char *name) {
    char *path;
    return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

static bool is_directory(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* ---- where they are ---- */

/* The directory of the running program; NULL when it is unknown. */
static char *program_directory(void) {
    char path[4096];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return strdup(path);
}

/* That of the library that this code is in, where another program has loaded one; NULL: it is in no library.
 */
static char *library_directory(void) {
    static const char here;
    Dl_info self;
    char *program = realpath("/proc/self/exe", NULL);
    char *file = dladdr(&here, &self) && self.dli_fname ? realpath(self.dli_fname, NULL) : NULL;
    const bool is_library = file && !(program && strcmp(file, program) == 0);
    free(program);
    if (is_library)
        *strrchr(file, '/') = '\0';
    else
        free(file);
    return is_library ? file : NULL;
}

/* The first of these names in a directory that is one, absolute; NULL: none is. */
static char *find_directory(const char *directory, const char *const *name) {
    char *found = NULL;
    for (; directory && *name && !found; name++) {
        char *path = join_path(directory, *name);
        if (path && is_directory(path))
            found = realpath(path, NULL);
        free(path);
    }
    return found;
}

enum bal_code bli_papers_directory(char **directory, struct bal_error *err) {
    const char *given = getenv("BALLAST_PAPERS");
    if (given && *given) {
        if (!is_directory(given))
            return bal_fail(err, BAL_E_IO, "BALLAST_PAPERS is '%s', which is not a directory", given);
        *directory = strdup(given);
        return *directory ? BAL_OK : no_memory(err);
    }
    static const char *const of_program[] = {"../share/ballast/papers", "../papers", NULL};
    /* In a wheel, installed by make, and where it is built. */
    static const char *const of_library[] = {"papers", "../../../../share/ballast/papers", "../../../papers",
                                             NULL};
    char *program = program_directory(), *library = library_directory();
    *directory = find_directory(program, of_program);
    if (!*directory)
        *directory = find_directory(library, of_library);
    free(program);
    free(library);
    if (*directory)
        return BAL_OK;
    return bal_fail(err, BAL_E_IO,
                    "the papers are not where the program was installed; set BALLAST_PAPERS to their "
                    "directory");
}

/* ---- reading one ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_suffix(const char *name, const char *suffix) {
    const size_t length = strlen(name), end = strlen(suffix);
    return length > end && strcmp(name + length - end, suffix) == 0;
}

/* Adds a text that the list then owns; false without memory. */
static bool add_text(char ***list, size_t *count, char *text) {
    char **longer = text ? realloc(*list, (*count + 1) * sizeof *longer) : NULL;
    if (!longer) {
        free(text);
        return false;
    }
    *list = longer;
    longer[(*count)++] = text;
    return true;
}

/* The entries of a directory with this suffix, as paths in the order of their names. */
static enum bal_code list_directory(const char *directory, const char *suffix, char ***list, size_t *count,
                                    struct bal_error *err) {
    DIR *entries = opendir(directory);
    if (!entries)
        return bal_fail(err, BAL_E_IO, "'%s' cannot be read: %s", directory, strerror(errno));
    bool good = true;
    for (const struct dirent *entry; good && (entry = readdir(entries));)
        if (entry->d_name[0] != '.' && (!*suffix || has_suffix(entry->d_name, suffix)))
            good = add_text(list, count, join_path(directory, entry->d_name));
    closedir(entries);
    if (!good)
        return no_memory(err);
    if (*count > 0)
        qsort(*list, *count, sizeof **list, by_name);
    return BAL_OK;
}

static void free_list(char **list, size_t count) {
    for (size_t i = 0; i < count; i++)
        free(list[i]);
    free(list);
}

/* A line without its end; "" behind the last one. NULL without memory. */
static char *read_line(FILE *file) {
    char *line = NULL;
    size_t room = 0;
    const ssize_t length = getline(&line, &room, file);
    if (length < 0) {
        free(line);
        return strdup("");
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

static enum bal_code read_heading(struct bli_paper *paper, struct bal_error *err) {
    char *path = join_path(paper->directory, "paper.txt");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) {
        const enum bal_code code = path ? bal_fail(err, BAL_E_IO,
                                                   "'%s' is not a paper: its paper.txt cannot be read: %s; "
                                                   "`ballast paper` lists the papers",
                                                   paper->name, strerror(errno))
                                        : no_memory(err);
        free(path);
        return code;
    }
    paper->title = read_line(file);
    paper->source = read_line(file);
    fclose(file);
    free(path);
    return paper->title && paper->source ? BAL_OK : no_memory(err);
}

static char *name_of(const char *directory) {
    size_t end = strlen(directory);
    while (end > 1 && directory[end - 1] == '/')
        end--;
    size_t begin = end;
    while (begin > 0 && directory[begin - 1] != '/')
        begin--;
    return strndup(directory + begin, end - begin);
}

enum bal_code bli_paper_init(struct bli_paper *paper, const char *directory, struct bal_error *err) {
    *paper = (struct bli_paper){.name = name_of(directory), .directory = strdup(directory)};
    enum bal_code code = paper->name && paper->directory ? read_heading(paper, err) : no_memory(err);
    if (!code)
        code = list_directory(directory, ".yaml", &paper->experiment, &paper->experiments, err);
    if (code)
        bli_paper_fini(paper);
    return code;
}

void bli_paper_fini(struct bli_paper *paper) {
    free(paper->name);
    free(paper->directory);
    free(paper->title);
    free(paper->source);
    free_list(paper->experiment, paper->experiments);
    *paper = (struct bli_paper){0};
}

/* ---- reading all ---- */

static bool is_paper(const char *directory) {
    char *path = join_path(directory, "paper.txt");
    const bool there = path && access(path, R_OK) == 0;
    free(path);
    return there;
}

enum bal_code bli_papers_init(struct bli_papers *papers, const char *directory, struct bal_error *err) {
    *papers = (struct bli_papers){0};
    char **entry = NULL;
    size_t entries = 0;
    enum bal_code code = list_directory(directory, "", &entry, &entries, err);
    papers->paper = calloc(entries + 1, sizeof *papers->paper);
    if (!code && !papers->paper)
        code = no_memory(err);
    for (size_t i = 0; i < entries && !code; i++) {
        if (!is_paper(entry[i]))
            continue;
        code = bli_paper_init(&papers->paper[papers->count], entry[i], err);
        papers->count += !code;
    }
    free_list(entry, entries);
    if (code)
        bli_papers_fini(papers);
    return code;
}

void bli_papers_fini(struct bli_papers *papers) {
    for (size_t i = 0; i < papers->count; i++)
        bli_paper_fini(&papers->paper[i]);
    free(papers->paper);
    *papers = (struct bli_papers){0};
}
