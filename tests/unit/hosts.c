/* SPDX-License-Identifier: BSD-2-Clause */
/* Hosts in network namespaces: what passes between them, and what does not. That something is lost is seen by
 * what arrives after it, never by waiting. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig/hosts.h"

enum { A, B, C, HOSTS, PORT = 7000 };

struct post {
    struct rig_hosts *hosts;
    int fd[HOSTS + 1];
    bool ipv6;
};

static socklen_t address_of(const struct post *p, unsigned host, struct sockaddr_storage *address) {
    char text[RIG_ADDRESS];
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)address;
    memset(address, 0, sizeof *address);
    bli_hosts_address(p->hosts, host, text);
    if (!p->ipv6) {
        four->sin_family = AF_INET;
        four->sin_port = htons(PORT);
        assert_int_equal(inet_pton(AF_INET, text, &four->sin_addr), 1);
        return sizeof *four;
    }
    text[strlen(text) - 1] = 0; /* brackets */
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(PORT);
    assert_int_equal(inet_pton(AF_INET6, text + 1, &six->sin6_addr), 1);
    return sizeof *six;
}

/* A socket of each host, for datagrams to all its addresses. */
static void set_up(struct post *p, bool ipv6) {
    struct bal_error err = {0};
    const struct timeval limit = {.tv_sec = 20};
    *p = (struct post){.ipv6 = ipv6};
    if (bli_hosts_start(&p->hosts, HOSTS, ipv6, &err)) {
        print_message("%s\n", err.text);
        skip();
    }
    for (unsigned i = 0; i <= HOSTS; i++) {
        struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)};
        const struct sockaddr_in any4 = {.sin_family = AF_INET, .sin_port = htons(PORT)};
        bli_hosts_enter(p->hosts, i);
        p->fd[i] = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        bli_hosts_leave(p->hosts);
        assert_true(p->fd[i] >= 0);
        setsockopt(p->fd[i], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        assert_int_equal(ipv6 ? bind(p->fd[i], (struct sockaddr *)&any, sizeof any)
                              : bind(p->fd[i], (const struct sockaddr *)&any4, sizeof any4),
                         0);
    }
}

static void tear_down(struct post *p) {
    for (unsigned i = 0; i <= HOSTS; i++)
        close(p->fd[i]);
    bli_hosts_stop(p->hosts);
}

static void post(const struct post *p, unsigned from, unsigned to, const char *text) {
    struct sockaddr_storage address;
    const socklen_t length = address_of(p, to, &address);
    assert_int_equal(sendto(p->fd[from], text, strlen(text), 0, (struct sockaddr *)&address, length),
                     strlen(text));
}

/* The next datagram at a host is this one. */
static void expect(const struct post *p, unsigned at, const char *text) {
    char got[2000] = "";
    const ssize_t length = recv(p->fd[at], got, sizeof got - 1, 0);
    assert_true(length >= 0);
    assert_string_equal(got, text);
}

/* Faults hold for what the switch reads while they last: they may end when it has read what was to be lost.
 */
static void await_dropped(const struct post *p, uint64_t wanted) {
    uint64_t carried, dropped = 0;
    for (int i = 0; i < 20000 && dropped < wanted; i++) {
        bli_hosts_counts(p->hosts, &carried, &dropped);
        usleep(1000);
    }
    assert_int_equal(dropped, wanted);
}

static void all_reach_all(bool ipv6) {
    struct post p;
    set_up(&p, ipv6);
    for (unsigned from = 0; from <= HOSTS; from++)
        for (unsigned to = 0; to <= HOSTS; to++) {
            post(&p, from, to, "hello");
            expect(&p, to, "hello");
        }
    uint64_t carried, dropped;
    bli_hosts_counts(p.hosts, &carried, &dropped);
    assert_true(carried >= (HOSTS + 1) * HOSTS);
    assert_int_equal(dropped, 0);
    tear_down(&p);
}

static void all_reach_all_over_ipv4(void **state) {
    (void)state;
    all_reach_all(false);
}

static void all_reach_all_over_ipv6(void **state) {
    (void)state;
    all_reach_all(true);
}

/* Between A and B alone. */
static void a_cut_is_of_two_hosts(void **state) {
    (void)state;
    struct post p;
    set_up(&p, false);
    bli_hosts_cut(p.hosts, A, B, 1);
    post(&p, A, B, "lost");
    post(&p, C, B, "passes");
    expect(&p, B, "passes");
    post(&p, B, A, "lost");
    await_dropped(&p, 2);
    post(&p, HOSTS, A, "passes");
    expect(&p, A, "passes");
    bli_hosts_cut(p.hosts, A, B, -1);
    post(&p, A, B, "again");
    expect(&p, B, "again");
    tear_down(&p);
}

/* The end of one of two is not the end of the other. */
static void faults_overlap(void **state) {
    (void)state;
    struct post p;
    set_up(&p, false);
    bli_hosts_isolate(p.hosts, A, 1);
    bli_hosts_cut(p.hosts, A, B, 1);
    bli_hosts_isolate(p.hosts, A, -1);
    post(&p, A, B, "lost");
    post(&p, A, C, "passes");
    expect(&p, C, "passes");
    await_dropped(&p, 1);
    bli_hosts_cut(p.hosts, A, B, -1);
    post(&p, A, B, "again");
    expect(&p, B, "again");
    tear_down(&p);
}

static void loss_is_one_way(void **state) {
    (void)state;
    struct post p;
    set_up(&p, false);
    bli_hosts_lose(p.hosts, A, true, 1, 1);
    post(&p, B, A, "lost");
    await_dropped(&p, 1);
    post(&p, A, B, "passes");
    expect(&p, B, "passes");
    bli_hosts_lose(p.hosts, A, true, 1, -1);
    bli_hosts_lose(p.hosts, A, false, 1, 1);
    post(&p, A, B, "lost");
    await_dropped(&p, 2);
    post(&p, B, A, "passes");
    expect(&p, A, "passes");
    bli_hosts_lose(p.hosts, A, false, 1, -1);
    post(&p, A, B, "again");
    expect(&p, B, "again");
    tear_down(&p);
}

/* Of 1000 datagrams some 300 are lost: within six standard deviations, but for one run in 10^8. The seed is
 * fixed, too. */
static void a_share_is_lost(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    struct post p;
    uint64_t carried, dropped;
    set_up(&p, false);
    bli_hosts_lose(p.hosts, A, false, 0.3, 1);
    for (int i = 0; i < COUNT; i++) {
        post(&p, A, B, "perhaps");
        post(&p, B, C, "passes"); /* at the pace of the switch */
        expect(&p, C, "passes");
    }
    bli_hosts_counts(p.hosts, &carried, &dropped);
    assert_in_range(dropped, 300 - 87, 300 + 87);
    tear_down(&p);
}

/* What was sent later without delay is there first. The connection of the clients is not delayed. */
static void a_delay_is_of_one_host(void **state) {
    (void)state;
    struct post p;
    set_up(&p, false);
    bli_hosts_delay(p.hosts, A, 0.3, 1);
    post(&p, A, B, "slow");
    post(&p, C, B, "fast");
    expect(&p, B, "fast");
    expect(&p, B, "slow");
    bli_hosts_delay(p.hosts, A, 0.3, -1);
    tear_down(&p);
}

static void packets_are_smaller(void **state) {
    (void)state;
    struct post p;
    char large[1200];
    const int whole = IP_PMTUDISC_DO, split = IP_PMTUDISC_DONT;
    set_up(&p, false);
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = 0;
    bli_hosts_set_mtu(p.hosts, A, 576);
    setsockopt(p.fd[A], IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
    struct sockaddr_storage address;
    const socklen_t length = address_of(&p, B, &address);
    assert_int_equal(sendto(p.fd[A], large, strlen(large), 0, (struct sockaddr *)&address, length), -1);
    assert_int_equal(errno, EMSGSIZE);
    setsockopt(p.fd[A], IPPROTO_IP, IP_MTU_DISCOVER, &split, sizeof split);
    post(&p, A, B, large); /* in fragments, of which each is a datagram to the switch */
    expect(&p, B, large);
    bli_hosts_lose(p.hosts, B, true, 1, 1);
    post(&p, A, B, large);
    await_dropped(&p, 3);
    bli_hosts_lose(p.hosts, B, true, 1, -1);
    bli_hosts_set_mtu(p.hosts, A, 0);
    setsockopt(p.fd[A], IPPROTO_IP, IP_MTU_DISCOVER, &whole, sizeof whole);
    post(&p, A, B, large);
    expect(&p, B, large);
    tear_down(&p);
}

static void an_address_moves(bool ipv6) {
    struct post p;
    struct bal_error err = {0};
    set_up(&p, ipv6);
    assert_int_equal(bli_hosts_move(p.hosts, A, B, &err), BAL_OK);
    post(&p, C, A, "to B");
    expect(&p, B, "to B");
    post(&p, C, B, "to B itself");
    expect(&p, B, "to B itself");
    assert_int_equal(bli_hosts_move(p.hosts, A, A, &err), BAL_OK);
    post(&p, C, A, "to A");
    expect(&p, A, "to A");
    post(&p, A, C, "from A");
    expect(&p, C, "from A");
    tear_down(&p);
}

static void an_address_of_ipv4_moves(void **state) {
    (void)state;
    an_address_moves(false);
}

static void an_address_of_ipv6_moves(void **state) {
    (void)state;
    an_address_moves(true);
}

/* A process on a host, which does nothing. */
static pid_t start_on(const struct post *p, unsigned host) {
    int ready[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        bli_hosts_enter(p->hosts, host);
        if (write(ready[1], &byte, 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    assert_true(pid > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void a_host_stands_still_and_goes_on(void **state) {
    (void)state;
    struct post p;
    int status;
    set_up(&p, false);
    const pid_t there = start_on(&p, 1), elsewhere = start_on(&p, 0);
    bli_hosts_signal(p.hosts, 1, SIGSTOP);
    assert_int_equal(waitpid(there, &status, WUNTRACED), there);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(waitpid(elsewhere, &status, WUNTRACED | WNOHANG), 0);
    bli_hosts_signal(p.hosts, 1, SIGCONT);
    assert_int_equal(waitpid(there, &status, WCONTINUED), there);
    assert_true(WIFCONTINUED(status));
    kill(there, SIGKILL);
    kill(elsewhere, SIGKILL);
    assert_int_equal(waitpid(there, &status, 0), there);
    assert_int_equal(waitpid(elsewhere, &status, 0), elsewhere);
    tear_down(&p);
}

static ino_t own_namespace(void) {
    struct stat about = {0};
    stat("/proc/self/ns/net", &about);
    return about.st_ino;
}

static unsigned open_files(void) {
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* We are where we were, and all descriptors are closed: the namespaces have no one left who holds them. */
static void nothing_is_left(void **state) {
    (void)state;
    const ino_t before = own_namespace();
    const unsigned files = open_files();
    struct post p;
    set_up(&p, false);
    assert_true(own_namespace() != before);
    tear_down(&p);
    assert_int_equal(own_namespace(), before);
    assert_int_equal(open_files(), files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_reach_all_over_ipv4),
        cmocka_unit_test(all_reach_all_over_ipv6),
        cmocka_unit_test(a_cut_is_of_two_hosts),
        cmocka_unit_test(faults_overlap),
        cmocka_unit_test(loss_is_one_way),
        cmocka_unit_test(a_share_is_lost),
        cmocka_unit_test(a_delay_is_of_one_host),
        cmocka_unit_test(packets_are_smaller),
        cmocka_unit_test(an_address_of_ipv4_moves),
        cmocka_unit_test(an_address_of_ipv6_moves),
        cmocka_unit_test(a_host_stands_still_and_goes_on),
        cmocka_unit_test(nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
