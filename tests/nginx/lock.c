/* SPDX-License-Identifier: BSD-2-Clause */
/* The lock of a zone outlives its owner, whether or not somebody has asked how that one ended, and whatever
 * else is true of it waits for an owner that lives, but not for ever for one that is stopped. Nobody but the
 * processes that share it takes part: there is no master, as there is none for a zone that a reload has
 * dropped. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../nginx/lock.h"
#include "../../nginx/process.h"

/* ---- what nginx would have ---- */

ngx_pid_t ngx_pid;
ngx_int_t ngx_ncpu = 2, ngx_process_slot;
ngx_uint_t ngx_event_flags;
ngx_event_actions_t ngx_event_actions;
static ngx_log_t log_of_nobody;
static ngx_cycle_t cycle = {.log = &log_of_nobody};
volatile ngx_cycle_t *ngx_cycle = &cycle;

void ngx_log_error_core(ngx_uint_t level, ngx_log_t *log, ngx_err_t err, const char *text, ...) {
    (void)level;
    (void)log;
    (void)err;
    (void)text;
}

u_char *ngx_vslprintf(u_char *buf, u_char *last, const char *fmt, va_list args) {
    (void)last;
    (void)fmt;
    (void)args;
    return buf;
}

ngx_connection_t *ngx_get_connection(ngx_socket_t s, ngx_log_t *log) {
    (void)s;
    (void)log;
    return NULL;
}

void ngx_close_connection(ngx_connection_t *c) {
    (void)c;
}

/* ---- processes ---- */

static bli_ngx_lock *lock, stalled;

/* However long it takes: what is stopped for a moment, as on a busy machine, is waited for again. */
static void take(void) {
    while (!bli_ngx_lock_acquire(lock, &stalled))
        stalled = 0;
}

static void become(void) {
    ngx_pid = getpid();
    bli_ngx_lock_init();
}

/* Another process that has the lock, and keeps it for so many milliseconds, or until it is killed. */
static pid_t start_owner(long ms) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        become();
        take();
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        const struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
        nanosleep(&rest, NULL);
        bli_ngx_lock_release(lock);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* A minute, on any machine: whoever waits for ever is killed, and the test with it. */
static int set_up(void **state) {
    (void)state;
    lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    become();
    stalled = 0;
    alarm(60);
    return lock == MAP_FAILED;
}

static int tear_down(void **state) {
    (void)state;
    return munmap(lock, sizeof *lock);
}

static void a_dead_owner_of_whom_nobody_has_asked_is_dead(void **state) {
    (void)state;
    const pid_t owner = start_owner(3600000);
    kill(owner, SIGKILL);
    take(); /* it is a zombie */
    assert_true(*lock == bli_ngx_self);
    bli_ngx_lock_release(lock);
    waitpid(owner, NULL, 0);
}

static void a_dead_owner_is_dead(void **state) {
    (void)state;
    const pid_t owner = start_owner(3600000);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    take();
    assert_true(*lock == bli_ngx_self);
    bli_ngx_lock_release(lock);
}

/* Its number belongs to somebody else now: to this process, which was started at another time. */
static void a_number_that_is_used_again_is_another_process(void **state) {
    (void)state;
    *lock = bli_ngx_self ^ 1;
    take();
    assert_true(*lock == bli_ngx_self);
    bli_ngx_lock_release(lock);
}

static void one_that_lives_is_waited_for(void **state) {
    (void)state;
    const pid_t owner = start_owner(100);
    int status;
    take();
    assert_true(*lock == bli_ngx_self);
    bli_ngx_lock_release(lock);
    assert_int_equal(waitpid(owner, &status, 0), owner);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* It is waited for once, and then found to be held until it goes on. */
static void one_that_is_stopped_is_not_waited_for_again(void **state) {
    (void)state;
    int status;
    const pid_t stopped = start_owner(3600000);
    kill(stopped, SIGSTOP);
    assert_int_equal(waitpid(stopped, &status, WUNTRACED), stopped);
    assert_true(WIFSTOPPED(status));
    const bli_ngx_lock holder = *lock;
    assert_false(bli_ngx_lock_acquire(lock, &stalled));
    assert_true(stalled == holder && holder >> 32 == (uint64_t)stopped);
    for (int i = 0; i < 100000; i++) /* a hundredth of which would take longer than the test may */
        assert_false(bli_ngx_lock_acquire(lock, &stalled));
    assert_false(bli_ngx_lock_try_acquire(lock, &stalled));
    assert_true(*lock == holder);
    kill(stopped, SIGKILL);
    while (!bli_ngx_lock_try_acquire(lock, &stalled))
        ;
    assert_true(*lock == bli_ngx_self && stalled == 0);
    bli_ngx_lock_release(lock);
    waitpid(stopped, NULL, 0);
}

/* Another one than that which is stalled is waited for. */
static void only_the_one_that_is_stopped_is_passed_over(void **state) {
    (void)state;
    stalled = bli_ngx_self ^ 1;
    const pid_t owner = start_owner(20);
    take();
    assert_true(*lock == bli_ngx_self);
    bli_ngx_lock_release(lock);
    waitpid(owner, NULL, 0);
}

/* Each of three adds to a number that is not atomic. */
static void nobody_has_it_beside_another(void **state) {
    (void)state;
    enum { OTHERS = 3, TIMES = 20000 };
    volatile uint64_t *sum =
        mmap(NULL, sizeof *sum, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(sum != MAP_FAILED);
    for (int i = 0; i < OTHERS; i++) {
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid)
            continue;
        become();
        for (int k = 0; k < TIMES; k++) {
            take();
            *sum = *sum + 1;
            bli_ngx_lock_release(lock);
        }
        _exit(0);
    }
    while (wait(NULL) > 0)
        ;
    assert_true(*sum == (uint64_t)OTHERS * TIMES);
    munmap((void *)(uintptr_t)sum, sizeof *sum);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_dead_owner_of_whom_nobody_has_asked_is_dead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_dead_owner_is_dead, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_number_that_is_used_again_is_another_process, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_lives_is_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_is_stopped_is_not_waited_for_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_the_one_that_is_stopped_is_passed_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_has_it_beside_another, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
