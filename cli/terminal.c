/* SPDX-License-Identifier: BSD-2-Clause */
/* Draws a full screen on a terminal and reads keys. */
#include "terminal.h"

#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { ROWS = 24, COLUMNS = 80 }; /* where the terminal does not report its size */

static struct termios before;
static volatile sig_atomic_t resized;

static void on_resize(int number) {
    (void)number;
    resized = 1;
}

static void read_size(struct cli_terminal *terminal) {
    struct winsize size;
    const bool told = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    terminal->rows = told && size.ws_row ? size.ws_row : ROWS;
    terminal->columns = told && size.ws_col ? size.ws_col : COLUMNS;
}

static bool is_supported(void) {
    const char *kind = getenv("TERM");
    return isatty(STDOUT_FILENO) && isatty(STDIN_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void cli_terminal_begin(struct cli_terminal *terminal) {
    *terminal = (struct cli_terminal){.able = is_supported() && tcgetattr(STDIN_FILENO, &before) == 0};
    read_size(terminal);
    if (!terminal->able)
        return;
    struct termios raw = before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE; /* otherwise the shell would get our screen */
    struct sigaction action = {.sa_handler = on_resize, .sa_flags = SA_RESTART}; /* all is drawn */
    sigemptyset(&action.sa_mask);
    sigaction(SIGWINCH, &action, NULL);
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
    fputs("\033[?1049h\033[?25l", stdout);
    fflush(stdout);
}

void cli_terminal_end(struct cli_terminal *terminal) {
    if (!terminal->able)
        return;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputs("\033[0m\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    terminal->able = false;
}

/* A line, cut after so many columns; what changes colours takes none. Returns what follows it. */
static const char *show_line(const char *text, unsigned columns) {
    unsigned used = 0;
    while (*text && *text != '\n') {
        if (*text == '\033') {
            const size_t length = strcspn(text, "m") + 1;
            fwrite(text, 1, length, stdout);
            text += length;
            continue;
        }
        size_t length = 1;
        while (((unsigned char)text[length] & 0xc0) == 0x80)
            length++;
        if (used++ < columns)
            fwrite(text, 1, length, stdout);
        text += length;
    }
    fputs("\033[0m\033[K", stdout);
    return *text ? text + 1 : text;
}

static unsigned lines_of(const char *text) {
    unsigned lines = 0;
    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

void cli_terminal_show(struct cli_terminal *terminal, const char *text) {
    read_size(terminal);
    const unsigned lines = lines_of(text);
    const unsigned last = lines > terminal->rows ? lines - terminal->rows : 0;
    terminal->first = terminal->first < last ? terminal->first : last;
    for (unsigned i = 0; i < terminal->first; i++)
        text = strchr(text, '\n') + 1;
    fputs("\033[H", stdout);
    for (unsigned row = 0; row < terminal->rows && *text; row++) {
        fputs(row ? "\r\n" : "", stdout);
        text = show_line(text, terminal->columns);
    }
    fputs("\033[J", stdout);
    fflush(stdout);
}

static enum cli_key key_of(const char *bytes, ssize_t count) {
    if (count <= 0)
        return CLI_NO_KEY;
    if (*bytes == 'q' || *bytes == 'Q')
        return CLI_KEY_QUIT;
    if (*bytes == 'k' || (count >= 3 && memcmp(bytes, "\033[A", 3) == 0))
        return CLI_KEY_UP;
    if (*bytes == 'j' || (count >= 3 && memcmp(bytes, "\033[B", 3) == 0))
        return CLI_KEY_DOWN;
    return CLI_KEY_OTHER;
}

enum cli_key cli_terminal_wait(struct cli_terminal *terminal, double seconds) {
    struct pollfd keys = {.fd = terminal->able ? STDIN_FILENO : -1, .events = POLLIN};
    const int ready = poll(&keys, 1, (int)(1000 * seconds));
    if (resized) {
        resized = 0;
        return CLI_KEY_RESIZED;
    }
    if (ready <= 0)
        return CLI_NO_KEY;
    char bytes[3]; /* one key: further keys are read in the next call */
    ssize_t count = read(STDIN_FILENO, bytes, 1);
    if (count == 1 && *bytes == '\033' && read(STDIN_FILENO, bytes + 1, 2) == 2)
        count = 3;
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) || keys.revents & POLLHUP)
        return CLI_KEY_QUIT; /* the terminal has gone */
    return key_of(bytes, count);
}
