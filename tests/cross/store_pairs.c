/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes that open the same new store at the same moment: one gets it, the other is told so, and the
 * file is there afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ballast/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS = 500 };

static char directory[40], path_in[100];

/* A directory with no store in it yet; in memory where that is possible, since a disk takes its time. */
static const char *make_place(void) {
    snprintf(directory, sizeof directory, "%s/ballast-pairs-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    assert_non_null(mkdtemp(directory));
    snprintf(path_in, sizeof path_in, "%s/new.db", directory);
    return path_in;
}

/* Stands before the system's: the store calls it between opening its file and holding it. */
static void (*before_lock)(void);

int flock(int file, int operation);
int flock(int file, int operation) {
    void (*now)(void) = before_lock;
    before_lock = NULL;
    if (now)
        now();
    return (int)syscall(SYS_flock, file, operation);
}

static struct bli_store *other;

static void another_is_faster(void) {
    assert_int_equal(bli_store_open(path_in, BLI_STORE_WRITE, &other, NULL), BAL_OK);
}

static void another_removes_it(void) {
    unlink(path_in);
}

static void who_loses_the_lock_leaves_the_file(void **state) {
    (void)state;
    const char *path = make_place();
    before_lock = another_is_faster;
    struct bli_store *store = NULL;
    struct bal_error err = {0};
    assert_int_equal(bli_store_open(path, BLI_STORE_WRITE, &store, &err), BAL_E_IO);
    assert_non_null(strstr(err.text, "another run is writing to it"));
    assert_int_equal(access(path, F_OK), 0);
    bli_store_close(other);
    assert_int_equal(unlink(path), 0);
    rmdir(directory);
}

static void a_file_that_was_removed_meanwhile_is_made_again(void **state) {
    (void)state;
    const char *path = make_place();
    before_lock = another_removes_it;
    struct bli_store *store = NULL;
    struct bal_error err = {0};
    if (bli_store_open(path, BLI_STORE_WRITE, &store, &err))
        fail_msg("%s", err.text);
    bli_store_close(store);
    assert_int_equal(unlink(path), 0);
    rmdir(directory);
}

/* What both processes see. */
struct meeting {
    pthread_barrier_t barrier;
    bool got[2];
    struct bal_error error[2];
};

static struct meeting *new_meeting(void) {
    struct meeting *meeting =
        mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(meeting, MAP_FAILED);
    pthread_barrierattr_t attributes;
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&meeting->barrier, &attributes, 2);
    return meeting;
}

/* Opens the store when the other does, and waits until the other has tried too. */
static struct bli_store *try_it(struct meeting *meeting, int me, const char *path) {
    struct bli_store *store = NULL;
    meeting->error[me] = (struct bal_error){0};
    pthread_barrier_wait(&meeting->barrier);
    meeting->got[me] = bli_store_open(path, BLI_STORE_WRITE, &store, &meeting->error[me]) == BAL_OK;
    pthread_barrier_wait(&meeting->barrier);
    return store;
}

static void the_loser_of_a_pair_leaves_the_file_of_the_winner(void **state) {
    (void)state;
    const char *path = make_place();
    struct meeting *meeting = new_meeting();
    const pid_t child = fork();
    int winners = 0, files = 0, told = 0;
    for (int i = 0; i < PAIRS; i++) {
        struct bli_store *store = try_it(meeting, child == 0, path);
        struct stat about;
        files += stat(path, &about) == 0 && about.st_size > 0;
        winners += meeting->got[0] + meeting->got[1];
        told += strstr(meeting->error[meeting->got[0]].text, "another run is writing to it") != NULL;
        pthread_barrier_wait(&meeting->barrier);
        bli_store_close(store);
        pthread_barrier_wait(&meeting->barrier);
        if (child)
            unlink(path);
    }
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    rmdir(directory);
    munmap(meeting, sizeof *meeting);
    assert_int_equal(winners, PAIRS);
    assert_int_equal(files, PAIRS);
    assert_int_equal(told, PAIRS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_loses_the_lock_leaves_the_file),
        cmocka_unit_test(a_file_that_was_removed_meanwhile_is_made_again),
        cmocka_unit_test(the_loser_of_a_pair_leaves_the_file_of_the_winner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
