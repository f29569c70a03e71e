#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file takes its name when it is complete. What is there and no file (a terminal, a pipe, /dev/null) is
 * written as it is: it must not be replaced. */
static FILE *open_target(struct cli_output *output) {
    struct stat there;
    const bool exists = stat(output->path, &there) == 0;
    if (exists && S_ISDIR(there.st_mode)) {
        errno = EISDIR;
        return NULL;
    }
    if (exists && !S_ISREG(there.st_mode))
        return fopen(output->path, "w");
    if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
        output->temporary = NULL;
        return NULL;
    }
    const int fd = mkstemp(output->temporary);
    if (fd < 0) {
        free(output->temporary);
        output->temporary = NULL;
        return NULL;
    }
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return fdopen(fd, "w");
}

int cli_output_open(struct cli_output *output, const char *path) {
    *output = (struct cli_output){.path = path};
    if (path) {
        output->file = open_target(output);
        if (!output->file)
            return cli_fail("--output %s: cannot write there: %s; choose another place", path,
                            strerror(errno));
    }
    output->stream = open_memstream(&output->text, &output->size);
    if (!output->stream) {
        cli_output_discard(output);
        return cli_fail("not enough memory");
    }
    return CLI_OK;
}

void cli_output_discard(struct cli_output *output) {
    if (output->stream)
        fclose(output->stream);
    if (output->file)
        fclose(output->file);
    if (output->temporary)
        unlink(output->temporary);
    free(output->text);
    free(output->temporary);
    *output = (struct cli_output){0};
}

/* Writes all of it and makes sure that it has arrived. */
static bool write_out(struct cli_output *output, FILE *to) {
    return fwrite(output->text, 1, output->size, to) == output->size && fflush(to) == 0 && !ferror(to);
}

int cli_output_close(struct cli_output *output) {
    const bool gathered = fclose(output->stream) == 0;
    output->stream = NULL;
    int status = CLI_OK;
    if (!gathered) {
        status = cli_fail("not enough memory for the results");
    } else if (!output->path) {
        if (!write_out(output, stdout))
            status = cli_fail("cannot write the results to standard output: %s", strerror(errno));
    } else {
        bool written = write_out(output, output->file);
        written = fclose(output->file) == 0 && written;
        output->file = NULL;
        if (!written || (output->temporary && rename(output->temporary, output->path) != 0)) {
            status = cli_fail("--output %s: cannot write there: %s; choose another place", output->path,
                              strerror(errno));
        } else {
            free(output->temporary); /* it has its own name now */
            output->temporary = NULL;
        }
    }
    cli_output_discard(output);
    return status;
}
