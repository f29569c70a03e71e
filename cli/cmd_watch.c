/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast watch URL...: a running fleet in a terminal, as top shows processes. */
#include "commands.h"
#include "terminal.h"

#include "base/strbuf.h"
#include "format/time_text.h"
#include "load/fetch.h"
#include "report/watch.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 5.0        /* seconds */
#define PATIENCE_SHARED 1.0 /* the same with several URLs */
#define HISTORY_EVERY 5.0   /* the last hour is much longer than the present, and only its end changes */
#define HISTORY_REST 20.0   /* after an answer that took long it is left alone for so many times as long */

enum { SOURCES_MAX = 256 };

struct args {
    double every;
    bool once;
    enum bli_form format;
};

/* ---- options ---- */

static const struct bli_option options[] = {
    {"every", "SECONDS", "look so often (default 1)",
     BLI_STORES_NUMBER(struct args, every, 0.1, 3600, "seconds from 0.1 to 3600")},
    {"once", NULL, "look, print and end; text is about the time of --every",
     BLI_STORES_FLAG(struct args, once)},
    {"format", "text|json", "json prints what the server has said", BLI_STORES_FORM(struct args, format)},
};

/* ---- looking ---- */

/* One nginx. */
struct watch_source {
    const char *url;
    struct target target;
    struct watch before, now;
    struct target past; /* where its last hour is; without a path: nowhere */
    struct watch_history history;
    double history_due; /* not earlier is it asked for again */
    bool seen, seen_twice;
    double heard; /* when it answered last */
    bool silent;  /* it has not since, and why */
    struct bal_error trouble;
};

struct watching {
    const struct args *args;
    size_t sources;
    struct watch_source *source;
    bool utf8; /* what the terminal shows */
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum bal_code fetch_status(const struct watch_source *s, double patience, struct bli_fetched *fetched,
                                  struct bal_error *err) {
    struct bal_error why;
    enum bal_code code = bli_load_fetch(&s->target, "application/json", patience, fetched, &why);
    if (code)
        return bal_fail(err, code, "%s: %s", s->url, why.text);
    if (fetched->status == 200)
        return BAL_OK;
    const int status = fetched->status;
    free(fetched->body);
    *fetched = (struct bli_fetched){0};
    return bal_fail(
        err, BAL_E_FORMAT,
        "%s: status %d; use the URL of a location with ballast_status, which lets this machine in", s->url,
        status);
}

/* Older servers have none; others begin to have it when they are upgraded. */
static enum bal_code update_history(struct watch_source *s, double patience, struct bal_error *err) {
    struct watch_history history = {0};
    struct bli_fetched fetched;
    struct bal_error why;
    const double began = seconds_now();
    if (!*s->past.path || began < s->history_due)
        return BAL_OK;
    enum bal_code code = bli_load_fetch(&s->past, "application/json", patience, &fetched, &why);
    if (code)
        return bal_fail(err, code, "%s: %s", s->url, why.text);
    if (fetched.status == 200)
        code = bli_watch_read_history(&history, fetched.body, fetched.length, s->url, err);
    free(fetched.body);
    if (code) {
        bli_watch_free_history(&history);
        return code;
    }
    bli_watch_free_history(&s->history);
    s->history = history;
    s->history_due = began + fmax(HISTORY_EVERY, HISTORY_REST * (seconds_now() - began));
    return BAL_OK;
}

static enum bal_code update_source(struct watch_source *s, double patience, struct bal_error *err) {
    struct bli_fetched fetched;
    struct watch watch;
    enum bal_code code = fetch_status(s, patience, &fetched, err);
    if (code)
        return code;
    code = bli_watch_read(&watch, fetched.body, fetched.length, s->url, err);
    free(fetched.body);
    code = code ? code : update_history(s, patience, err);
    if (code) {
        bli_watch_free(&watch);
        return code;
    }
    bli_watch_free(&s->before);
    s->before = s->now;
    s->now = watch;
    s->seen_twice = s->seen;
    s->seen = true;
    s->heard = seconds_now();
    return BAL_OK;
}

/* One that does not answer must not keep the others from being seen for long. */
static double patience_of(const struct watching *w) {
    return w->sources > 1 ? PATIENCE_SHARED : PATIENCE;
}

/* Fails if none of them has answered yet. */
static enum bal_code update_all(struct watching *w, struct bal_error *err) {
    bool seen = false;
    for (size_t i = 0; i < w->sources; i++) {
        struct watch_source *s = &w->source[i];
        s->silent = update_source(s, patience_of(w), &s->trouble) != BAL_OK;
        seen |= s->seen;
    }
    if (seen)
        return BAL_OK;
    *err = w->source[0].trouble;
    return BAL_E_FORMAT;
}

/* ---- showing ---- */

static void render_source(const struct watch_source *s, const struct watch_view *view, FILE *out) {
    if (s->silent && s->seen)
        fprintf(out, "! no answer for %.0f s, what is shown is old: %s\n", seconds_now() - s->heard,
                s->trouble.text);
    else if (s->silent)
        fprintf(out, "! %s\n", s->trouble.text);
    fputc('\n', out);
    if (s->seen)
        bli_watch_print(s->seen_twice ? &s->before : NULL, &s->now, &s->history, view, out);
}

/* Of those that answer: what another one said before it was cut off is not so any longer. */
static void render_matrix(const struct watching *w, FILE *out) {
    const struct watch **watch = calloc(w->sources, sizeof *watch);
    size_t count = 0;
    for (size_t i = 0; watch && i < w->sources; i++)
        if (w->source[i].seen && !w->source[i].silent)
            watch[count++] = &w->source[i].now;
    if (watch)
        bli_watch_print_matrix(watch, count, out);
    else
        bli_stream_mark_incomplete(out);
    free(watch);
}

/* The program itself stays in the C locale, in which PI is PI. */
static bool is_utf8(void) {
    const locale_t own = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const bool utf8 = own && strcmp(nl_langinfo_l(CODESET, own), "UTF-8") == 0;
    if (own)
        freelocale(own);
    return utf8;
}

/* See https://no-color.org. */
static bool wants_colour(void) {
    const char *without = getenv("NO_COLOR");
    return !without || !*without;
}

static bool render_frame(const struct watching *w, const struct cli_terminal *terminal,
                         struct bli_strbuf *text) {
    const struct watch_view view = {
        .colour = terminal->able && wants_colour(), .blocks = w->utf8, .columns = terminal->columns};
    if (!bli_strbuf_open(text))
        return false;
    if (w->sources > 1) {
        fprintf(text->stream, "ballast watch, %zu URLs%s\n\n", w->sources, terminal->able ? ", q quits" : "");
        render_matrix(w, text->stream);
    }
    for (size_t i = 0; i < w->sources; i++) {
        const struct watch_source *s = &w->source[i];
        char when[BLI_TIME_TEXT];
        bli_time_moment(s->now.time, "%H:%M:%S", when);
        fputs(w->sources > 1 ? "\n" : "ballast watch ", text->stream);
        fputs(s->url, text->stream);
        if (s->seen)
            fprintf(text->stream, ", %s UTC", when);
        fputs(w->sources == 1 && terminal->able ? ", q quits\n" : "\n", text->stream);
        render_source(s, &view, text->stream);
    }
    return bli_strbuf_close(text);
}

static int show_frame(const struct watching *w, struct cli_terminal *terminal) {
    struct bli_strbuf text;
    int status = CLI_OK;
    if (!render_frame(w, terminal, &text)) {
        bli_strbuf_discard(&text);
        return cli_no_memory();
    }
    if (terminal->able)
        cli_terminal_show(terminal, text.text);
    else
        status = cli_print("", text.text, text.size);
    bli_strbuf_discard(&text);
    return status;
}

static int print_json_of(const struct watch_source *s, double patience) {
    struct bli_fetched fetched;
    struct bal_error err;
    struct watch watch;
    if (fetch_status(s, patience, &fetched, &err))
        return cli_fail("%s", err.text);
    const enum bal_code code = bli_watch_read(&watch, fetched.body, fetched.length, s->url, &err);
    bli_watch_free(&watch);
    const int status = code ? cli_fail("%s", err.text) : cli_print("", fetched.body, fetched.length);
    free(fetched.body);
    return status;
}

static int print_json(const struct watching *w) {
    int status = CLI_OK;
    for (size_t i = 0; i < w->sources && status == CLI_OK; i++)
        status = print_json_of(&w->source[i], patience_of(w));
    return status;
}

/* ---- again and again ---- */

/* Waits until it is time to look again; false: it is to end. */
static bool pause_until(const struct watching *w, struct cli_terminal *terminal, double then) {
    while (!*cli_stop_flag()) {
        const double left = then - seconds_now();
        if (left <= 0)
            return true;
        const enum cli_key key = cli_terminal_wait(terminal, left < 0.2 ? left + 0.001 : 0.2);
        if (key == CLI_KEY_QUIT)
            return false;
        terminal->first += key == CLI_KEY_DOWN;
        terminal->first -= key == CLI_KEY_UP && terminal->first > 0;
        if (key != CLI_NO_KEY && terminal->able && show_frame(w, terminal))
            return false;
    }
    return false;
}

static int watch_text(struct watching *w) {
    struct cli_terminal terminal;
    struct bal_error err;
    int status = CLI_OK;
    if (update_all(w, &err)) /* without a terminal nothing is drawn */
        return cli_fail("%s", err.text);
    if (w->args->once)
        terminal = (struct cli_terminal){.columns = 96};
    else
        cli_terminal_begin(&terminal);
    double next = seconds_now();
    status = w->args->once ? CLI_OK : show_frame(w, &terminal);
    while (status == CLI_OK && pause_until(w, &terminal, next += w->args->every)) {
        next = next > seconds_now() - w->args->every ? next : seconds_now();
        update_all(w, &err);
        if (!terminal.able && !w->args->once)
            status = cli_print("", "\n", 1);
        status = status ? status : show_frame(w, &terminal);
        if (w->args->once)
            break;
    }
    cli_terminal_end(&terminal);
    return status == CLI_OK && *cli_stop_flag() ? CLI_INTERRUPTED : status;
}

static int watch_json(struct watching *w) {
    struct cli_terminal terminal = {.able = false};
    int status = print_json(w);
    double next = seconds_now();
    while (status == CLI_OK && !w->args->once && pause_until(w, &terminal, next += w->args->every))
        status = print_json(w);
    return status == CLI_OK && *cli_stop_flag() ? CLI_INTERRUPTED : status;
}

/* The same place with ?format=history before what the URL asks for. A path that leaves no room for it stays
 * without. */
static void name_past(struct watch_source *s) {
    const char *path = s->target.path;
    const size_t length = strcspn(path, "?");
    s->past = s->target;
    const int written = snprintf(s->past.path, sizeof s->past.path, "%.*s?format=history%s%s", (int)length,
                                 path, path[length] ? "&" : "", path[length] ? path + length + 1 : "");
    if (written < 0 || (size_t)written >= sizeof s->past.path)
        *s->past.path = 0;
}

static enum bal_code resolve_all(struct watching *w, char **urls, struct bal_error *err) {
    enum bal_code code = BAL_OK;
    for (size_t i = 0; i < w->sources && !code; i++) {
        struct watch_source *s = &w->source[i];
        s->url = urls[i];
        code = bli_load_target_parse(&s->target, s->url, err);
        code = code ? code : bli_load_target_resolve(&s->target, err);
        name_past(s);
    }
    return code;
}

static int watch_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.every = 1};
    struct bal_error err;
    int operands;
    int status = cli_parse(command, argc, argv, &args, SOURCES_MAX, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("watch: name the URL of ballast_status: ballast watch http://127.0.0.1:8080/ballast");
    if (args.format != BLI_FORM_TEXT && args.format != BLI_FORM_JSON)
        return cli_fail("--format: write text or json");
    struct watching w = {&args, (size_t)operands, calloc((size_t)operands, sizeof *w.source), is_utf8()};
    if (!w.source)
        return cli_no_memory();
    if (resolve_all(&w, argv + 1, &err)) {
        free(w.source);
        return cli_fail("%s", err.text);
    }
    cli_catch_signals();
    status = args.format == BLI_FORM_JSON ? watch_json(&w) : watch_text(&w);
    for (size_t i = 0; i < w.sources; i++) {
        bli_watch_free(&w.source[i].before);
        bli_watch_free(&w.source[i].now);
        bli_watch_free_history(&w.source[i].history);
    }
    free(w.source);
    return status;
}

const struct cli_command cmd_watch = {
    .name = "watch",
    .summary = "show a running fleet in the terminal: servers, queues, response times",
    .operands = "URL...",
    .description =
        "Asks the ballast_status of an nginx again and again and shows what it says, as top does of\n"
        "processes: requests a second, p50 and p99 by class, the last two minutes, and each server's\n"
        "state and queue, the longest first. q or Ctrl-C ends it, arrow keys scroll. Where the output is\n"
        "no terminal, one text follows the other. Of several URLs, those of dispatchers and of stations, it "
        "also shows\n"
        "who hears whom: for each pair whether the dispatcher hears the station, and the station the\n"
        "dispatcher: yes or no, - where it does not know it, ? where its own URL is missing or silent.",
    .examples =
        "  ballast watch http://127.0.0.1:8080/ballast\n"
        "  ballast watch http://127.0.0.1:8080/ballast --once --format json | jq .dispatchers[0].held\n"
        "  ballast watch http://10.0.0.1/ballast http://10.0.0.2/ballast http://10.0.0.11:8080/ballast\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = watch_main,
};
