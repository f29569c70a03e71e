/* SPDX-License-Identifier: BSD-2-Clause */
/* A command as the host of a question (ballast/question.h): what the question tells it, and the answer. */
#include "asker.h"

#include <string.h>

/* One bar for what is done after each other, until something else begins. */
static void show_progress(void *context, const char *doing, double part) {
    struct cli_asker *asker = context;
    if (!asker->shown || (part == 0 && doing != asker->doing)) {
        cli_progress_end(&asker->bar);
        cli_progress_start(&asker->bar, asker->quiet);
        asker->shown = true;
    }
    asker->doing = doing;
    snprintf(asker->bar.note, sizeof asker->bar.note, "%s", doing ? doing : "");
    cli_progress_show(&asker->bar, part);
}

static void warn(void *context, const char *text, bool of_answer) {
    struct cli_asker *asker = context;
    if (of_answer)
        fprintf(asker->notes.stream, "%s\n", text);
    else
        cli_report_warning(text);
}

struct bal_question_host cli_asker_host(struct cli_asker *asker) {
    return (struct bal_question_host){
        .stop = cli_stop_flag(), .progress = show_progress, .warn = warn, .context = asker};
}

int cli_asker_fail(enum bal_code code, const struct bal_error *err) {
    if (code != BAL_E_STOPPED)
        return cli_fail("%s", err->text);
    cli_warn("interrupted");
    return CLI_INTERRUPTED;
}

static int print_answer(const struct bal_answer *answer, struct cli_asker *asker, struct cli_output *output) {
    static const int statuses[] = {CLI_OK, CLI_OUTCOME, CLI_INTERRUPTED}; /* by enum bal_answer_kind */
    size_t size;
    const char *text = bal_answer_text(answer, &size);
    fwrite(text, 1, size, output->stream);
    const int status = cli_output_close(output);
    if (status)
        return status;
    if (!bli_strbuf_close(&asker->notes))
        return cli_no_memory();
    for (char *line = asker->notes.text, *end; (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        cli_report_warning(line);
    }
    return statuses[bal_answer_kind(answer)];
}

static int run_and_print(struct bal_question *question, struct cli_asker *asker) {
    const struct bli_question_kind *kind = bli_question_kind(question);
    const struct bli_request *request = bli_question_request(question);
    struct bal_error err = {0};
    if (bal_question_check(question, &err))
        return cli_fail("%s", err.text);
    struct cli_output output;
    int status = cli_output_open(&output, request->output);
    if (status)
        return status;
    if (!kind->is_brief || !kind->is_brief(request))
        cli_catch_signals();
    asker->quiet = request->quiet;
    struct bal_answer *answer;
    const enum bal_code code = bal_question_run(question, &answer, &err);
    cli_progress_end(&asker->bar);
    if (code)
        cli_output_discard(&output);
    status = code ? cli_asker_fail(code, &err) : print_answer(answer, asker, &output);
    bal_answer_free(answer);
    return status;
}

static int parse_and_run(const struct cli_command *command, int argc, char **argv,
                         struct bal_question *question, struct cli_asker *asker) {
    const struct bli_question_kind *kind = command->question;
    struct bli_request *request = bli_question_request(question);
    request->format = BLI_FORM_TEXT;
    int operands;
    const int status = cli_parse(command, argc, argv, request, kind->operands, &operands);
    if (status >= 0)
        return status;
    for (int i = 1; i <= operands; i++) {
        struct bal_error err = {0};
        if (kind->set_operand(request, argv[i], &err))
            return cli_fail("%s", err.text);
    }
    return run_and_print(question, asker);
}

int cli_ask(const struct cli_command *command, int argc, char **argv) {
    struct cli_asker asker = {.shown = false};
    struct bal_question_host host = cli_asker_host(&asker);
    struct bli_strbuf words = {0};
    struct bal_question *question = NULL;
    struct bal_error err = {0};
    int status;
    const bool shown = command->question->shows_command;
    if ((shown && !cli_command_text(argc, argv, &words)) || !bli_strbuf_open(&asker.notes)) {
        status = cli_no_memory();
    } else {
        host.command = shown ? words.text : NULL; /* before the operands are moved */
        status = bal_question_new(command->name, &host, &question, &err)
                     ? cli_fail("%s", err.text)
                     : parse_and_run(command, argc, argv, question, &asker);
    }
    bal_question_free(question);
    bli_strbuf_discard(&asker.notes);
    bli_strbuf_discard(&words);
    return status;
}
