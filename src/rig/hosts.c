/* SPDX-License-Identifier: BSD-2-Clause */
/* Namespaces, their devices and addresses. The kernel is asked directly, so that no other program is needed.
 */
#include "rig/hosts.h"

#include "rig/packet_switch.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

_Static_assert(RIG_HOSTS + 1 <= SWITCH_PORTS, "the clients have a port of the switch too");

#define DEVICE "net0"

enum { MTU = 1500, PREFIX_4 = 24, PREFIX_6 = 64, TRIES = 5000 };

struct rig_hosts {
    unsigned count; /* without that of the clients */
    bool ipv6;
    int before;                     /* the namespace that this process came from */
    int space[RIG_HOSTS + 1];       /* of each host; -1: none */
    int device[RIG_HOSTS + 1];      /* its TUN */
    int control[RIG_HOSTS + 1];     /* a socket inside it, for ioctl() */
    unsigned holder[RIG_HOSTS + 1]; /* the host that has its address now */
    struct rig_switch *network;
};

static void close_if_open(int fd) {
    if (fd >= 0)
        close(fd);
}

/* It cannot fail for descriptors of namespaces that we made. */
static void change_to(int space) {
    if (setns(space, CLONE_NEWNET))
        abort();
}

/* ---- addresses ---- */

static void format_address(unsigned host, bool ipv6, char *text) {
    if (ipv6)
        snprintf(text, RIG_ADDRESS, "fd00:ba11::%x", 1 + host);
    else
        snprintf(text, RIG_ADDRESS, "10.93.0.%u", 1 + host);
}

void bli_hosts_address(const struct rig_hosts *hosts, unsigned host, char text[RIG_ADDRESS]) {
    char bare[RIG_ADDRESS];
    format_address(host, hosts->ipv6, bare);
    snprintf(text, RIG_ADDRESS, hosts->ipv6 ? "[%.44s]" : "%.44s", bare);
}

/* An alias has a name of its own, which is where IPv4 addresses after the first one are. */
static int set_address_4(int control, unsigned address, bool alias, bool on) {
    struct ifreq request = {.ifr_name = DEVICE};
    struct sockaddr_in *in = (struct sockaddr_in *)&request.ifr_addr;
    char text[RIG_ADDRESS];
    if (alias)
        snprintf(request.ifr_name, sizeof request.ifr_name, DEVICE ":%u", address);
    in->sin_family = AF_INET;
    format_address(address, false, text);
    if (on)
        inet_pton(AF_INET, text, &in->sin_addr);
    if (ioctl(control, SIOCSIFADDR, &request))
        return -1;
    in->sin_addr.s_addr = htonl(UINT32_MAX << (32 - PREFIX_4));
    return on ? ioctl(control, SIOCSIFNETMASK, &request) : 0;
}

/* By netlink: of an address that is added by ioctl() the kernel first asks whether someone else has it. */
static int request_address_6(const struct in6_addr *address, bool on) {
    struct {
        struct nlmsghdr head;
        struct ifaddrmsg message;
        struct rtattr attribute;
        struct in6_addr address;
    } request = {.head = {.nlmsg_len = sizeof request,
                          .nlmsg_type = on ? RTM_NEWADDR : RTM_DELADDR,
                          .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | (on ? NLM_F_CREATE : 0)},
                 .message = {.ifa_family = AF_INET6, .ifa_prefixlen = PREFIX_6, .ifa_flags = IFA_F_NODAD},
                 .attribute = {.rta_len = RTA_LENGTH(sizeof(struct in6_addr)), .rta_type = IFA_LOCAL},
                 .address = *address};
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[256];
    } answer = {.error.error = -EIO};
    const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    request.message.ifa_index = if_nametoindex(DEVICE);
    if (send(fd, &request, sizeof request, 0) < 0 || recv(fd, &answer, sizeof answer, 0) < 0)
        answer.error.error = -errno;
    close_if_open(fd);
    errno = -answer.error.error;
    return answer.error.error ? -1 : 0;
}

/* A thread of the kernel brings the address into use: until then what comes for it is dropped. It is in use
 * when a datagram from it reaches itself. */
static int await_address_6(const struct in6_addr *address) {
    struct sockaddr_in6 self = {.sin6_family = AF_INET6, .sin6_addr = *address};
    socklen_t length = sizeof self;
    const int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const struct timespec pause = {.tv_nsec = 1000000};
    char byte = 0;
    bool used = false;
    const bool bound = bind(fd, (const struct sockaddr *)&self, length) == 0 &&
                       getsockname(fd, (struct sockaddr *)&self, &length) == 0;
    for (int i = 0; bound && !used && i < TRIES; i++) {
        sendto(fd, &byte, 1, 0, (const struct sockaddr *)&self, length);
        used = recv(fd, &byte, 1, 0) == 1;
        if (!used)
            nanosleep(&pause, NULL);
    }
    close_if_open(fd);
    return used ? 0 : -1;
}

static int set_address_6(int space, unsigned number, bool on) {
    struct in6_addr address;
    char text[RIG_ADDRESS];
    format_address(number, true, text);
    inet_pton(AF_INET6, text, &address);
    const int before = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    if (before < 0 || setns(space, CLONE_NEWNET))
        return -1;
    int failed = request_address_6(&address, on);
    if (!failed && on)
        failed = await_address_6(&address);
    const int reason = errno;
    change_to(before);
    close(before);
    errno = reason;
    return failed;
}

static int set_address(const struct rig_hosts *hosts, unsigned host, unsigned address, bool on) {
    return hosts->ipv6 ? set_address_6(hosts->space[host], address, on)
                       : set_address_4(hosts->control[host], address, host != address, on);
}

/* ---- one host ---- */

static int raise_device(int control, const char *name) {
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    return ioctl(control, SIOCSIFFLAGS, &request);
}

static int open_device(void) {
    struct ifreq request = {.ifr_name = DEVICE, .ifr_flags = IFF_TUN | IFF_NO_PI};
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && ioctl(fd, TUNSETIFF, &request)) {
        close(fd);
        return -1;
    }
    return fd;
}

/* This process is in it then. */
static enum bal_code make_host(struct rig_hosts *hosts, unsigned host, struct bal_error *err) {
    if (unshare(CLONE_NEWNET) || (hosts->space[host] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) < 0)
        return bal_fail(err, BAL_E_IO, "`hosts`: no network namespace can be made: %s", strerror(errno));
    hosts->device[host] = open_device();
    if (hosts->device[host] < 0)
        return bal_fail(err, BAL_E_IO, "`hosts`: /dev/net/tun gives no device: %s", strerror(errno));
    hosts->control[host] = socket(hosts->ipv6 ? AF_INET6 : AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const int control = hosts->control[host];
    if (control < 0 || raise_device(control, "lo") ||
        (!hosts->ipv6 && set_address(hosts, host, host, true)) || raise_device(control, DEVICE) ||
        (hosts->ipv6 && set_address(hosts, host, host, true)))
        return bal_fail(err, BAL_E_IO, "`hosts`: a host gets no address of %s: %s",
                        hosts->ipv6 ? "IPv6" : "IPv4", strerror(errno));
    return BAL_OK;
}

/* ---- all ---- */

enum bal_code bli_hosts_check(struct bal_error *err) {
    if (geteuid() != 0)
        return bal_fail(err, BAL_E_IO, "`hosts` needs root, to make network namespaces: run it with sudo");
    const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return bal_fail(err, BAL_E_IO, "`hosts` needs /dev/net/tun, which cannot be opened: %s",
                        strerror(errno));
    close(fd);
    return BAL_OK;
}

void bli_hosts_stop(struct rig_hosts *hosts) {
    if (!hosts)
        return;
    bli_switch_stop(hosts->network);
    for (unsigned i = 0; i <= RIG_HOSTS; i++) {
        close_if_open(hosts->space[i]);
        close_if_open(hosts->device[i]);
        close_if_open(hosts->control[i]);
    }
    if (hosts->before >= 0)
        setns(hosts->before, CLONE_NEWNET);
    close_if_open(hosts->before);
    free(hosts);
}

enum bal_code bli_hosts_start(struct rig_hosts **into, unsigned count, bool ipv6, struct bal_error *err) {
    enum bal_code code = bli_hosts_check(err);
    struct rig_hosts *hosts = code ? NULL : calloc(1, sizeof *hosts);
    if (code || !hosts)
        return code ? code : bal_fail(err, BAL_E_MEMORY, "not enough memory for hosts");
    *hosts = (struct rig_hosts){.count = count, .ipv6 = ipv6};
    for (unsigned i = 0; i <= RIG_HOSTS; i++) {
        hosts->space[i] = hosts->device[i] = hosts->control[i] = -1;
        hosts->holder[i] = i;
    }
    hosts->before = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (hosts->before < 0)
        code = bal_fail(err, BAL_E_IO, "`hosts`: /proc/self/ns/net: %s", strerror(errno));
    for (unsigned i = 0; !code && i <= count; i++) /* that of the clients last: we stay there */
        code = make_host(hosts, i, err);
    if (!code)
        code = bli_switch_start(&hosts->network, hosts->device, count + 1, err);
    if (code)
        bli_hosts_stop(hosts);
    else
        *into = hosts;
    return code;
}

int bli_hosts_namespace(const struct rig_hosts *hosts, unsigned host) {
    return hosts->space[host];
}

void bli_hosts_enter(const struct rig_hosts *hosts, unsigned host) {
    change_to(hosts->space[host]);
}

void bli_hosts_leave(const struct rig_hosts *hosts) {
    change_to(hosts->space[hosts->count]);
}

/* ---- what goes wrong ---- */

/* Of all ways to a host and from it, to those on the same host too, which go by loopback and know no fault.
 */
static void add_around(struct rig_hosts *hosts, unsigned host, bool to_it, bool from_it,
                       struct rig_path change) {
    for (unsigned i = 0; i <= hosts->count; i++) {
        if (to_it && i != host)
            bli_switch_add(hosts->network, i, host, change);
        if (from_it && i != host)
            bli_switch_add(hosts->network, host, i, change);
    }
}

void bli_hosts_isolate(struct rig_hosts *hosts, unsigned host, int by) {
    add_around(hosts, host, true, true, (struct rig_path){.cut = by});
}

void bli_hosts_cut(struct rig_hosts *hosts, unsigned a, unsigned b, int by) {
    bli_switch_add(hosts->network, a, b, (struct rig_path){.cut = by});
    bli_switch_add(hosts->network, b, a, (struct rig_path){.cut = by});
}

void bli_hosts_lose(struct rig_hosts *hosts, unsigned host, bool to_it, double share, int by) {
    add_around(hosts, host, to_it, !to_it, (struct rig_path){.loss = by * share});
}

void bli_hosts_delay(struct rig_hosts *hosts, unsigned host, double seconds, int by) {
    add_around(hosts, host, true, true, (struct rig_path){.delay = by * seconds});
}

void bli_hosts_set_mtu(struct rig_hosts *hosts, unsigned host, unsigned bytes) {
    struct ifreq request = {.ifr_name = DEVICE};
    request.ifr_mtu = (int)(bytes ? bytes : MTU);
    ioctl(hosts->control[host], SIOCSIFMTU, &request);
}

/* Is that process in the namespace? */
static bool is_inside(const char *pid, const struct stat *space) {
    char path[300];
    struct stat its;
    snprintf(path, sizeof path, "/proc/%s/ns/net", pid);
    return stat(path, &its) == 0 && its.st_dev == space->st_dev && its.st_ino == space->st_ino;
}

void bli_hosts_signal(struct rig_hosts *hosts, unsigned host, int number) {
    DIR *processes = opendir("/proc");
    struct stat space;
    const struct dirent *entry;
    if (processes && fstat(hosts->space[host], &space) == 0)
        while ((entry = readdir(processes))) {
            const long pid = strtol(entry->d_name, NULL, 10);
            if (pid > 1 && pid != (long)getpid() && is_inside(entry->d_name, &space))
                kill((pid_t)pid, number);
        }
    if (processes)
        closedir(processes);
}

enum bal_code bli_hosts_move(struct rig_hosts *hosts, unsigned address, unsigned host,
                             struct bal_error *err) {
    const unsigned from = hosts->holder[address];
    if (from == host)
        return BAL_OK;
    if (set_address(hosts, from, address, false) || set_address(hosts, host, address, true))
        return bal_fail(err, BAL_E_IO, "the address of host %u cannot be moved to host %u: %s", address, host,
                        strerror(errno));
    hosts->holder[address] = host;
    bli_switch_route(hosts->network, address, host);
    return BAL_OK;
}

void bli_hosts_counts(struct rig_hosts *hosts, uint64_t *carried, uint64_t *dropped) {
    bli_switch_counts(hosts->network, carried, dropped);
}
