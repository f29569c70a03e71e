/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads, judges and draws the experiments of one paper, and writes its page. */
#include "report/paper_work.h"

#include "ballast/report.h"
#include "report/judgements.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum bal_code no_memory(struct bal_error *err) {
    return bal_fail(err, BAL_E_MEMORY, "not enough memory");
}

void bli_paper_work_fini(struct bli_paper_work *work) {
    for (size_t i = 0; i < work->count; i++) {
        bli_experiment_free(work->experiment[i]);
        free(work->judged[i]);
    }
    free(work->experiment);
    free(work->judged);
    free(work->only);
    free(work->directory);
    bli_store_close(work->store);
    bli_paper_fini(&work->paper);
}

/* A name is looked up among the papers; what has a slash is a directory. */
static enum bal_code find_paper(const char *name, struct bli_paper *paper, struct bal_error *err) {
    char *directory = NULL, *path = NULL;
    enum bal_code code = BAL_OK;
    if (strchr(name, '/'))
        path = strdup(name);
    else
        code = bli_papers_directory(&directory, err);
    if (!code && directory && asprintf(&path, "%s/%s", directory, name) < 0)
        path = NULL;
    if (!code)
        code = path ? bli_paper_init(paper, path, err) : no_memory(err);
    free(directory);
    free(path);
    return code;
}

/* ---- experiments ---- */

/* "figure-1", "figure1" and "1" are the same figure. */
static bool same_figure(const char *wanted, const char *name) {
    static const char word[] = "figure";
    const char *texts[] = {wanted, name};
    for (int i = 0; i < 2; i++)
        if (strncmp(texts[i], word, strlen(word)) == 0) {
            texts[i] += strlen(word);
            texts[i] += *texts[i] == '-';
        }
    return strcmp(texts[0], texts[1]) == 0;
}

/* Is the experiment wanted, and is it one of its figures alone? */
static bool is_wanted(const struct bli_experiment *e, const char *figure, const char **only) {
    *only = NULL;
    if (!figure || same_figure(figure, e->name))
        return true;
    for (size_t i = 0; i < e->plots; i++)
        if (same_figure(figure, e->plot[i].id)) {
            *only = e->plot[i].id;
            return true;
        }
    return false;
}

static enum bal_code read_experiments(struct bli_paper_work *work, const char *figure,
                                      struct bal_error *err) {
    const struct bli_paper *paper = &work->paper;
    work->experiment = calloc(paper->experiments + 1, sizeof(*work->experiment));
    work->judged = calloc(paper->experiments + 1, sizeof(*work->judged));
    work->only = calloc(paper->experiments + 1, sizeof(*work->only));
    if (!work->experiment || !work->judged || !work->only)
        return no_memory(err);
    char names[400] = "";
    size_t used = 0;
    for (size_t i = 0; i < paper->experiments; i++) {
        struct bli_experiment *e;
        const enum bal_code code = bli_experiment_read(paper->experiment[i], work->mode, &e, err);
        if (code)
            return code;
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", e->name);
        if (is_wanted(e, figure, &work->only[work->count]))
            work->experiment[work->count++] = e;
        else
            bli_experiment_free(e);
    }
    if (work->count == 0 && figure)
        return bal_fail(err, BAL_E_UNKNOWN,
                        "--figure %.100s: there is none such in paper %s; its experiments are %s", figure,
                        paper->name, names);
    if (work->count == 0)
        return bal_fail(err, BAL_E_UNKNOWN, "paper %s has no experiments (*.yaml) in %s", paper->name,
                        paper->directory);
    return BAL_OK;
}

/* ---- what is made ---- */

/* The path of a file in the directory; the caller frees it. NULL: no memory. */
static char *path_in(const struct bli_paper_work *work, const char *file) {
    char *path;
    return asprintf(&path, "%s/%s", work->directory, file) < 0 ? NULL : path;
}

static enum bal_code open_store(struct bli_paper_work *work, const char *output, struct bal_error *err) {
    static const char *const suffix[] = {"", "-quick", "-full"};
    const int length = output ? asprintf(&work->directory, "%s", output)
                              : asprintf(&work->directory, "%s%s", work->paper.name, suffix[work->mode]);
    if (length < 0) {
        work->directory = NULL;
        return no_memory(err);
    }
    if (mkdir(work->directory, 0777) != 0 && errno != EEXIST)
        return bal_fail(err, BAL_E_IO, "--output %s: cannot make this directory: %s; choose another place",
                        work->directory, strerror(errno));
    char *path = path_in(work, "results.db");
    const enum bal_code code =
        path ? bli_store_open(path, BLI_STORE_WRITE, &work->store, err) : no_memory(err);
    free(path);
    return code;
}

enum bal_code bli_paper_work_init(struct bli_paper_work *work, const char *name, enum bli_mode mode,
                                  const char *figure, const char *output, struct bal_error *err) {
    *work = (struct bli_paper_work){.mode = mode};
    enum bal_code code = find_paper(name, &work->paper, err);
    if (code)
        return code;
    code = read_experiments(work, figure, err);
    if (!code)
        code = open_store(work, output, err);
    if (code)
        bli_paper_work_fini(work);
    return code;
}

static enum bal_code add_cost(const struct bli_paper_work *work, const struct bli_experiment *e,
                              struct bli_paper_cost *cost, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t point = 0; point < e->points && !code; point++)
        for (size_t policy = 0; policy < e->policies && !code; policy++) {
            struct bli_result result;
            code = bli_store_result(work->store, e, point, policy, &result, err);
            if (code || result.replications == 0)
                continue;
            cost->trials += result.replications;
            cost->seconds += result.seconds;
        }
    return code;
}

/* The latest end of a run in this mode; days in this form are ordered as texts are. */
static void find_day(const struct bli_paper_work *work, const struct bli_store_run *run, size_t count,
                     struct bli_paper_cost *cost) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < work->count; k++)
            if (run[i].mode == work->mode && run[i].ended &&
                strcmp(run[i].name, work->experiment[k]->name) == 0 &&
                strncmp(run[i].ended, cost->day, 10) > 0)
                snprintf(cost->day, sizeof cost->day, "%.10s", run[i].ended);
}

enum bal_code bli_paper_work_cost(const struct bli_paper_work *work, struct bli_paper_cost *cost,
                                  struct bal_error *err) {
    struct bli_store_run *runs;
    size_t count;
    *cost = (struct bli_paper_cost){0};
    enum bal_code code = bli_store_runs(work->store, &runs, &count, err);
    if (code)
        return code;
    find_day(work, runs, count, cost);
    free(runs);
    for (size_t i = 0; i < work->count && !code; i++)
        code = add_cost(work, work->experiment[i], cost, err);
    return code;
}

enum bal_code bli_paper_work_judge(struct bli_paper_work *work, struct bal_error *err) {
    for (size_t i = 0; i < work->count; i++) {
        const enum bal_code code =
            bli_judgements_new(work->store, work->experiment[i], &work->judged[i], err);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bli_paper_work_draw(const struct bli_paper_work *work, struct bal_error *err) {
    for (size_t i = 0; i < work->count; i++) {
        const struct bli_chart_files files = {
            .directory = work->directory,
            .formats = BLI_CHART_FORMATS,
            .only = work->only[i],
        };
        const enum bal_code code = bli_chart_write(work->store, work->experiment[i], &files, err);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bli_paper_work_page(const struct bli_paper_work *work, FILE *out, struct bal_error *err) {
    char *database = path_in(work, "results.db");
    const struct bli_report_known known = {work->experiment, work->judged, work->count};
    const enum bal_code code =
        database ? bli_report_write_known(work->store, database, &known, out, err) : no_memory(err);
    free(database);
    return code;
}
