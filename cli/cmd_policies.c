/* SPDX-License-Identifier: BSD-2-Clause */
/* ballast policies [NAME]: what there is to choose from, made from the table of policies. */
#include "commands.h"

#include "ballast/number.h"
#include "ballast/scheme.h"
#include "format/json.h"
#include "plugin/loader.h"
#include "report/sizes.h"

#include <math.h>
#include <string.h>

enum form { TEXT, JSON, MARKDOWN };

struct choices {
    enum form form;
    const char *check; /* NULL: nothing */
};

static enum bal_code set_format(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"text", "json", "markdown"};
    struct choices *choices = into;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            choices->form = (enum form)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of text, json, markdown");
}

static struct bal_policy_spec with_defaults(const struct bal_policy *policy) {
    struct bal_policy_spec spec = {.policy = policy};
    for (unsigned i = 0; i < policy->param_count; i++)
        spec.value[i] = policy->params[i].default_value;
    return spec;
}

static void default_text(const struct bal_policy *policy, char *text, size_t size) {
    const struct bal_policy_spec spec = with_defaults(policy);
    bal_policy_print(&spec, text, size);
}

static bool is_symmetric(const struct bal_policy *policy) {
    const struct bal_policy_spec spec = with_defaults(policy);
    return bal_policy_flags(&spec) & BAL_SYMMETRIC;
}

/* Memory as a formula is best shown by two examples. */
static void memory_text(const struct bal_policy *policy, uint32_t servers, char *text, size_t size) {
    const struct bal_policy_spec spec = with_defaults(policy);
    const struct bal_policy_context setting = {servers, 0.9};
    snprintf(text, size, "%.0f", bal_policy_memory_bits(&spec, &setting));
}

static void words_text(const struct bal_param *param, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "%s", "");
    for (unsigned i = 0; i <= (unsigned)param->high && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", param->words[i]);
    if (used < size)
        snprintf(text + used, size - used, "; default %s",
                 isnan(param->default_value) ? "none" : param->words[(unsigned)param->default_value]);
}

static void range_text(const struct bal_param *param, char *text, size_t size) {
    if (param->words) {
        words_text(param, text, size);
        return;
    }
    char low[BLI_NUMBER_TEXT], high[BLI_NUMBER_TEXT], fallback[BLI_NUMBER_TEXT] = "none";
    bli_number_print(param->low, low);
    bli_number_print(param->high, high);
    if (!isnan(param->default_value))
        bli_number_print(param->default_value, fallback);
    snprintf(text, size, "%s from %s to %s, default %s", param->whole ? "whole number" : "number", low, high,
             fallback);
}

/* Two lines each, so that it fits a terminal: what it costs, and below it the rule. */
static void print_list(FILE *out) {
    fprintf(out, "%-26s  %-17s  %12s  %s\n\n", "policy", "cost a job", "bits, N=1000", "paper");
    for (size_t i = 0; bli_scheme_at(i); i++) {
        const struct bal_policy *policy = bli_scheme_at(i);
        char name[200], bits[32];
        default_text(policy, name, sizeof name);
        memory_text(policy, 1000, bits, sizeof bits);
        strcat(name, bli_sizes_mark(policy));
        fprintf(out, "%-26s  %-17s  %12s  %s\n    %s\n", name, policy->cost, bits, policy->paper,
                policy->summary);
    }
    fputs("\nA policy is written name or name:key=value,... ; ballast policies NAME tells its "
          "parameters.\n" BLI_SIZES_NOTE "\n"
          "central and delayed-off are one common queue, to compare with; in stealing jobs are made at the\n"
          "servers. A dispatcher cannot host these three.\n",
          out);
}

static void print_one(const struct bal_policy *policy, FILE *out) {
    char name[200], bits_small[32], bits_large[32];
    default_text(policy, name, sizeof name);
    memory_text(policy, 100, bits_small, sizeof bits_small);
    memory_text(policy, 10000, bits_large, sizeof bits_large);
    fprintf(out, "%s: %s\n\n", name, policy->summary);
    fprintf(out, "  cost a job   %s\n", policy->cost);
    fprintf(out, "  memory       %s bits for 100 servers, %s for 10000\n", bits_small, bits_large);
    fprintf(out, "  paper        %s\n", policy->paper);
    if (policy->flags & BAL_NEEDS_WORK)
        fputs("  needs        the size of every job, before it is done\n", out);
    fprintf(out, "  symmetric    %s\n", is_symmetric(policy) ? "yes" : "no");
    if (policy->param_count)
        fputs("\nparameters:\n", out);
    for (unsigned i = 0; i < policy->param_count; i++) {
        char range[200];
        range_text(&policy->params[i], range, sizeof range);
        fprintf(out, "  %-10s %s\n  %-10s %s\n", policy->params[i].name, policy->params[i].help, "", range);
    }
}

static void print_markdown(FILE *out) {
    fputs("# Policies\n\nMade from the table of policies by `ballast policies --format markdown`.\n\n"
          "| policy | rule | cost a job | bits at N = 100 | at N = 10000 | paper "
          "|\n|---|---|---|---|---|---|\n",
          out);
    for (size_t i = 0; bli_scheme_at(i); i++) {
        const struct bal_policy *policy = bli_scheme_at(i);
        char name[200], bits_small[32], bits_large[32];
        default_text(policy, name, sizeof name);
        memory_text(policy, 100, bits_small, sizeof bits_small);
        memory_text(policy, 10000, bits_large, sizeof bits_large);
        fprintf(out, "| `%s`%s | %s | %s | %s | %s | %s |\n", name, *bli_sizes_mark(policy) ? " \\*" : "",
                policy->summary, policy->cost, bits_small, bits_large, policy->paper);
    }
    fputs("\n\\" BLI_SIZES_NOTE "\n"
          "\n## Parameters\n\nA policy is written `name` or `name:key=value,...`.\n\n"
          "| policy | parameter | values | meaning |\n|---|---|---|---|\n",
          out);
    for (size_t i = 0; bli_scheme_at(i); i++)
        for (unsigned k = 0; k < bli_scheme_at(i)->param_count; k++) {
            const struct bal_param *param = &bli_scheme_at(i)->params[k];
            char range[200];
            range_text(param, range, sizeof range);
            fprintf(out, "| `%s` | `%s` | %s | %s |\n", bli_scheme_at(i)->name, param->name, range,
                    param->help);
        }
}

static void print_names(FILE *out) {
    fputs("\n## Other names\n\nPolicies are found under names that people know from elsewhere, too, in "
          "capitals or "
          "not, with\nblanks, dashes, underscores or nothing between the words; proxies.md tells more.\n\n"
          "| name | policy |\n|---|---|\n",
          out);
    for (size_t i = 0; bal_policy_alias_at(i, NULL); i++) {
        const char *policy;
        const char *name = bal_policy_alias_at(i, &policy);
        fprintf(out, "| %s | `%s` |\n", name, policy);
    }
}

static void json_words(struct json *json, const struct bal_param *param) {
    bli_json_open_line(json, "words", '[');
    for (unsigned i = 0; i <= (unsigned)param->high; i++)
        bli_json_text(json, NULL, param->words[i]);
    bli_json_close(json, ']');
}

static void json_policy(struct json *json, const struct bal_policy *policy) {
    bli_json_open(json, NULL, '{');
    bli_json_text(json, "name", policy->name);
    bli_json_text(json, "summary", policy->summary);
    bli_json_text(json, "cost", policy->cost);
    bli_json_text(json, "paper", policy->paper);
    bli_json_bool(json, "symmetric", is_symmetric(policy));
    bli_json_bool(json, "needs_sizes", policy->flags & BAL_NEEDS_WORK);
    bli_json_open(json, "parameters", '[');
    for (unsigned k = 0; k < policy->param_count; k++) {
        const struct bal_param *param = &policy->params[k];
        bli_json_open_line(json, NULL, '{');
        bli_json_text(json, "name", param->name);
        bli_json_number(json, "low", param->low);
        bli_json_number(json, "high", param->high);
        bli_json_number(json, "default", param->default_value);
        bli_json_bool(json, "whole", param->whole);
        if (param->words)
            json_words(json, param);
        bli_json_text(json, "help", param->help);
        bli_json_close(json, '}');
    }
    bli_json_close(json, ']');
    bli_json_close(json, '}');
}

static void print_json(const struct bal_policy *only, FILE *out) {
    struct json json;
    bli_json_init(&json, out);
    bli_json_open(&json, NULL, '[');
    for (size_t i = 0; !only && bli_scheme_at(i); i++)
        json_policy(&json, bli_scheme_at(i));
    if (only)
        json_policy(&json, only);
    bli_json_close(&json, ']');
}

/* ---- a policy of one's own ---- */

static int examine_policy(const char *text) {
    struct bal_error err = {0};
    if (bli_plugin_examine(text, &err))
        return cli_fail("%s", err.text);
    struct cli_output output;
    const int opened = cli_output_open(&output, NULL);
    if (opened)
        return opened;
    fprintf(output.stream, "%s keeps the contract: loaded, weathered a storm, symmetric if it says so\n",
            text);
    return cli_output_close(&output);
}

static int policies_main(const struct cli_command *command, int argc, char **argv) {
    struct choices choices = {TEXT};
    int operands;
    const int status = cli_parse(command, argc, argv, &choices, 1, &operands);
    if (status >= 0)
        return status;
    if (choices.check)
        return examine_policy(choices.check);
    const struct bal_policy *only = NULL;
    if (operands == 1) {
        struct bal_policy_spec spec;
        struct bal_error err;
        if (bli_request_parse_policy(argv[1], &spec, &err))
            return cli_fail("%s", err.text);
        only = spec.policy;
    }
    struct cli_output output;
    const int opened = cli_output_open(&output, NULL);
    if (opened)
        return opened;
    if (choices.form == JSON)
        print_json(only, output.stream);
    else if (choices.form == MARKDOWN)
        print_markdown(output.stream), print_names(output.stream);
    else if (only)
        print_one(only, output.stream);
    else
        print_list(output.stream);
    return cli_output_close(&output);
}

static const struct bli_option options[] = {
    {"format", "FORM", "text, json or markdown", set_format},
    {"check", "FILE.so", "examine a policy of your own: does it keep the contract?",
     BLI_STORES_TEXT(struct choices, check)},
};

const struct cli_command cmd_policies = {
    .name = "policies",
    .summary = "list the policies, their parameters, costs and papers",
    .operands = "[POLICY]",
    .description = "Lists all policies, or tells everything about one.",
    .examples = "  ballast policies\n  ballast policies pod\n  ballast policies --check ./mine.so\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = policies_main,
};
