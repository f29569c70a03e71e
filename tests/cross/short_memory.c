/* SPDX-License-Identifier: BSD-2-Clause */
/* Memory that runs out: every allocation of a command fails once, in turn, and then from there on. Each run
 * must end with the whole output, or with one line that says that memory is short, exit status 2 and nothing
 * half-written; never with a crash, a blank or half a file; and a store of results must go on afterwards as
 * if nothing had been.
 *
 * usage: short_memory BALLAST FAIL_ALLOCATION.so [--all] [NAME]...
 * Without --all a fixed sample of the allocations, so that it takes some seconds. */
#include "base/arena.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SAMPLE = 20, /* allocations tried of a command without --all, in each of the two ways */
    ARGUMENTS = 40,
    FILES = 16,   /* that a command writes */
    SHOWN = 3,    /* failures of a command that are told in full */
    SECONDS = 60, /* a run that takes longer hangs */
};

/* Inputs, made in the working directory before anything else. */
static const struct {
    const char *name, *text;
} inputs[] = {
    {"small.yaml", "title: small\n"
                   "fleet: {servers: 3}\n"
                   "policies: [random, jsq, {policy: \"pod:d=2\", label: two}]\n"
                   "sweep: {axis: load, values: [0.5, 0.7]}\n"
                   "run: {jobs: 100, replications: 2}\n"
                   "metrics: [response.mean, response.p99]\n"
                   "figures:\n"
                   "  - {id: response, title: Responses, x: load, y: response.mean, caption: about}\n"
                   "claims:\n"
                   "  - {id: order, says: two beat one, measure: ratio, of: two, to: random,"
                   " expect: {most: 100}}\n"},
    {"access.csv", "time,duration_s,path\n"
                   "1700000000.1,0.05,/a\n1700000000.2,0.5,/b\n1700000000.9,0.01,/a\n1700000001.2,0.2,/c\n"
                   "1700000001.3,0.07,/a\n1700000002.2,0.1,/b\n1700000002.9,0.02,/a\n1700000004.0,0.3,/c\n"
                   "1700000004.2,0.11,/a\n1700000004.3,0.5,/b\n1700000005.0,0.03,/a\n1700000005.5,0.2,/c\n"
                   "1700000006.1,0.04,/a\n1700000007.0,0.6,/b\n1700000007.1,0.01,/a\n1700000009.0,0.1,/c\n"},
};

/* A command, words apart by blanks. It may write to out/, which is empty before each run, and use the store
 * fresh.db, which is not there before each run. */
struct command {
    const char *name, *words;
    bool again;           /* it uses the store: once more without a failure it must give the whole output */
    unsigned long ending; /* so many of the last allocations are tried without --all, too, one by one */
};

static const struct command commands[] = {
    {"compare", "compare --servers 2 --jobs 100 --replications 2 --threads 1", false},
    {"compare-csv",
     "compare --servers 2x1,1x2 --policy jsq --policy random --jobs 100 --replications 2 --threads 1 "
     "--format csv --output out/o",
     false},
    {"compare-json",
     "compare --servers 2 --policy jsq --policy pod:d=2 --jobs 100 --replications 2 --threads 1 "
     "--format json --output out/o",
     false},
    {"compare-steal",
     "compare --servers 2 --steal half --policy random --policy pod:d=2 --jobs 100 --replications 2 "
     "--threads 1",
     false},
    {"run", "run small.yaml --db fresh.db --threads 1 --output out/o", true},
    {"run-again", "run small.yaml --db small.db --threads 1 --format csv", true},
    {"results", "results small.db", false},
    {"results-text", "results small.db --format text", false, 150}, /* where claims are judged */
    {"results-json", "results small.db --format json --output out/o", false},
    {"results-csv", "results small.db --format csv --output out/o", false},
    {"report", "report small.db -o out/page.html", false},
    {"figure", "figure small.db -o out", false},
    {"fluid", "fluid pod:d=2 --load 0.8 --until 3 --points 3", false},
    {"fluid-simulate",
     "fluid jiq --load 0.8 --until 3 --points 3 --simulate 20 --format json "
     "--output out/o --figure out/f.svg",
     false},
    {"fluid-tabs", "fluid tabs --load 0.3 --until 3 --points 3 --format csv", false},
    {"replay",
     "replay access.csv --servers 2 --policy jsq --policy random --policy tabs:none=refuse --threads 1 "
     "--target p99=5s "
     "--replications 2 --class b=b --fail 1@busiest --cost-per-hour 2 --nginx",
     false},
    {"replay-json",
     "replay access.csv --servers 2 --policy jsq --policy tabs --threads 1 --high b --high-field path "
     "--replications 2 --format json --output out/o",
     false},
    {"replay-page",
     "replay access.csv --servers 2 --policy jsq --policy random --threads 1 --format csv --output out/o "
     "--replications 2 --report out/page.html --figure out/f.svg",
     false},
    {"fit", "fit access.csv --output out/o.yaml", false},
    {"fit-json", "fit access.csv --format json --output out/o.yaml", false},
    {"check", "check small.yaml", false},
    {"check-long", "check long.yaml", false},
    {"policies", "policies --format json", false},
    {"price", "price --servers 5 --jobs 100 --delay 1 --messages 3 --threads 1 --replications 2", false},
    {"share", "share --load 0.8 --d1 2 --d2 2 --gain 2 --loss 3 --theory-only", false},
    {"tune", "tune tabs --servers 3 --jobs 50 --replications 2 --threads 1", false},
    {"frontier", "frontier jiq --servers 1 --time 4000 --width 0.5 --error 0.2 --threads 1", false},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

/* ---- small parts ---- */

static const char *ballast, *shim;

static void die(const char *what) {
    fprintf(stderr, "short_memory: %s: %s\n", what, strerror(errno));
    exit(99);
}

static void write_text(const char *path, const char *text, mode_t mode) {
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0 || chmod(path, mode) != 0)
        die(path);
}

/* All of a file, terminated. */
static char *read_text(const char *path, struct bli_arena *memory) {
    FILE *file = fopen(path, "r");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0)
        die(path);
    char *text = bli_arena_take(memory, (size_t)about.st_size + 1, 1);
    if (!text || fread(text, 1, (size_t)about.st_size, file) != (size_t)about.st_size)
        die(path);
    fclose(file);
    /* The processor time is never the same. */
    for (char *at = text; (at = strstr(at, "\"seconds\": "));) {
        at += strlen("\"seconds\": ");
        const size_t number = strcspn(at, ",\n}");
        memmove(at, at + number, strlen(at + number) + 1);
    }
    return text;
}

/* ---- running ---- */

/* What a run left. */
struct outcome {
    int status; /* as waitpid tells it */
    const char *out, *err;
    size_t files;
    const char *name[FILES], *text[FILES]; /* in out/ */
    struct bli_arena memory;               /* of all that */
};

/* Calls use(path) for every file in out/. */
static void each_file(void (*use)(const char *name, const char *path, void *context), void *context) {
    DIR *directory = opendir("out");
    if (!directory)
        die("out");
    for (const struct dirent *entry; (entry = readdir(directory));) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "out/%s", entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            use(entry->d_name, path, context);
    }
    closedir(directory);
}

static void remove_file(const char *name, const char *path, void *context) {
    (void)name, (void)context;
    unlink(path);
}

static void take_file(const char *name, const char *path, void *context) {
    struct outcome *outcome = context;
    if (outcome->files == FILES)
        die("too many files");
    outcome->name[outcome->files] = bli_arena_text(&outcome->memory, name, strlen(name));
    outcome->text[outcome->files++] = read_text(path, &outcome->memory);
}

/* Splits the words of a command in place. */
static void split(char *words, const char **argv) {
    int count = 0;
    argv[count++] = ballast;
    for (char *word = strtok(words, " "); word && count < ARGUMENTS - 1; word = strtok(NULL, " "))
        argv[count++] = word;
    argv[count] = NULL;
}

/* Only in the child. */
static void become(const struct command *command, const char *variable, unsigned long number) {
    char words[1000], text[24];
    const char *argv[ARGUMENTS];
    snprintf(words, sizeof words, "%s", command->words);
    split(words, argv);
    snprintf(text, sizeof text, "%lu", number);
    if (variable)
        setenv(variable, text, 1);
    setenv("LD_PRELOAD", shim, 1);
    const int out = open("stdout", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int err = open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, 1);
    dup2(err, 2);
    alarm(SECONDS);
    execv(ballast, (char *const *)argv);
    _exit(99);
}

static void run(const struct command *command, const char *variable, unsigned long number,
                struct outcome *outcome) {
    each_file(remove_file, NULL);
    const pid_t child = fork();
    if (child < 0)
        die("fork");
    if (child == 0)
        become(command, variable, number);
    *outcome = (struct outcome){0};
    waitpid(child, &outcome->status, 0);
    outcome->out = read_text("stdout", &outcome->memory);
    outcome->err = read_text("stderr", &outcome->memory);
    each_file(take_file, outcome);
}

static void remove_store(void) {
    static const char *const names[] = {"fresh.db", "fresh.db-wal", "fresh.db-shm", "fresh.db-journal"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
}

/* ---- judging ---- */

static const char *text_of(const struct outcome *outcome, const char *name) {
    for (size_t i = 0; i < outcome->files; i++)
        if (strcmp(outcome->name[i], name) == 0)
            return outcome->text[i];
    return NULL;
}

/* Every file is the same as in the other outcome. */
static bool has_whole_files(const struct outcome *outcome, const struct outcome *whole) {
    for (size_t i = 0; i < outcome->files; i++) {
        const char *same = text_of(whole, outcome->name[i]);
        if (!same || strcmp(same, outcome->text[i]) != 0)
            return false;
    }
    return true;
}

/* CVODE prints a word of its own where it can say no other way that it has no memory, and `check` tells all
 * mistakes; but the last line is ours. */
static bool ends_in_our_line(const char *text) {
    size_t begin = strlen(text);
    if (begin == 0 || text[--begin] != '\n')
        return false;
    while (begin > 0 && text[begin - 1] != '\n')
        begin--;
    return strncmp(text + begin, "ballast: ", strlen("ballast: ")) == 0;
}

/* Which lines of standard output may stand before an error: those of `figure`, each of which names a file
 * that is there. */
static bool begins(const char *text, const char *whole) {
    return strncmp(text, whole, strlen(text)) == 0 && (!*text || text[strlen(text) - 1] == '\n');
}

/* NULL: well; else what is wrong. */
static const char *judge(const struct outcome *outcome, const struct outcome *whole) {
    if (WIFSIGNALED(outcome->status))
        return WTERMSIG(outcome->status) == SIGALRM ? "it hangs" : "it crashed";
    if (!has_whole_files(outcome, whole))
        return "a file that is not whole, or should not be there";
    if (outcome->status == whole->status)
        return outcome->files != whole->files          ? "a file is missing"
               : strcmp(outcome->out, whole->out) != 0 ? "its standard output is not whole"
               : strcmp(outcome->err, whole->err) != 0 ? "it says something else"
                                                       : NULL;
    if (WEXITSTATUS(outcome->status) != 2)
        return "another exit status than 2";
    if (!ends_in_our_line(outcome->err))
        return "not one line that says why";
    if (!strstr(outcome->err, "memory") && !strstr(outcome->err, "Cannot allocate") &&
        !strstr(outcome->err, "no room for more"))
        return "it does not say that memory is short";
    return begins(outcome->out, whole->out) ? NULL : "half an output";
}

static void tell(const struct command *command, const char *variable, unsigned long number,
                 const struct outcome *outcome, const char *wrong) {
    printf("# %s, %s=%lu: %s (status %x)\n", command->name, variable, number, wrong,
           (unsigned)outcome->status);
    for (const char *line = outcome->err; *line;
         line += strcspn(line, "\n") + (line[strcspn(line, "\n")] != 0))
        printf("#   %.*s\n", (int)strcspn(line, "\n"), line);
}

/* ---- trying ---- */

/* Fails the allocation, and judges; then, where there is a store, goes on without a failure. */
static bool try_one(const struct command *command, const char *variable, unsigned long number,
                    const struct outcome *whole, bool shown) {
    struct outcome outcome, after = {0};
    remove_store();
    run(command, variable, number, &outcome);
    const char *wrong = judge(&outcome, whole);
    if (!wrong && command->again) {
        run(command, NULL, 0, &after);
        if (after.status != whole->status || judge(&after, whole))
            wrong = "the store did not survive it";
    }
    if (wrong && shown)
        tell(command, variable, number, &outcome, wrong);
    bli_arena_fini(&outcome.memory);
    bli_arena_fini(&after.memory);
    return !wrong;
}

/* How many allocations a run makes that fails nowhere. */
static unsigned long count(const struct command *command, struct outcome *whole) {
    remove_store();
    run(command, "BALLAST_NOTHING", 0, whole);
    setenv("BALLAST_ALLOCATIONS", "allocations", 1);
    struct outcome again;
    remove_store();
    run(command, NULL, 0, &again);
    unsetenv("BALLAST_ALLOCATIONS");
    if (judge(&again, whole) || !WIFEXITED(whole->status) || WEXITSTATUS(whole->status) > 1) {
        printf("# %s: does not give the same twice, or fails: %s\n", command->name, whole->err);
        return 0;
    }
    bli_arena_fini(&again.memory);
    return strtoul(read_text("allocations", &whole->memory), NULL, 10);
}

static bool try_command(const struct command *command, bool all) {
    struct outcome whole;
    const unsigned long allocations = count(command, &whole);
    static const char *const ways[] = {"BALLAST_FAIL_AT", "BALLAST_FAIL_FROM"};
    unsigned long tried = 0, bad = 0;
    for (int way = 0; way < 2; way++) {
        /* A sample begins at a place that is always the same for this command, and differs from the others'.
         */
        const unsigned long step = all || allocations <= SAMPLE ? 1 : (allocations + SAMPLE - 1) / SAMPLE;
        const unsigned long first = 1 + (strlen(command->words) * 7919 + (unsigned long)way * 31) % step;
        for (unsigned long k = first; k <= allocations; k += step, tried++)
            bad += !try_one(command, ways[way], k, &whole, bad < SHOWN);
        for (unsigned long k = 0; !all && way == 0 && k < command->ending; k++, tried++)
            bad += !try_one(command, ways[way], allocations - k, &whole, bad < SHOWN);
    }
    bli_arena_fini(&whole.memory);
    printf("# %s: %lu allocations, %lu tried, %lu bad\n", command->name, allocations, tried, bad);
    fflush(stdout);
    return allocations > 0 && bad == 0;
}

/* So long that it does not fit into a single block of any reader. */
static void write_long(const char *path) {
    FILE *file = fopen(path, "w");
    if (!file)
        die(path);
    fprintf(file, "title: long\nfleet: {servers: 3}\nworkload: {load: 0.5}\npolicies:\n");
    for (int i = 0; i < 20; i++)
        fprintf(file, "  - {policy: \"pod:d=2\", label: the policy of two choices number %d}\n", i);
    fprintf(file, "figures:\n");
    for (int i = 0; i < 20; i++)
        fprintf(file, "  - {id: f%d, kind: bars, x: policy, y: response.mean, caption: %0100d}\n", i, i);
    fprintf(file, "claims:\n");
    for (int i = 0; i < 20; i++)
        fprintf(file,
                "  - {id: c%d, says: it waits %0100d, of: the policy of two choices number 1, expect: {most: "
                "%d}}\n",
                i, i, i + 1);
    if (fclose(file) != 0)
        die(path);
}

static void make_inputs(void) {
    /* In memory where that is possible: a disk takes its time over every new store. */
    char directory[60];
    snprintf(directory, sizeof directory, "%s/ballast-short-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(directory) || chdir(directory) != 0 || mkdir("out", 0777) != 0 || mkdir("bin", 0777) != 0)
        die(directory);
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
        write_text(inputs[i].name, inputs[i].text, 0666);
    write_long("long.yaml");
    /* Quick, and the same each time. */
    write_text("bin/gnuplot", "#!/bin/sh\necho '<svg><title>Gnuplot</title><g id=\"a\"></g></svg>'\n", 0777);
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/bin:%s", directory, getenv("PATH"));
    setenv("PATH", path, 1);
    setenv("LC_ALL", "C", 1);
    const struct command first = {"first", "run small.yaml --db small.db --threads 1", false};
    struct outcome outcome;
    run(&first, NULL, 0, &outcome);
    if (outcome.status != 0)
        die(outcome.err);
    bli_arena_fini(&outcome.memory);
}

static void remove_inputs(void) {
    char here[PATH_MAX], command[PATH_MAX + 10];
    if (getcwd(here, sizeof here)) {
        snprintf(command, sizeof command, "rm -r %s", here);
        if (chdir("/") == 0 && system(command) != 0) /* NOLINT: the name is our own */
            die(here);
    }
}

static bool is_wanted(const char *name, char **names, int number) {
    for (int i = 0; i < number; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return number == 0;
}

int main(int argc, char **argv) {
    if (argc < 3)
        return 99;
    ballast = realpath(argv[1], NULL);
    shim = realpath(argv[2], NULL);
    const bool all = argc > 3 && strcmp(argv[3], "--all") == 0;
    char **names = argv + 3 + all;
    make_inputs();
    int number = 0, failures = 0;
    for (size_t i = 0; i < COMMANDS; i++)
        if (is_wanted(commands[i].name, names, argc - 3 - all)) {
            const bool good = try_command(&commands[i], all);
            printf("%sok %d - %s\n", good ? "" : "not ", ++number, commands[i].name);
            failures += !good;
        }
    printf("1..%d\n", number);
    remove_inputs();
    return failures ? 1 : 0;
}
