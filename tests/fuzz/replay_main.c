/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs a fuzz target without a fuzzer: once on every file of its corpus and then, for so many seconds, on
 * mutants of them, always the same ones in the same order, so that the tests catch a parser's regression
 * wherever they run. `make fuzz` builds the same target with libFuzzer instead of this file.
 *
 * usage: TARGET SECONDS DIRECTORY...
 *
 * When the target crashes or asserts, the input that did it is shown before the program dies. */
#include <dirent.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
    uint8_t *data;
    size_t size;
    char name[PATH_MAX];
};

struct corpus {
    struct input *inputs;
    size_t count;
};

/* What the target is looking at, for the handler of fatal signals. */
static struct input current;

static void die(const char *what, const char *subject) {
    fprintf(stderr, "replay: %s: %s\n", subject, what);
    exit(2);
}

static void *need(void *memory) {
    if (!memory)
        die("not enough memory", "corpus");
    return memory;
}

static void show(const char *text, size_t length) {
    while (length > 0) {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

/* Only write() may be called here. The input is shown in a form that printf(1) turns back into bytes. */
static void show_current(int signal_number) {
    show("\nreplay: fatal on ", 18);
    show(current.name, strlen(current.name));
    show("; to make the input: printf '", 29);
    for (size_t i = 0; i < current.size; i++) {
        const uint8_t byte = current.data[i];
        const char octal[4] = {'\\', (char)('0' + (byte >> 6)), (char)('0' + (byte >> 3 & 7)),
                               (char)('0' + (byte & 7))};
        const int plain = byte >= ' ' && byte < 0x7f && !strchr("\\'%", byte);
        show(plain ? (const char *)&current.data[i] : octal, plain ? 1 : sizeof octal);
    }
    show("'\n", 2);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* The target gets a block of exactly the right size, so that the address sanitizer sees a read beyond its
 * end. */
static void run(const uint8_t *data, size_t size) {
    current.size = size;
    current.data = need(malloc(size + !size));
    memcpy(current.data, data, size);
    LLVMFuzzerTestOneInput(current.data, size);
    free(current.data);
    current.data = NULL;
    current.size = 0;
}

static void load(struct corpus *corpus, const char *directory, const char *name) {
    corpus->inputs = need(realloc(corpus->inputs, (corpus->count + 1) * sizeof *corpus->inputs));
    struct input *input = &corpus->inputs[corpus->count++];
    *input = (struct input){0};
    if (snprintf(input->name, sizeof input->name, "%s/%s", directory, name) >= (int)sizeof input->name)
        die("the path is too long", name);
    FILE *file = fopen(input->name, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die("cannot be read", input->name);
    const long size = ftell(file);
    if (size < 0)
        die("cannot be read", input->name);
    rewind(file);
    input->size = (size_t)size;
    input->data = need(malloc(input->size + 1));
    if (fread(input->data, 1, input->size, file) != input->size)
        die("cannot be read", input->name);
    fclose(file);
}

static int is_visible(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

/* In the order of the names, so that mutants are the same on every machine. */
static void load_directory(struct corpus *corpus, const char *directory) {
    struct dirent **entries;
    const int count = scandir(directory, &entries, is_visible, alphasort);
    if (count < 0)
        die("not a directory that can be read", directory);
    for (int i = 0; i < count; i++) {
        load(corpus, directory, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

/* xorshift64* (Vigna 2016); the library's own generator is not used, because it may be what is being tested.
 */
static size_t below(uint64_t *state, size_t n) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (size_t)((*state * 0x2545f4914f6cdd1du >> 32) % n);
}

enum { MUTANT_MAX = 1 << 16 };

struct mutant {
    uint8_t data[MUTANT_MAX];
    size_t size;
};

static void insert(struct mutant *m, size_t at, const uint8_t *bytes, size_t n) {
    if (n > MUTANT_MAX - m->size)
        n = MUTANT_MAX - m->size;
    memmove(m->data + at + n, m->data + at, m->size - at);
    memcpy(m->data + at, bytes, n);
    m->size += n;
}

static void erase(struct mutant *m, size_t at, size_t n) {
    if (n > m->size - at)
        n = m->size - at;
    memmove(m->data + at, m->data + at + n, m->size - at - n);
    m->size -= n;
}

/* One small damage: a changed byte, a lost piece, an awkward token, or a piece of another input. */
static void mutate(struct mutant *m, const struct corpus *corpus, uint64_t *state) {
    static const char *const tokens[] = {"0",  "-1", "1e999", "nan", "inf",  "1e-320", "18446744073709551616",
                                         ",",  "(",  ")",     ":",   "=",    ";",      "/",
                                         "\n", "\t", "  ",    "\"",  "\xff", "x",      "0x1p-1074"};
    const size_t at = below(state, m->size + 1);
    switch (below(state, 5)) {
    case 0:
        if (at < m->size)
            m->data[at] ^= (uint8_t)(1u << below(state, 8));
        break;
    case 1:
        if (at < m->size)
            m->data[at] = (uint8_t)below(state, 256);
        break;
    case 2:
        erase(m, at, 1 + below(state, 8));
        break;
    case 3: {
        const char *token = tokens[below(state, sizeof tokens / sizeof *tokens)];
        insert(m, at, (const uint8_t *)token, strlen(token));
        break;
    }
    default: {
        const struct input *other = &corpus->inputs[below(state, corpus->count)];
        const size_t from = below(state, other->size + 1);
        insert(m, at, other->data + from, below(state, other->size - from + 1));
    }
    }
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static unsigned long run_mutants(const struct corpus *corpus, double seconds) {
    static struct mutant m;
    uint64_t state = 0x9e3779b97f4a7c15u;
    const double end = seconds_now() + seconds;
    unsigned long i = 0;
    for (; seconds_now() < end; i++) {
        const struct input *parent = &corpus->inputs[below(&state, corpus->count)];
        m.size = parent->size < MUTANT_MAX ? parent->size : MUTANT_MAX;
        memcpy(m.data, parent->data, m.size);
        for (size_t damage = 1 + below(&state, 4); damage > 0; damage--)
            mutate(&m, corpus, &state);
        snprintf(current.name, sizeof current.name, "mutant %lu", i);
        run(m.data, m.size);
    }
    return i;
}

int main(int argc, char **argv) {
    if (argc < 3)
        die("SECONDS DIRECTORY...", "usage");
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], show_current);

    struct corpus corpus = {0};
    for (int i = 2; i < argc; i++)
        load_directory(&corpus, argv[i]);
    if (corpus.count == 0)
        die("the corpus is empty", argv[2]);

    for (size_t i = 0; i < corpus.count; i++) {
        memcpy(current.name, corpus.inputs[i].name, sizeof current.name);
        run(corpus.inputs[i].data, corpus.inputs[i].size);
    }
    const unsigned long mutants = run_mutants(&corpus, strtod(argv[1], NULL));
    printf("%zu inputs and %lu mutants\n", corpus.count, mutants);

    for (size_t i = 0; i < corpus.count; i++)
        free(corpus.inputs[i].data);
    free(corpus.inputs);
    return 0;
}
