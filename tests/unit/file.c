/* SPDX-License-Identifier: BSD-2-Clause */
/* Files are written whole or not at all, where the name leads, and leave nothing beside them; on file systems
 * that know files without a name and on those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Stands before the system's, and can know no files without a name. */
static bool all_have_names;

int open64(const char *path, int flags, ...) {
    va_list args;
    va_start(args, flags);
    const int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(args, int) : 0;
    va_end(args);
    if (all_have_names && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static char home[PATH_MAX];

static int enter_directory(void **state) {
    static char directory[] = "/tmp/ballast-file-XXXXXX";
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    *state = directory;
    return getcwd(home, sizeof home) && mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **state) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", (char *)*state);
    return chdir(home) == 0 ? system(command) : -1; /* NOLINT: the name is our own */
}

/* How many names there are here. */
static int names(void) {
    DIR *here = opendir(".");
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(here));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(here);
    return count;
}

static void put(const char *path, const char *text) {
    struct bal_error err = {0};
    if (bli_file_write(path, text, strlen(text), &err))
        fail_msg("%s", err.text);
}

static void assert_holds(const char *path, const char *text) {
    char read_back[100] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fread(read_back, 1, sizeof read_back - 1, file);
    fclose(file);
    assert_string_equal(read_back, text);
}

static mode_t mode_of(const char *path) {
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    return about.st_mode & 07777;
}

static bool is_link(const char *path) {
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

static void files_are_made_and_replaced(void **state) {
    (void)state;
    const mode_t mask = umask(027);
    put("new", "one");
    assert_holds("new", "one");
    assert_int_equal(mode_of("new"), 0640);
    put("new", "two");
    assert_holds("new", "two");
    put("./new", "");
    assert_holds("new", "");
    umask(mask);
    assert_int_equal(names(), 1);
}

static void permissions_stay(void **state) {
    (void)state;
    static const mode_t modes[] = {0600, 0644, 0664, 0777, 0640};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        put("file", "old");
        assert_int_equal(chmod("file", modes[i]), 0);
        put("file", "new");
        assert_holds("file", "new");
        assert_int_equal(mode_of("file"), modes[i]);
    }
    assert_int_equal(names(), 1);
}

static void the_owner_stays(void **state) {
    (void)state;
    put("file", "old");
    if (chown("file", 4321, 1234) != 0) {
        print_message("only root can give files away\n");
        skip();
    }
    chmod("file", 0640);
    put("file", "new");
    struct stat about;
    assert_int_equal(stat("file", &about), 0);
    assert_int_equal(about.st_uid, 4321);
    assert_int_equal(about.st_gid, 1234);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void links_stay_and_lead_to_what_is_written(void **state) {
    (void)state;
    assert_int_equal(mkdir("away", 0777), 0);
    put("away/target", "old");
    assert_int_equal(symlink("target", "away/second"), 0);
    assert_int_equal(symlink("away/second", "first"), 0);
    put("first", "new");
    assert_true(is_link("first") && is_link("away/second") && !is_link("away/target"));
    assert_holds("away/target", "new");
    assert_int_equal(symlink("away/not-yet", "early"), 0);
    put("early", "made");
    assert_true(is_link("early"));
    assert_holds("away/not-yet", "made");
    assert_int_equal(names(), 3);
}

static void links_in_a_circle_are_told(void **state) {
    (void)state;
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    struct bal_error err = {0};
    assert_int_equal(bli_file_write("a", "x", 1, &err), BAL_E_IO);
    assert_string_equal(err.text, "'a' cannot be written: Too many levels of symbolic links; choose another "
                                  "place");
    assert_int_equal(bli_file_check("a", NULL), BAL_E_IO);
    assert_int_equal(names(), 2);
}

/* As the shell's `{ echo before; ballast ... --output /dev/stdout; } >file`: what is there stays. */
static void open_files_are_written_on(void **state) {
    (void)state;
    FILE *file = fopen("open", "w");
    fputs("before ", file);
    fflush(file);
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(file));
    assert_int_equal(symlink(path, "stream"), 0); /* as /dev/stdout is */
    struct bal_error err = {0};
    assert_int_equal(bli_file_check("stream", &err), BAL_OK);
    put("stream", "after");
    fclose(file);
    assert_true(is_link("stream"));
    assert_holds("open", "before after");
    assert_int_equal(names(), 2);
}

static void what_cannot_be_written_is_told_before(void **state) {
    (void)state;
    static const char *const bad[] = {"no/where", "", "no/", "/", ".", "/proc/none"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(bli_file_check(bad[i], NULL), BAL_E_IO);
        assert_int_equal(bli_file_write(bad[i], "x", 1, NULL), BAL_E_IO);
    }
    put("protected", "mine");
    chmod("protected", 0444);
    if (geteuid() != 0) {
        assert_int_equal(bli_file_check("protected", NULL), BAL_E_IO);
        assert_int_equal(bli_file_write("protected", "x", 1, NULL), BAL_E_IO);
        assert_holds("protected", "mine");
    }
    assert_int_equal(bli_file_check("could", NULL), BAL_OK);
    assert_int_equal(bli_file_check("/dev/null", NULL), BAL_OK);
    assert_int_equal(names(), 1);
}

/* No room: the old file stays as it was, and nothing is beside it. */
static void half_a_file_never_gets_the_name(void **state) {
    (void)state;
    put("file", "old");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 1000;
    static char much[5000];
    memset(much, 'x', sizeof much);
    struct bal_error err = {0};
    setrlimit(RLIMIT_FSIZE, &limit);
    const enum bal_code replaced = bli_file_write("file", much, sizeof much, &err);
    const enum bal_code made = bli_file_write("other", much, sizeof much, NULL);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(replaced, BAL_E_IO);
    assert_int_equal(made, BAL_E_IO);
    assert_string_equal(err.text, "'file' cannot be written: File too large; choose another place");
    assert_holds("file", "old");
    assert_int_equal(names(), 1);
}

/* The longest name that a file can have leaves no room for a suffix. */
static void long_names_are_no_shorter_for_it(void **state) {
    (void)state;
    char name[NAME_MAX + 1];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = '\0';
    put(name, "old");
    put(name, "new");
    assert_holds(name, "new");
    assert_int_equal(names(), 1);
}

static int with_names_only(void **state) {
    all_have_names = true;
    return enter_directory(state);
}

static int as_it_is(void **state) {
    all_have_names = false;
    return enter_directory(state);
}

#define BOTH(test)                                                                                           \
    {#test, test, as_it_is, leave_directory, NULL}, {                                                        \
#test " (all files have names)", test, with_names_only, leave_directory, NULL                        \
    }

int main(void) {
    const struct CMUnitTest tests[] = {
        BOTH(files_are_made_and_replaced),
        BOTH(permissions_stay),
        BOTH(the_owner_stays),
        BOTH(links_stay_and_lead_to_what_is_written),
        BOTH(links_in_a_circle_are_told),
        BOTH(open_files_are_written_on),
        BOTH(what_cannot_be_written_is_told_before),
        BOTH(half_a_file_never_gets_the_name),
        BOTH(long_names_are_no_shorter_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
