/* SPDX-License-Identifier: BSD-2-Clause */
/* The claims that an experiment makes: whose they are, what kind of statement, and their checks. */
#include "spec/claim_checks.h"

#include <string.h>

/* ---- kinds ---- */

/* The measures that a kind may have, as bits; and where its numbers come from. */
static const struct {
    unsigned measures;
    enum bli_evidence evidence;
} rules[] = {
#define BIT(measure) (1u << BLI_MEASURE_##measure)
#define NUMBERS                                                                                              \
    (BIT(VALUE) | BIT(RATIO) | BIT(DIFFERENCE) | BIT(EXPONENT) | BIT(SLOPE) | BIT(RANK) | BIT(CRITICAL) |    \
     BIT(CROSSING))
    [BLI_KIND_ANY] = {~0u, BLI_EVIDENCE_RUNS},
    [BLI_KIND_VALUE] = {NUMBERS, BLI_EVIDENCE_RUNS},
    [BLI_KIND_COMPARISON] = {NUMBERS, BLI_EVIDENCE_RUNS},
    [BLI_KIND_LIMIT] = {BIT(LIMIT), BLI_EVIDENCE_RUNS},
    [BLI_KIND_FORMULA] = {BIT(VALUE) | BIT(RATIO) | BIT(DIFFERENCE), BLI_EVIDENCE_FORMULA},
    [BLI_KIND_BOUND] = {BIT(VALUE) | BIT(RATIO) | BIT(DIFFERENCE), BLI_EVIDENCE_KNOWN},
    [BLI_KIND_STABILITY] = {BIT(VERDICT) | BIT(CRITICAL), BLI_EVIDENCE_RUNS},
    [BLI_KIND_DEFINITION] = {~0u, BLI_EVIDENCE_RUNS},
};

static enum bal_code check_kind(struct bli_reader *reader, int map, const struct bli_claim *claim,
                                const struct bli_check *check) {
    if (rules[claim->kind].measures & 1u << check->measure)
        return BAL_OK;
    return bli_reader_fail(reader, map, "kind", BAL_E_MODEL,
                           "a claim of kind '%s' is not judged by measure '%s'; see docs/papers.md",
                           bli_kinds[claim->kind], bli_measures[check->measure]);
}

/* A claim of a paper quotes the sentence that it judges; a finding has no quotation. */
static enum bal_code check_source(struct bli_reader *reader, int map, const struct bli_claim *claim) {
    if (claim->finding)
        return claim->quote || claim->error || claim->reason || claim->kind
                   ? bli_reader_fail(
                         reader, map, "finding", BAL_E_MODEL,
                         "a finding is ours: it has no `quote`, no `kind`, no `error` and no `reason`")
                   : BAL_OK;
    if (claim->error && claim->reason)
        return bli_reader_fail(reader, map, "reason", BAL_E_MODEL,
                               "`error` says that the paper is wrong, `reason` that it is not; give one");
    if (!reader->e->paper)
        return BAL_OK;
    const char *lacks = !claim->quote ? "quote" : !claim->section ? "section" : !claim->kind ? "kind" : NULL;
    if (!lacks)
        return BAL_OK;
    return bli_reader_fail(
        reader, map, "claims", BAL_E_SYNTAX,
        "claim '%s' lacks `%s`: a claim of a paper has `section`, `quote` and `kind`; what "
        "cannot be quoted is a `finding`",
        claim->id, lacks);
}

/* ---- one claim ---- */

static const char *const check_names[] = {"measure", "metric", "of",    "to",   "along",
                                          "slack",   "among",  "where", "over", "expect"};

/* The maps of its checks: `checks`, or the claim itself. */
static enum bal_code find_checks(struct bli_reader *reader, int map, int *list) {
    *list = bli_node_get(reader->document, map, "checks");
    for (size_t i = 0; *list && i < sizeof check_names / sizeof *check_names; i++)
        if (bli_node_get(reader->document, map, check_names[i]))
            return bli_reader_fail(reader, map, "claims", BAL_E_SYNTAX,
                                   "a claim with `checks` has `%s` in each of them", check_names[i]);
    if (!*list)
        *list = map;
    return BAL_OK;
}

static enum bal_code read_checks(struct bli_reader *reader, int map, struct bli_claim *claim) {
    int list;
    enum bal_code code = find_checks(reader, map, &list);
    if (code)
        return code;
    claim->checks = list == map ? 1 : bli_reader_count(reader, list);
    struct bli_check *checks = bli_reader_take(reader, claim->checks, sizeof *checks);
    if (!checks)
        return BAL_E_MEMORY;
    claim->check = checks;
    for (size_t i = 0; i < claim->checks && !code; i++) {
        const int check = list == map ? map : bli_reader_item(reader, list, i);
        code = bli_read_check(reader, check, rules[claim->kind].evidence, &checks[i]);
        if (!code)
            code = check_kind(reader, check, claim, &checks[i]);
    }
    return code;
}

static enum bal_code read_claim(struct bli_reader *reader, int map, struct bli_claim *claim) {
    struct bli_document *document = reader->document;
    *claim = (struct bli_claim){
        .id = bli_reader_line(reader, map, "id"),
        .section = bli_reader_line(reader, map, "section"),
        .quote = bli_reader_line(reader, map, "quote"),
        .says = bli_reader_text(reader, map, "says"),
        .error = bli_reader_line(reader, map, "error"),
        .reason = bli_reader_line(reader, map, "reason"),
        .kind = (enum bli_kind)bli_reader_choice(reader, map, "kind", bli_kinds, BLI_KIND_ANY),
        .finding = bli_node_get(document, map, "finding") != 0,
        .answers = -1,
        .line = bli_node_line(document, map),
    };
    const enum bal_code code = check_source(reader, map, claim);
    return code ? code : read_checks(reader, map, claim);
}

/* ---- all of them ---- */

/* A claim of the paper by its id; -1: none. */
static int find_claim(const struct bli_experiment *e, const char *id) {
    for (size_t i = 0; i < e->claims; i++)
        if (!e->claim[i].finding && strcmp(e->claim[i].id, id) == 0)
            return (int)i;
    return -1;
}

/* finding: ID; the claim may come before it or after it. */
static enum bal_code read_answer(struct bli_reader *reader, int map, struct bli_claim *claim) {
    const char *id = bli_reader_line(reader, map, "finding");
    if (!id || strcmp(id, "yes") == 0)
        return BAL_OK;
    claim->answers = find_claim(reader->e, id);
    if (claim->answers >= 0)
        return BAL_OK;
    return bli_reader_fail(reader, bli_node_get(reader->document, map, "finding"), "finding", BAL_E_UNKNOWN,
                           "there is no claim '%s' that it could answer; name one of this file, or say `yes`",
                           id);
}

static enum bal_code read_answers(struct bli_reader *reader, int list, struct bli_claim *claims) {
    size_t claim = 0;
    for (size_t i = 0; i < bli_reader_count(reader, list); i++) {
        const int map = bli_reader_item(reader, list, i);
        if (bli_reader_is_elsewhere(reader, map))
            continue;
        const enum bal_code code = read_answer(reader, map, &claims[claim++]);
        if (code)
            return code;
    }
    return BAL_OK;
}

enum bal_code bli_read_claims(struct bli_reader *reader) {
    struct bli_experiment *e = reader->e;
    const int list = bli_node_get(reader->document, reader->root, "claims");
    const size_t count = bli_reader_count(reader, list);
    struct bli_claim *claims = bli_reader_take(reader, count, sizeof *claims);
    if (!claims)
        return BAL_E_MEMORY;
    e->claim = claims;
    for (size_t i = 0; i < count; i++) {
        const int map = bli_reader_item(reader, list, i);
        if (bli_reader_is_elsewhere(reader, map))
            continue;
        const enum bal_code code = read_claim(reader, map, &claims[e->claims]);
        if (code)
            return code;
        for (size_t j = 0; j < e->claims; j++)
            if (strcmp(claims[j].id, claims[e->claims].id) == 0)
                return bli_reader_fail(reader, map, "id", BAL_E_RANGE,
                                       "'%s' is there twice; give each claim its own", claims[j].id);
        e->claims++;
    }
    return read_answers(reader, list, claims);
}
