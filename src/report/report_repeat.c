/* SPDX-License-Identifier: BSD-2-Clause */
/* How an experiment is repeated: the command, who computed it and when, and the file itself. */
#include "report/report_page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *mode_option(enum bli_mode mode) {
    return mode == BLI_MODE_QUICK ? " --quick" : mode == BLI_MODE_FULL ? " --full" : "";
}

void bli_page_maker(const struct page *page, const char *name, const char *before, const char *version,
                    const char *compiler, const char *machine) {
    char text[600];
    snprintf(text, sizeof text, "%sversion %s, %s, %s", before, version, compiler, machine);
    put_fact(page, name, text);
}

/* When, and by whom if the reader cannot know. */
static void put_moment(const struct page *page, const char *name, const char *when, const char *version,
                       const char *compiler, const char *machine, const struct bli_makers *makers) {
    const struct bli_maker *only = &makers->maker[0];
    char before[60];
    snprintf(before, sizeof before, "%s: ", when);
    if (makers->count == 1 && strcmp(only->version, version) == 0 && strcmp(only->compiler, compiler) == 0 &&
        strcmp(only->machine, machine) == 0)
        put_fact(page, name, when);
    else
        bli_page_maker(page, name, before, version, compiler, machine);
}

/* Who made the trials, and who began the run and asked for it last. */
static enum bal_code put_makers(const struct page *page, const struct item *item, struct bal_error *err) {
    const struct bli_store_run *run = item->run;
    struct bli_makers makers;
    const enum bal_code code = bli_store_makers(page->store, item->experiment, &makers, err);
    if (code)
        return code;
    for (size_t i = 0; i < makers.count; i++) {
        const struct bli_maker *maker = &makers.maker[i];
        char trials[60] = "";
        if (makers.count > 1)
            snprintf(trials, sizeof trials, "%zu trials: ", maker->trials);
        if (maker->id)
            bli_page_maker(page, "computed by", trials, maker->version, maker->compiler, maker->machine);
        else
            put_fact(page, "computed by", "a version that did not note it");
    }
    if (makers.others)
        put_fact(page, "computed by", "still others");
    put_moment(page, "started", run->started, run->version, run->compiler, run->machine, &makers);
    put_fact(page, "ended", run->ended ? run->ended : "not yet");
    if (run->latest && strcmp(run->latest, run->started) != 0)
        put_moment(page, "asked for again", run->latest, run->latest_version, run->latest_compiler,
                   run->latest_machine, &makers);
    return BAL_OK;
}

/* What was typed; a run in parts, or one that was interrupted, has several. */
static enum bal_code put_commands(const struct page *page, const struct item *item, struct bal_error *err) {
    struct bli_store_command *commands;
    size_t count;
    const enum bal_code code = bli_store_commands(page->store, item->run->id, &commands, &count, err);
    for (size_t i = 0; i < count; i++)
        put_fact(page, "command", commands[i].text);
    free(commands);
    return code;
}

void bli_page_spec(const struct page *page, const struct item *item) {
    put_text(page, "<pre class=\"spec\">");
    bli_html_text(item->run->spec, page->out);
    put_text(page, "</pre>\n");
}

enum bal_code bli_page_repeat(const struct page *page, const struct item *item, struct bal_error *err) {
    const struct bli_experiment *e = item->experiment;
    put_text(page, "<details class=\"repeat\"><summary>How to repeat this</summary>\n");
    put_text(page, "<p>Save the experiment below as <code>");
    bli_html_text(e->name, page->out);
    put_text(page, e->live
                       ? ".yaml</code>. What was measured differs from time to time; the lab gives the same "
                         "numbers.</p>\n<pre>ballast live "
                       : ".yaml</code>. The same version of Ballast gives the same numbers on any "
                         "machine.</p>\n<pre>ballast run ");
    bli_html_text(e->name, page->out);
    fprintf(page->out, ".yaml%s --db ", mode_option(e->mode));
    bli_html_text(page->path, page->out);
    put_text(page, "\nballast report ");
    bli_html_text(page->path, page->out);
    put_text(page, " -o report.html</pre>\n<dl class=\"facts\">\n");
    char seed[32];
    snprintf(seed, sizeof seed, "%" PRIu64, e->seed);
    put_fact(page, "seed", seed);
    enum bal_code code = put_makers(page, item, err);
    if (!code)
        code = put_commands(page, item, err);
    put_text(page, "</dl>\n");
    bli_page_spec(page, item);
    put_text(page, "</details>\n");
    return code;
}
