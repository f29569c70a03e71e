/* SPDX-License-Identifier: BSD-2-Clause */
/* A network that loses one datagram in ten, for LD_PRELOAD. With BALLAST_LOSS=FILE it does so only while the
 * first byte of the file is '1'. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const volatile char *loses; /* NULL: always */

/* Before the program begins: nginx takes the environment from its workers. */
__attribute__((constructor)) static void map_loss_file(void) {
    const char *path = getenv("BALLAST_LOSS");
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    void *page = fd >= 0 ? mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    loses = page != MAP_FAILED ? page : NULL;
    if (fd >= 0)
        close(fd);
}

ssize_t sendto(int s, const void *bytes, size_t size, int flags, const struct sockaddr *to,
               socklen_t length) {
    static uint64_t state;
    if (state == 0)
        state = (uint64_t)getpid();
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (to && (state >> 33) % 10 == 0 && (!loses || *loses == '1'))
        return (ssize_t)size;
    return syscall(SYS_sendto, s, bytes, size, flags, to, length);
}
