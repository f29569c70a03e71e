/* SPDX-License-Identifier: BSD-2-Clause */
/* The hook `scale`, and the file with the number. */
#include "replicas.h"

#include "app.h"
#include "event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NEVER UINT64_MAX
static const uint64_t millisecond = 1000000;

static const char *name_of(const struct replicas *r) {
    return r->config->hook.name;
}

/* ---- the file ---- */

/* Exactly as it was written, else it is not known. */
static uint32_t read_number(const char *state, const char *name) {
    char path[PATH_MAX], text[20] = "";
    uint64_t number = 0;
    app_path(path, state, name, "replicas");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return BAL_SCALER_UNKNOWN;
    const ssize_t size = read(fd, text, sizeof text - 1);
    close(fd);
    char *end = size > 0 ? strchr(text, '\n') : NULL;
    if (end)
        *end = '\0';
    if (end && config_whole_number(text, &number) && number <= CONFIG_APPS_MAX)
        return (uint32_t)number;
    log_event(LOG_WARNING, name, "number-unreadable", "%s", "");
    return BAL_SCALER_UNKNOWN;
}

static bool write_file(const char *path, const char *text) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    const bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    const int error = errno;
    close(fd);
    errno = error;
    return written;
}

/* In one step: a keeper that is killed meanwhile has stored the number before, or this one. */
static bool store_number(struct replicas *r, uint32_t number) {
    char path[PATH_MAX], next[PATH_MAX], text[20], quoted[LOG_QUOTED];
    if (r->stored == number)
        return true;
    app_path(path, r->state, name_of(r), "replicas");
    app_path(next, r->state, name_of(r), "replicas.new");
    snprintf(text, sizeof text, "%u\n", number);
    if (!write_file(next, text) || rename(next, path)) {
        log_event(LOG_ERROR, name_of(r), "number-not-stored", "replicas=%u error=%s", number,
                  log_quote(strerror(errno), quoted));
        return false;
    }
    r->stored = number;
    return true;
}

/* ---- the hook ---- */

static void free_words(char **words) {
    for (char **word = words; word && *word; word++)
        free(*word);
    free(words);
}

/* A copy of the word with the number in place of each {n}; NULL: out of memory. */
static char *fill_in(const char *word, uint32_t number) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    for (const char *at; (at = strstr(word, "{n}")); word = at + 3)
        fprintf(out, "%.*s%u", (int)(at - word), word, number);
    fputs(word, out);
    return fclose(out) == 0 ? text : NULL;
}

static char **fill_in_words(char *const *words, uint32_t number) {
    size_t count = 0;
    while (words[count])
        count++;
    char **filled = calloc(count + 1, sizeof *filled);
    for (size_t i = 0; filled && i < count; i++)
        if (!(filled[i] = fill_in(words[i], number))) {
            free_words(filled);
            return NULL;
        }
    return filled;
}

/* Returns 0, or an errno. */
static int begin_hook(struct replicas *r) {
    char lock[PATH_MAX];
    char **words = fill_in_words(r->config->scale.argv, r->order.replicas);
    if (!words)
        return ENOMEM;
    app_path(lock, r->state, name_of(r), "hook");
    const struct supervisor_task task = {.app = &r->config->hook,
                                         .what = "scale",
                                         .argv = words,
                                         .lock = lock,
                                         .state = r->state,
                                         .bound = true,
                                         .leaves = true};
    const int error = supervisor_begin(&r->hook, &task);
    free_words(words);
    r->hook_number = r->order.number;
    return error;
}

/* The hook of a keeper that was killed ends with it, but not at once. */
static bool is_old_hook_there(const struct replicas *r) {
    char path[PATH_MAX];
    struct supervisor old = {0};
    app_path(path, r->state, name_of(r), "hook");
    const enum supervisor_find found = supervisor_find(&old, path);
    if (found == SUPERVISOR_FOUND)
        supervisor_kill(&old);
    supervisor_release(&old);
    return found != SUPERVISOR_NONE;
}

static void report_result(struct replicas *r, uint64_t now, bool success) {
    bal_scaler_event(&r->scaler, now, r->order.number, success);
    r->changed = true;
}

static void begin_order(struct replicas *r, uint64_t now) {
    char quoted[LOG_QUOTED];
    if (is_old_hook_there(r)) {
        r->again_at = now + millisecond;
        return;
    }
    r->pending = false;
    r->again_at = NEVER;
    const bool changes = r->stored != r->order.replicas;
    if (!store_number(r, r->order.replicas)) {
        report_result(r, now, false);
        return;
    }
    if (changes)
        log_event(LOG_INFO, name_of(r), "scale", "replicas=%u", r->order.replicas);
    const int error = r->config->scale.argv ? begin_hook(r) : 0;
    if (error)
        log_event(LOG_ERROR, name_of(r), "hook-failed", "hook=scale error=%s",
                  log_quote(strerror(error), quoted));
    if (error || !r->config->scale.argv)
        report_result(r, now, !error);
}

static void hook_ended(struct replicas *r, uint64_t now) {
    const int status = r->hook.status;
    const bool good = status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!good)
        log_event(LOG_WARNING, name_of(r), "hook", "hook=scale replicas=%u status=%d", r->order.replicas,
                  status >= 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    supervisor_release(&r->hook);
    if (r->hook_number == r->order.number)
        report_result(r, now, good);
}

/* ---- the whole ---- */

bool replicas_init(struct replicas *r, const struct replicas_config *config, const char *state,
                   uint64_t now) {
    const uint32_t stored = read_number(state, config->hook.name);
    *r = (struct replicas){.config = config, .state = state, .again_at = NEVER, .stored = stored};
    r->place = calloc(config->places, sizeof *r->place);
    bal_scaler_init(&r->scaler, &config->limits, r->place, stored, now);
    if (stored != BAL_SCALER_UNKNOWN)
        log_event(LOG_INFO, config->hook.name, "found", "replicas=%u", stored);
    return r->place;
}

void replicas_fini(struct replicas *r) {
    supervisor_release(&r->hook);
    free(r->place);
}

void replicas_reconfigure(struct replicas *r, const struct replicas_config *config, const char *state,
                          uint64_t now) {
    r->config = config;
    r->state = state;
    bal_scaler_reconfigure(&r->scaler, &config->limits, now);
}

void replicas_forget(struct replicas *r, uint32_t place) {
    static const struct bal_keeper gone = {.state = BAL_KEEPER_OFF};
    r->place[place].keeper = &gone;
}

bool replicas_reaped(struct replicas *r, pid_t pid, int status) {
    if (!pid || r->hook.pid != pid)
        return false;
    r->hook.ended = true;
    r->hook.status = status;
    return true;
}

uint64_t replicas_pass(struct replicas *r, uint64_t now) {
    bool happened = r->hook.ended;
    if (r->hook.ended)
        hook_ended(r, now);
    if (bal_scaler_order(&r->scaler, now, &r->order)) {
        r->pending = true;
        r->changed = true;
        r->again_at = NEVER;
    }
    r->pending = r->pending && r->scaler.under_way;
    if (r->hook.pid && (!r->scaler.under_way || r->hook_number != r->order.number))
        supervisor_stop(&r->hook); /* it takes too long */
    if (r->pending && !r->hook.pid && (r->again_at == NEVER || r->again_at <= now)) {
        begin_order(r, now);
        happened = happened || !r->scaler.under_way;
    }
    const uint64_t next = bal_scaler_run_timers(&r->scaler, now);
    return happened ? now : next < r->again_at ? next : r->again_at;
}
