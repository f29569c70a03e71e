/* SPDX-License-Identifier: BSD-2-Clause */
/* To be preloaded: lets one allocation of a program fail, or all from one on, whoever asks for it (the
 * program itself, the C library, SQLite, libyaml, PCRE, CVODE).
 *
 * BALLAST_FAIL_AT=K: the K-th allocation after the start of main; BALLAST_FAIL_FROM=K: that and all later
 * ones. BALLAST_ALLOCATIONS=FILE: write there how many there were. Programs that this one starts are left
 * alone. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_bool counting;
static atomic_ulong asked;
static unsigned long fail_at, fail_from;

/* Is this the one? */
static bool fails(void) {
    if (!counting)
        return false;
    const unsigned long number = ++asked;
    if (number != fail_at && (!fail_from || number < fail_from))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
    return fails() ? NULL : __libc_realloc(old, size);
}

void *memalign(size_t alignment, size_t size) {
    return fails() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    void *made = memalign(alignment, size);
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

/* Under both of its names. */
void *mmap(void *where, size_t length, int protection, int flags, int file, off_t offset) {
    return fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, where, length, protection, flags, file, offset);
}

void *plain_mmap(void *where, size_t length, int protection, int flags, int file,
                 off_t offset) __asm__("mmap");
void *plain_mmap(void *where, size_t length, int protection, int flags, int file, off_t offset) {
    return mmap(where, length, protection, flags, file, offset);
}

static int (*real_main)(int argc, char **argv, char **environment);

static unsigned long number_of(const char *name) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

static int counted_main(int argc, char **argv, char **environment) {
    fail_at = number_of("BALLAST_FAIL_AT");
    fail_from = number_of("BALLAST_FAIL_FROM");
    const char *path = getenv("BALLAST_ALLOCATIONS");
    unsetenv("LD_PRELOAD");
    counting = true;
    const int status = real_main(argc, argv, environment);
    counting = false;
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%lu\n", (unsigned long)asked);
        fclose(file);
    }
    return status;
}

/* The C library's own, which calls main. */
typedef int start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                       void (*fini)(void), void (*end)(void), void *stack);

start_main __libc_start_main;
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*end)(void), void *stack) {
    start_main *start = (start_main *)dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = main;
    return start(counted_main, argc, argv, init, fini, end, stack);
}
