/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of commands that run or print experiments, and the printing of their results. */
#include "experiment_output.h"

#include "report/judgements.h"
#include "report/outcome.h"

#include <stdlib.h>

static enum bal_code set_mode(struct cli_trials *trials, enum bli_mode mode, struct bal_error *err) {
    if (trials->mode != BLI_MODE_PLAIN && trials->mode != mode)
        return bal_fail(err, BAL_E_MODEL, "quick or full, not both");
    trials->mode = mode;
    return BAL_OK;
}

enum bal_code cli_set_quick(void *into, const char *value, struct bal_error *err) {
    (void)value;
    return set_mode(into, BLI_MODE_QUICK, err);
}

enum bal_code cli_set_full(void *into, const char *value, struct bal_error *err) {
    (void)value;
    return set_mode(into, BLI_MODE_FULL, err);
}

/* The claims are judged once, for what is printed and for the exit status. */
static enum bal_code judge_and_print(struct bli_store *store, const struct bli_experiment *e,
                                     const struct cli_results *results, struct bli_tally *tally, FILE *out,
                                     struct bal_error *err) {
    struct bli_judged *judged = NULL;
    enum bal_code code = e->claims > 0 ? bli_judgements_new(store, e, &judged, err) : BAL_OK;
    if (!code)
        code = bli_outcome_print(store, e, judged, results->seconds, BLI_ROWS(results->format, out), err);
    if (!code && judged)
        bli_tally_add(tally, e, judged);
    free(judged);
    return code;
}

int cli_print_experiment(struct bli_store *store, const struct bli_experiment *experiment,
                         const struct cli_results *results, struct cli_output *output) {
    struct bal_error err = {0};
    struct bli_tally tally = {0};
    FILE *out = output->stream;
    const enum bli_form raw = results->format == BLI_FORM_JSON ? BLI_FORM_JSON : BLI_FORM_CSV;
    const enum bal_code code = results->raw
                                   ? bli_raw_print(store, experiment, *results->raw, BLI_ROWS(raw, out), &err)
                                   : judge_and_print(store, experiment, results, &tally, out, &err);
    if (code) {
        cli_output_discard(output);
        return cli_fail("%s", err.text);
    }
    const int status = cli_output_close(output);
    return status ? status : experiment->claims > 0 && bli_tally_fails(&tally) ? CLI_OUTCOME : CLI_OK;
}
