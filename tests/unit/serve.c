/* SPDX-License-Identifier: BSD-2-Clause */
/* Test servers as a module: several in one process, each ends alone and leaves nothing behind, and what fails
 * is an error for the caller. What they answer is tried by tests/nginx. */
#include <dirent.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "../sanitized.h"
#include "serve/serve.h"

/* A call of serve_run in a thread. It ends with a process of its own. */
struct running {
    struct serve_options options;
    pthread_t thread;
    FILE *written, *read;
    uint16_t control, port[2];
    enum bal_code code;
    struct bal_error err;
};

static struct serve_options options_of(const char *servers, const char *law) {
    struct serve_options options = {.slots = 1, .seed = 1};
    assert_int_equal(bli_servers_parse(servers, &options.servers, NULL), BAL_OK);
    assert_int_equal(bli_dist_parse(law, &options.service, NULL), BAL_OK);
    return options;
}

static pid_t start_idle_process(void) {
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int fd = 3; fd < 1024; fd++)
        close(fd); /* a pipe would not end */
    for (;;)
        pause();
}

static void end_process(pid_t pid) {
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void *run(void *context) {
    struct running *r = context;
    r->code = serve_run(&r->options, r->written, &r->err);
    fclose(r->written);
    return NULL;
}

static void start(struct running *r, const struct serve_options *options) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    *r = (struct running){.options = *options, .read = fdopen(ends[0], "r"), .written = fdopen(ends[1], "w")};
    r->options.with = start_idle_process();
    assert_int_equal(pthread_create(&r->thread, NULL, run, r), 0);
    char line[64];
    assert_non_null(fgets(line, sizeof line, r->read));
    assert_int_equal(sscanf(line, "%hu %hu %hu", &r->control, &r->port[0], &r->port[1]), 3);
}

/* What it printed at its end is in `text`. */
static void join(struct running *r, char *text, size_t size) {
    pthread_join(r->thread, NULL);
    text[fread(text, 1, size - 1, r->read)] = 0;
    fclose(r->read);
}

static int send_request(uint16_t port, const char *path) {
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    assert_true(dprintf(fd, "GET %s HTTP/1.1\r\nConnection: close\r\n\r\n", path) > 0);
    return fd;
}

static void fetch(uint16_t port, const char *path, char *text, size_t size) {
    const int fd = send_request(port, path);
    size_t length = 0;
    for (ssize_t got; (got = recv(fd, text + length, size - 1 - length, 0)) > 0;)
        length += (size_t)got;
    text[length] = 0;
    close(fd);
}

static void assert_begins(const char *text, const char *with) {
    assert_true(strlen(text) >= strlen(with));
    assert_memory_equal(text, with, strlen(with));
}

static void assert_answers(const struct running *r, unsigned server) {
    char text[4096], head[64];
    fetch(r->port[server], "/", text, sizeof text);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nX-Server: %u\r\n", server);
    assert_begins(text, head);
}

static unsigned open_descriptors(void) {
    DIR *all = opendir("/proc/self/fd");
    unsigned count = 0;
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

static void each_has_its_own_state(void **state) {
    (void)state;
    const unsigned descriptors = open_descriptors();
    const struct serve_options options = options_of("2", "det(0.000001)");
    struct running first, second;
    char text[8192];
    start(&first, &options);
    start(&second, &options);
    assert_answers(&first, 0);
    assert_answers(&first, 1);
    assert_answers(&second, 1);
    fetch(first.control, "/set?server=0&mode=fail&status=503", text, sizeof text);
    fetch(first.port[0], "/", text, sizeof text);
    assert_non_null(strstr(text, "503 Failed"));
    end_process(first.options.with);
    join(&first, text, sizeof text);
    assert_int_equal(first.code, BAL_OK);
    assert_begins(text, "{\"requests\": 3, \"answered\": 3,");
    assert_answers(&second, 0);
    end_process(second.options.with);
    join(&second, text, sizeof text);
    assert_int_equal(second.code, BAL_OK);
    assert_begins(text, "{\"requests\": 2, \"answered\": 2,");
    assert_int_equal(open_descriptors(), descriptors);
}

/* An hour of work is given up, one that waits behind it is, and their connections are closed. */
static void ends_at_work(void **state) {
    const bool burn = *state != NULL;
    const unsigned descriptors = open_descriptors();
    struct serve_options options = options_of("2", "det(3600)");
    options.burn = burn;
    struct running running;
    char text[8192];
    start(&running, &options);
    const int served = send_request(running.port[0], "/"), waits = send_request(running.port[0], "/");
    do
        fetch(running.control, "/stats", text, sizeof text);
    while (!strstr(text, "\"present\": 2, \"most_present\": 2, \"doubled\""));
    end_process(running.options.with);
    join(&running, text, sizeof text);
    assert_int_equal(running.code, BAL_OK);
    assert_begins(text, "{\"requests\": 2, \"answered\": 0, \"aborted\": 0, \"present\": 2,");
    assert_true(recv(served, text, sizeof text, 0) <= 0);
    assert_true(recv(waits, text, sizeof text, 0) <= 0);
    close(served);
    close(waits);
    assert_int_equal(open_descriptors(), descriptors);
}

/* What their clients have given up takes no thread from others: there are as many as slots, and many more
 * clients that go. */
static void gives_up_work_of_clients_that_left(void **state) {
    (void)state;
    struct serve_options options = options_of("2", "det(3600)");
    options.burn = true;
    struct running running;
    char text[8192], aborted[64];
    start(&running, &options);
    for (unsigned left = 1; left <= 10; left++) {
        const int fd = send_request(running.port[left % 2], "/");
        do
            fetch(running.control, "/stats", text, sizeof text);
        while (!strstr(text, "\"present\": 1, \"most_present\""));
        close(fd);
        snprintf(aborted, sizeof aborted, "\"aborted\": %u, \"present\": 0", left);
        do
            fetch(running.control, "/stats", text, sizeof text);
        while (!strstr(text, aborted));
    }
    fetch(running.port[0], "/?service=1", text, sizeof text);
    assert_begins(text, "HTTP/1.1 200 OK\r\n");
    end_process(running.options.with);
    join(&running, text, sizeof text);
    assert_int_equal(running.code, BAL_OK);
    assert_begins(text, "{\"requests\": 11, \"answered\": 1, \"aborted\": 10, \"present\": 0,");
}

/* The signal that ended one does not end the next. */
static void signals_end_one(void **state) {
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT};
    const struct serve_options options = options_of("2", "det(0.000001)");
    struct running running;
    char text[8192];
    for (unsigned i = 0; i < 2; i++) {
        start(&running, &options);
        assert_answers(&running, 0);
        kill(getpid(), signals[i]);
        join(&running, text, sizeof text);
        end_process(running.options.with);
        assert_int_equal(running.code, BAL_OK);
        assert_begins(text, "{\"requests\": 1, \"answered\": 1,");
    }
}

static void assert_fails(const struct serve_options *options, enum bal_code code, const char *why) {
    const unsigned descriptors = open_descriptors();
    struct bal_error err;
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    assert_int_equal(serve_run(options, out, &err), code);
    assert_string_equal(err.text, why);
    fclose(out);
    assert_int_equal(length, 0);
    free(text);
    assert_int_equal(open_descriptors(), descriptors);
}

static void failures_are_returned(void **state) {
    (void)state;
    const struct serve_options usual = options_of("2", "det(0.000001)");
    struct running running;
    char text[8192];
    start(&running, &usual);
    struct serve_options options = usual;
    options.port = running.port[1];
    assert_fails(&options, BAL_E_IO, "bind: Address already in use");
    options = usual;
    options.control = running.port[1];
    assert_fails(&options, BAL_E_IO, "bind: Address already in use");
    options = usual;
    options.address = "localhost";
    assert_fails(&options, BAL_E_SYNTAX, "'localhost' is no address in numbers");
    options = usual;
    options.with = 4194304; /* more than there can be */
    assert_fails(&options, BAL_E_IO, "the process to end with: No such process");
    assert_answers(&running, 0); /* the other goes on */
    end_process(running.options.with);
    join(&running, text, sizeof text);
    assert_int_equal(running.code, BAL_OK);
}

/* An answer for which there is no memory ends the loop; no statistics are printed. */
static void short_memory_is_returned(void **state) {
    (void)state;
    if (SANITIZED) /* they end a process that asks for so much */
        return;
    const struct serve_options options = options_of("2", "det(0.000001)");
    struct running running;
    char text[8192];
    start(&running, &options);
    fetch(running.port[0], "/big?bytes=1e18", text, sizeof text);
    assert_string_equal(text, "");
    join(&running, text, sizeof text);
    end_process(running.options.with);
    assert_int_equal(running.code, BAL_E_MEMORY);
    assert_string_equal(running.err.text, "memory: Cannot allocate memory");
    assert_string_equal(text, "");
}

int main(void) {
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own_state),
        {"ends_asleep", ends_at_work, NULL, NULL, NULL},
        {"ends_at_work", ends_at_work, NULL, NULL, &end},
        cmocka_unit_test(gives_up_work_of_clients_that_left),
        cmocka_unit_test(signals_end_one),
        cmocka_unit_test(failures_are_returned),
        cmocka_unit_test(short_memory_is_returned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
