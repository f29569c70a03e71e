/* A network that loses one datagram in ten, for LD_PRELOAD in the tests of the live half. */
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t sendto(int s, const void *bytes, size_t size, int flags, const struct sockaddr *to,
               socklen_t length) {
    static uint64_t state;
    if (state == 0)
        state = (uint64_t)getpid();
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if (to && (state >> 33) % 10 == 0)
        return (ssize_t)size;
    return syscall(SYS_sendto, s, bytes, size, flags, to, length);
}
