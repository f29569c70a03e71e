/* SPDX-License-Identifier: BSD-2-Clause */
/* The port of control of test servers: sets how they answer, and prints what they have seen. */
#include "serve/serve_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const serve_mode_names[MODES] = {"ok", "fail", "hang", "close", "refuse", "slow"};

static void set_mode(struct serve *serve, const char *path) {
    const char *name = strstr(path, "mode=");
    const double index = serve_query_number(path, "server", -1);
    for (int mode = 0; name && mode < MODES; mode++) {
        if (!serve_starts_with(name + 5, serve_mode_names[mode]))
            continue;
        for (unsigned i = 0; i < serve->server_count; i++) {
            struct test_server *s = &serve->servers[i];
            if (index >= 0 && index != (double)i)
                continue;
            if ((s->mode == MODE_REFUSE) != (mode == MODE_REFUSE))
                serve_listen(serve, s, mode != MODE_REFUSE);
            serve_advance_sharing(serve, s, serve_clock_seconds());
            s->mode = (enum request_mode)mode;
            s->status = (int)serve_query_number(path, "status", 500);
            s->after = serve_query_number(path, "after", 0) / 1000;
            s->factor = serve_query_number(path, "factor", 1);
            serve_schedule_sharing(serve, s);
        }
    }
}

/* What is answered, to be freed; NULL: there is no memory. */
static char *control_body(struct serve *serve, const struct connection *c, size_t *length) {
    char *body = NULL;
    FILE *out = open_memstream(&body, length);
    if (!out)
        return NULL;
    if (serve_starts_with(c->path, "/set"))
        set_mode(serve, c->path);
    else if (serve_starts_with(c->path, "/reset"))
        serve_log_reset(serve);
    else if (serve_starts_with(c->path, "/log"))
        serve_print_log(serve, out, fmax(serve_query_number(c->path, "from", 0), 0),
                        serve_query_number(c->path, "most", INFINITY));
    else
        serve_print_stats(serve, out);
    if (fclose(out)) {
        free(body);
        return NULL;
    }
    return body;
}

void serve_handle_control(struct serve *serve, struct connection *c) {
    size_t length = 0;
    char *body = control_body(serve, c, &length), *text = NULL;
    const int head = body ? asprintf(&text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", length) : -1;
    char *whole = head >= 0 ? realloc(text, (size_t)head + length) : NULL;
    c->state = WRITING;
    if (whole) {
        memcpy(whole + head, body, length);
        serve_send_text(serve, c, whole, (size_t)head + length);
    } else {
        if (head >= 0)
            free(text);
        serve_fail_answer(serve, c);
    }
    free(body);
}
