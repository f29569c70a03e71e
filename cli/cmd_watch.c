/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast watch URL: a running fleet in a terminal, as top shows processes. */
#include "commands.h"
#include "terminal.h"

#include "base/strbuf.h"
#include "format/time_text.h"
#include "load/fetch.h"
#include "report/watch.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 5.0 /* seconds */

struct args {
    double every;
    bool once;
    enum cli_format format;
};

/* ---- options ---- */

static enum bal_code set_every(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {0.1, 3600, false, "seconds from 0.1 to 3600"};
    return cli_number(value, &range, &((struct args *)into)->every, err);
}

static enum bal_code set_once(void *into, const char *value, struct bal_error *err) {
    (void)value, (void)err;
    ((struct args *)into)->once = true;
    return BAL_OK;
}

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    return cli_format(value, &((struct args *)into)->format, err);
}

static const struct cli_option options[] = {
    {"every", "SECONDS", "look so often (default 1)", set_every},
    {"once", NULL, "look, print and end; text is about the time of --every", set_once},
    {"format", "text|json", "json prints what the server has said", set_format},
};

/* ---- looking ---- */

struct watching {
    const struct args *args;
    const char *url;
    struct target target;
    struct watch before, now;
    bool seen, seen_twice;
    double heard; /* when it answered last */
    bool silent;  /* it has not since, and why */
    struct bal_error trouble;
};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum bal_code fetch_status(const struct watching *w, struct bal_fetched *fetched,
                                  struct bal_error *err) {
    struct bal_error why;
    enum bal_code code = bal_load_fetch(&w->target, "application/json", PATIENCE, fetched, &why);
    if (code)
        return bal_fail(err, code, "%s: %s", w->url, why.text);
    if (fetched->status == 200)
        return BAL_OK;
    const int status = fetched->status;
    free(fetched->body);
    *fetched = (struct bal_fetched){0};
    return bal_fail(
        err, BAL_E_FORMAT,
        "%s: status %d; use the URL of a location with ballast_status, which lets this machine in", w->url,
        status);
}

static enum bal_code update_snapshot(struct watching *w, struct bal_error *err) {
    struct bal_fetched fetched;
    struct watch watch;
    enum bal_code code = fetch_status(w, &fetched, err);
    if (code)
        return code;
    code = bal_watch_read(&watch, fetched.body, fetched.length, w->url, err);
    free(fetched.body);
    if (code) {
        bal_watch_free(&watch);
        return code;
    }
    bal_watch_free(&w->before);
    w->before = w->now;
    w->now = watch;
    w->seen_twice = w->seen;
    w->seen = true;
    w->heard = seconds_now();
    return BAL_OK;
}

/* ---- showing ---- */

static bool render_frame(const struct watching *w, const struct cli_terminal *terminal,
                         struct bal_strbuf *text) {
    const struct watch_view view = {.colour = terminal->able,
                                    .blocks = strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
                                    .columns = terminal->columns};
    char when[BAL_TIME_TEXT];
    if (!bal_strbuf_open(text))
        return false;
    bal_time_moment(w->now.time, "%H:%M:%S", when);
    fprintf(text->stream, "ballast watch %s, %s UTC%s\n", w->url, when, terminal->able ? ", q quits" : "");
    if (w->silent)
        fprintf(text->stream, "! no answer for %.0f s, what is shown is old: %s\n", seconds_now() - w->heard,
                w->trouble.text);
    fputc('\n', text->stream);
    bal_watch_print(w->seen_twice ? &w->before : NULL, &w->now, &view, text->stream);
    return bal_strbuf_close(text);
}

static int show_frame(const struct watching *w, struct cli_terminal *terminal) {
    struct bal_strbuf text;
    int status = CLI_OK;
    if (!render_frame(w, terminal, &text)) {
        bal_strbuf_discard(&text);
        return cli_no_memory();
    }
    if (terminal->able)
        cli_terminal_show(terminal, text.text);
    else
        status = cli_print("", text.text, text.size);
    bal_strbuf_discard(&text);
    return status;
}

static int print_json(const struct watching *w) {
    struct bal_fetched fetched;
    struct bal_error err;
    struct watch watch;
    if (fetch_status(w, &fetched, &err))
        return cli_fail("%s", err.text);
    const enum bal_code code = bal_watch_read(&watch, fetched.body, fetched.length, w->url, &err);
    bal_watch_free(&watch);
    const int status = code ? cli_fail("%s", err.text) : cli_print("", fetched.body, fetched.length);
    free(fetched.body);
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
        if (key != CLI_NO_KEY && w->seen && terminal->able && show_frame(w, terminal))
            return false;
    }
    return false;
}

static int watch_text(struct watching *w) {
    struct cli_terminal terminal;
    struct bal_error err;
    int status = CLI_OK;
    if (update_snapshot(w, &err)) /* without a terminal nothing is drawn */
        return cli_fail("%s", err.text);
    if (w->args->once)
        terminal = (struct cli_terminal){.columns = 96};
    else
        cli_terminal_begin(&terminal);
    double next = seconds_now();
    status = w->args->once ? CLI_OK : show_frame(w, &terminal);
    while (status == CLI_OK && pause_until(w, &terminal, next += w->args->every)) {
        next = next > seconds_now() - w->args->every ? next : seconds_now();
        w->silent = update_snapshot(w, &w->trouble) != BAL_OK;
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

static int watch_main(const struct cli_command *command, int argc, char **argv) {
    struct args args = {.every = 1};
    struct watching *w;
    struct bal_error err;
    int operands;
    int status = cli_parse(command, argc, argv, &args, 1, &operands);
    if (status >= 0)
        return status;
    if (operands == 0)
        return cli_fail("watch: name the URL of ballast_status: ballast watch http://127.0.0.1:8080/ballast");
    if (args.format != CLI_TEXT && args.format != CLI_JSON)
        return cli_fail("--format: write text or json");
    w = calloc(1, sizeof *w);
    if (!w)
        return cli_no_memory();
    w->args = &args;
    w->url = argv[1];
    if (bal_load_target_parse(&w->target, argv[1], &err) || bal_load_target_resolve(&w->target, &err)) {
        free(w);
        return cli_fail("%s", err.text);
    }
    cli_catch_signals();
    status = args.format == CLI_JSON ? watch_json(w) : watch_text(w);
    bal_watch_free(&w->before);
    bal_watch_free(&w->now);
    free(w);
    return status;
}

const struct cli_command cmd_watch = {
    .name = "watch",
    .summary = "show a running fleet in the terminal: servers, queues, response times",
    .operands = "URL",
    .description =
        "Asks the ballast_status of an nginx again and again and shows what it says, as top does of\n"
        "processes: requests a second, p50 and p99 by class, and each server's state and queue, the\n"
        "longest first. q or Ctrl-C ends it, arrow keys scroll. Where the output is no terminal, one\n"
        "text follows the other.",
    .examples =
        "  ballast watch http://127.0.0.1:8080/ballast\n"
        "  ballast watch http://127.0.0.1:8080/ballast --once --format json | jq .dispatchers[0].held\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = watch_main,
};
