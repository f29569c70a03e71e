/* SPDX-License-Identifier: BSD-2-Clause */
/* Builds the cases of an experiment's cells, and the text that identifies a trial. */
#include "spec/plan.h"

#include "ballast/number.h"
#include "plugin/loader.h"

#include "base/strbuf.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Part of every identity. Increase that of an engine when the same trial gives other numbers than in earlier
 * versions: tests/cross/older finds that out. */
static int results_revision(enum bli_engine engine) {
    return engine == BLI_ENGINE_NETWORK ? 5 : 4;
}

const char *bli_mode_text(enum bli_mode mode) {
    return bli_modes[mode];
}

void bli_experiment_coordinates(const struct bli_experiment *e, size_t point, size_t index[BLI_AXES_MAX]) {
    for (size_t a = e->axes; a-- > 0;) {
        index[a] = point % e->axis[a].count;
        point /= e->axis[a].count;
    }
}

size_t bli_experiment_point(const struct bli_experiment *e, const size_t index[BLI_AXES_MAX]) {
    size_t point = 0;
    for (size_t a = 0; a < e->axes; a++)
        point = point * e->axis[a].count + index[a];
    return point;
}

void bli_experiment_point_text(const struct bli_experiment *e, size_t point, char *text, size_t size) {
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, point, index);
    size_t used = 0;
    if (size)
        text[0] = 0;
    for (size_t a = 0; a < e->axes && used < size; a++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", a ? " " : "", e->axis[a].name,
                                 e->axis[a].value[index[a]].label);
}

bool bli_selection_has(const struct bli_selection *selection, const struct bli_experiment *e, size_t point) {
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, point, index);
    for (size_t a = 0; a < e->axes; a++)
        if (!selection->value[a][index[a]])
            return false;
    return true;
}

const struct bal_param *bli_swept_param(const struct bli_swept *swept, const struct bal_policy *policy) {
    if (swept->setting || (swept->policy && strcmp(swept->policy, policy->name) != 0))
        return NULL;
    for (unsigned i = 0; i < policy->param_count; i++)
        if (strcmp(policy->params[i].name, swept->param) == 0)
            return &policy->params[i];
    return NULL;
}

/* Hands the model over as text, piece by piece: every setting that has not its default, a line for each. A
 * new setting leaves the text of older models alone, and with it their identities and seeds. */
static void write_model(const struct bli_draft *draft, void (*tell)(void *context, const char *piece),
                        void *context) {
    const struct bli_section *section;
    const struct bli_field *setting;
    for (size_t i = 0; (setting = bli_setting_at(i, &section)); i++) {
        char text[BLI_SETTING_TEXT];
        if (!section->model || !bli_setting_print(setting, draft, text))
            continue;
        tell(context, setting->name);
        tell(context, "=");
        tell(context, text);
        tell(context, "\n");
    }
}

static uint64_t mix_bits(uint64_t x) { /* the finaliser of MurmurHash3 */
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

static void write_to_hash(void *context, const char *piece) { /* FNV-1a */
    uint64_t *hash = context;
    for (; *piece; piece++)
        *hash = (*hash ^ (unsigned char)*piece) * 0x100000001b3u;
}

/* Points have seeds of their own, so that their errors are independent. A seed depends on the model at its
 * point alone: not on the other points, and not on the policy, so all policies see the same arrivals. It is
 * kept below 2^53, where every number is exact in JSON. */
static uint64_t point_seed(uint64_t seed, const struct bli_draft *draft) {
    uint64_t hash = 0xcbf29ce484222325u ^ mix_bits(seed);
    write_model(draft, write_to_hash, &hash);
    return mix_bits(hash) >> 11;
}

void bli_plan_point(const struct bli_experiment *e, size_t point, struct bli_draft *draft) {
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, point, index);
    *draft = e->own->base;
    for (size_t a = 0; a < e->axes; a++)
        for (unsigned f = 0; f < e->axis[a].fields; f++) {
            const struct bli_field *setting = e->own->swept[a][f].setting;
            if (!setting)
                continue;
            const enum bal_code code = setting->set(draft, e->axis[a].value[index[a]].text[f], NULL);
            assert(code == BAL_OK); /* each value was tried when the file was read */
            (void)code;
        }
    bli_draft_complete(draft);
    draft->discipline = draft->c.model.discipline;
    draft->c.run.seed = point_seed(e->seed, draft);
}

/* As the policy asks, but that no server here interrupts a request. */
static enum bli_discipline live_discipline(const struct bal_policy *policy) {
    return policy->flags & BAL_SERVES_RANKS ? BLI_DISCIPLINE_NONPREEMPTIVE : BLI_DISCIPLINE_FIFO;
}

/* ---- the delay of messages, where it is measured ---- */

bool bli_experiment_measures_delay(const struct bli_experiment *e, size_t point) {
    struct bli_draft draft;
    bli_plan_point(e, point, &draft);
    return draft.delay_measured;
}

void bli_experiment_set_delay(const struct bli_experiment *e, size_t point, size_t policy, double delay) {
    if (e->own->delay && bli_experiment_measures_delay(e, point))
        e->own->delay[point * e->policies + policy] = delay;
}

/* To a prediction: what was measured of the policy in front of it. A draft is used for one after the other.
 */
static void set_measured_delay(const struct bli_experiment *e, size_t point, size_t policy,
                               struct bli_draft *draft) {
    struct bli_dist *dist = &draft->c.model.network.delay;
    if (!draft->delay_measured)
        return;
    *dist = (struct bli_dist){0};
    if (!e->own->delay || e->policy[policy].real || policy == 0 ||
        !(e->own->delay[point * e->policies + policy - 1] > 0))
        return;
    *dist = bli_dist_constant(e->own->delay[point * e->policies + policy - 1]);
}

/* Where the file leaves it open, a run is as long as its policy needs to settle, whichever others there are:
 * a trial must not depend on them. For the same reason it is not made longer afterwards; it may be doubted.
 */
void bli_plan_policy(const struct bli_experiment *e, size_t point, size_t policy, struct bli_draft *draft) {
    size_t index[BLI_AXES_MAX];
    bli_experiment_coordinates(e, point, index);
    struct bal_policy_spec *spec = &draft->c.policy;
    *spec = e->policy[policy].spec;
    for (size_t a = 0; a < e->axes; a++)
        for (unsigned f = 0; f < e->axis[a].fields; f++) {
            const struct bal_param *param = bli_swept_param(&e->own->swept[a][f], spec->policy);
            if (param)
                bli_field_number(e->axis[a].value[index[a]].text[f],
                                 &spec->value[param - spec->policy->params]);
        }
    const enum bli_engine chosen = e->own->engine[point * e->policies + policy];
    if (!e->live && chosen != BLI_ENGINE_AUTO) {
        draft->c.run.engine = chosen;
        draft->c.run.engine_fits = true;
    }
    bli_draft_choose_length(draft, &draft->c, 1, bli_default_run_length(&draft->c.model));
    draft->c.max_run_length = 0;
    if (e->live) {
        if (draft->c.model.classes && draft->discipline == BLI_DISCIPLINE_AUTO)
            draft->c.model.discipline = live_discipline(spec->policy);
        draft->c.run.engine = e->policy[policy].real ? BLI_ENGINE_LIVE : BLI_ENGINE_NETWORK;
        draft->c.run.real = e->policy[policy].real;
        set_measured_delay(e, point, policy, draft);
    }
}

void bli_experiment_case(const struct bli_experiment *e, size_t point, size_t policy, struct bli_case *c) {
    struct bli_draft draft;
    bli_plan_point(e, point, &draft);
    bli_plan_policy(e, point, policy, &draft);
    *c = draft.c;
}

unsigned bli_plan_most(const struct bli_draft *draft) {
    return draft->most > draft->c.replications ? (unsigned)draft->most : draft->c.replications;
}

static void write_to_file(void *context, const char *piece) {
    fputs(piece, context);
}

char *bli_plan_identity(const struct bli_case *c) {
    struct bli_strbuf identity;
    if (!bli_strbuf_open(&identity))
        return NULL;
    FILE *out = identity.stream;
    const struct bli_draft draft = {.c = *c};
    write_model(&draft, write_to_file, out);
    char policy[400], time[BLI_NUMBER_TEXT], warmup[BLI_NUMBER_TEXT] = "auto";
    bal_policy_print(&c->policy, policy, sizeof policy);
    bli_number_print(c->run.time, time);
    if (c->run.warmup >= 0)
        bli_number_print(c->run.warmup, warmup);
    else if (c->run.warmup == BLI_WARMUP_MSER)
        strcpy(warmup, "mser");
    const enum bli_engine engine = c->run.engine;
    fprintf(out, "policy=%s\nengine=%s\ntime=%s\nwarmup=%s\nseed=%" PRIu64 "\nresults=%d", policy,
            bli_engine_text(engine), time, warmup, c->run.seed, results_revision(engine));
    const char *plugin = bli_plugin_hash(c->policy.policy);
    if (plugin) /* what its name says may change */
        fprintf(out, "\nplugin=%s", plugin);
    if (c->fluid)
        fputs("\nfluid=yes", out);
    if (c->run.real)
        fprintf(out, "\nlive=%s", c->run.real);
    else if (c->draws > 1)
        fprintf(out, "\ndraws=%u", c->draws);
    return bli_strbuf_close(&identity) ? identity.text : NULL;
}
