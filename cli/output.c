/* SPDX-License-Identifier: BSD-2-Clause */
/* Gathers the results of a command in memory and writes them to their file at the end. */
#include "cli.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "format/file.h"

int cli_check_not_input(const char *option, const char *path, const char *input, const char *what) {
    return path && bli_file_is_same(path, input)
               ? cli_fail("%s %s: that is %s; choose another place", option, path, what)
               : -1;
}

int cli_output_open(struct cli_output *output, const char *path) {
    *output = (struct cli_output){.path = path};
    struct bal_error err = {0};
    if (path && bli_file_check(path, &err))
        return cli_fail("--output: %s", err.text);
    if (!bli_strbuf_open(&output->gather))
        return cli_no_memory();
    output->stream = output->gather.stream;
    return CLI_OK;
}

void cli_output_discard(struct cli_output *output) {
    bli_strbuf_discard(&output->gather);
    output->stream = NULL;
}

int cli_output_close(struct cli_output *output) {
    struct bal_error err = {0};
    int status = CLI_OK;
    output->stream = NULL;
    if (!bli_strbuf_close(&output->gather) || bli_memory_is_lost()) {
        cli_output_discard(output);
        return cli_no_memory();
    }
    output->gather.size = bli_utf8_tame(output->gather.text, "\n\t");
    if (!output->path)
        status = cli_print("the results ", output->gather.text, output->gather.size);
    else if (bli_file_write(output->path, output->gather.text, output->gather.size, &err))
        status = cli_fail("--output: %s", err.text);
    cli_output_discard(output);
    return status;
}
