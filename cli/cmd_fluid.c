/* ballast fluid POLICY: how queues move in a system of very many servers, and in a simulated one beside it.
 */
#include "commands.h"
#include "common.h"

#include "ballast/figure.h"
#include "ballast/number.h"
#include "report/fluid_report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FULL = 20,             /* jobs at each server of a full system */
    FILE_LEVELS = 1 << 16, /* most levels of a starting state in a file */
    FINE = 500,            /* the paths are computed and drawn at this many times or more */
    ALONE = 9,             /* most levels in a table ... */
    BESIDE = 4,            /* ... and beside a simulation */
    DRAWN = 7,             /* and in a figure */
};

struct request {
    struct cli_common common; /* first: its setters take the whole */
    const char *from;
    enum bal_rcpb_variant variant;
    double until, points, simulate, levels; /* NaN: not given */
    double *start;                          /* the state that `from` names */
    size_t start_levels;
};

/* ---- options ---- */

static enum bal_code set_from(void *into, const char *value, struct bal_error *err) {
    (void)err;
    ((struct request *)into)->from = value;
    return BAL_OK;
}

static enum bal_code set_until(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1e-6, 1e9, false, "a time above 0 (to 1G), such as 50"};
    return cli_number(value, &range, &((struct request *)into)->until, err);
}

static enum bal_code set_points(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {2, 100001, true, "a whole number from 2 to 100001"};
    return cli_number(value, &range, &((struct request *)into)->points, err);
}

static enum bal_code set_simulate(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, BAL_SERVERS_MAX, true,
                                           "a whole number of servers, such as 1000"};
    return cli_number(value, &range, &((struct request *)into)->simulate, err);
}

static enum bal_code set_levels(void *into, const char *value, struct bal_error *err) {
    static const struct cli_range range = {1, BAL_FIGURE_GROUPS_MAX, true, "a whole number from 1 to 64"};
    return cli_number(value, &range, &((struct request *)into)->levels, err);
}

static enum bal_code set_variant(void *into, const char *value, struct bal_error *err) {
    static const char *const names[] = {"constrained", "high-memory", "high-message"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            ((struct request *)into)->variant = (enum bal_rcpb_variant)i;
            return BAL_OK;
        }
    return bal_fail(err, BAL_E_UNKNOWN, "not one of constrained, high-memory, high-message");
}

static const struct cli_option options[] = {
    {.setting = "load", .help = "arriving work over capacity; from 1 on the queues grow"},
    {.setting = "service", .help = "tabs: law of sizes, in phases: exp, erlang(K), hyper(C2), ..."},
    {.setting = "curve", .help = "tabs: load over time: sine(A,P), table(T:F ...), ..."},
    {.setting = "high"},
    {.setting = "steal", .help = "random and pod: idle servers steal: half, one, constant(K), ..."},
    {"variant", "NAME", "rcpb: constrained, or in the limit high-memory (c grows) or high-message (mu grows)",
     set_variant},
    {"from", "STATE",
     "empty (default), full (20 jobs each), a file with s_1 s_2 ...; tabs: busy=X,off=Y, idle", set_from},
    {"until", "T", "how far to go, in mean service times (default 20)", set_until},
    {"points", "K", "times that are printed, from 0 to T (default 21)", set_points},
    {"levels", "I", "show s_1 to s_I (default: those that matter)", set_levels},
    {"simulate", "N", "lay the path of a simulated system of N servers beside it", set_simulate},
    {"seed", "S", "of the simulation (default 1)", cli_set_seed},
    {"figure", "FILE", "draw it, too: FILE.svg, FILE.png or FILE.pdf (needs gnuplot)", cli_set_figure},
    CLI_OUTPUT_OPTIONS,
};

/* ---- the starting state ---- */

static void *grow(double **numbers, size_t count) {
    double *larger = realloc(*numbers, count * sizeof *larger);
    if (larger)
        *numbers = larger;
    return larger;
}

/* Numbers between blanks or commas; # begins a comment. Returns -1 to go on, or the exit status. */
static int read_numbers(struct request *request, FILE *file) {
    char line[4096];
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        if (!strchr(line, '\n') && !feof(file))
            return cli_fail("--from %s:%u: a line of more than %zu characters; break it", request->from,
                            number, sizeof line - 2);
        line[strcspn(line, "#")] = 0;
        char *rest = line;
        for (char *word; (word = strtok_r(rest, " \t\r\n,", &rest));) {
            double value;
            if (!bal_number_parse(word, strlen(word), &value) || !(value >= 0 && value <= 1))
                return cli_fail("--from %s:%u: '%.60s' is not a fraction from 0 to 1", request->from, number,
                                word);
            if (request->start_levels == FILE_LEVELS)
                return cli_fail("--from %s:%u: more than %d numbers", request->from, number, FILE_LEVELS);
            if (!grow(&request->start, request->start_levels + 1))
                return cli_no_memory();
            request->start[request->start_levels++] = value;
        }
    }
    return ferror(file) ? cli_fail("--from %s: cannot be read: %s", request->from, strerror(errno)) : -1;
}

/* Servers that switch off have a start of their own. */
static int read_power_start(struct request *request) {
    struct bal_error err = {0};
    if (!request->from || strcmp(request->from, "empty") == 0)
        request->from = request->from ? "idle" : "busy=0.1,off=0.9";
    if (bal_start_parse(request->from, &request->common.draft.c.model.start, &err))
        return cli_fail("--from: %s", err.text);
    return -1;
}

static int read_start(struct request *request) {
    if (request->common.policy[0].policy->power)
        return read_power_start(request);
    if (!request->from)
        request->from = "empty";
    if (strcmp(request->from, "empty") == 0)
        return -1;
    if (strcmp(request->from, "full") == 0) {
        if (!grow(&request->start, FULL))
            return cli_no_memory();
        while (request->start_levels < FULL)
            request->start[request->start_levels++] = 1;
        return -1;
    }
    FILE *file = fopen(request->from, "r");
    if (!file)
        return cli_fail("--from %s: neither empty nor full, nor a file that can be read: %s", request->from,
                        strerror(errno));
    const int status = read_numbers(request, file);
    fclose(file);
    return status;
}

/* ---- the paths ---- */

struct paths {
    size_t times, every;
    double *time;
    struct bal_known_fluid known;
    struct bal_fluid_path fluid;
    struct bal_path simulated;
    double *power; /* tabs: standby, set-up and off of the fluid path, then of the simulated one; NULL: none
                    */
};

/* Row i of the above. */
static double *power_row(const struct paths *paths, size_t i) {
    return paths->power + i * paths->times;
}

static void paths_fini(struct paths *paths) {
    bal_fluid_path_fini(&paths->fluid);
    free(paths->simulated.fraction);
    free(paths->power);
    free(paths->time);
}

/* Enough times for a smooth drawing, of which every so many are printed. */
static bool choose_times(const struct request *request, struct paths *paths) {
    const size_t gaps = (size_t)request->points - 1;
    paths->every = (FINE + gaps - 1) / gaps;
    paths->times = gaps * paths->every + 1;
    paths->time = malloc(paths->times * sizeof *paths->time);
    if (!paths->time)
        return false;
    for (size_t k = 0; k < paths->times; k++)
        paths->time[k] = request->until * (double)k / (double)(paths->times - 1);
    return true;
}

static void fill_off(struct paths *paths, size_t first, const double *busy, size_t stride) {
    for (size_t k = 0; k < paths->times; k++)
        power_row(paths, first + 2)[k] =
            fmax(1 - busy[k * stride] - power_row(paths, first)[k] - power_row(paths, first + 1)[k], 0);
}

/* The path of a policy that switches servers off, as levels and fractions in each state. */
static int follow_power(const struct request *request, struct paths *paths) {
    size_t n;
    double *start = bal_known_fluid_start(&paths->known, &request->common.draft.c.model.start, &n);
    struct bal_fluid_path whole = {0};
    struct bal_error err = {0};
    paths->power = calloc(6 * paths->times, sizeof *paths->power);
    enum bal_code code = start && paths->power ? BAL_OK : bal_fail(&err, BAL_E_MEMORY, "not enough memory");
    if (!code)
        code = bal_fluid_path_init(&whole, &paths->known.model, start, n, paths->time, paths->times, &err);
    free(start);
    if (!code) {
        code = bal_known_fluid_levels(&paths->known, &whole, &paths->fluid, power_row(paths, 0),
                                      power_row(paths, 1), &err);
        bal_fluid_path_fini(&whole);
    }
    if (code)
        return cli_fail("%s", err.text);
    fill_off(paths, 0, paths->fluid.state, paths->fluid.columns);
    return -1;
}

static int follow_fluid(const struct request *request, struct paths *paths) {
    struct bal_error err = {0};
    if (bal_known_fluid_init(&paths->known, &request->common.draft.c.model, &request->common.policy[0],
                             request->variant, &err))
        return cli_fail("%s", err.text);
    if (paths->known.kind == BAL_FLUID_TABS)
        return follow_power(request, paths);
    if (bal_fluid_path_init(&paths->fluid, &paths->known.model, request->start, request->start_levels,
                            paths->time, paths->times, &err))
        return cli_fail("%s", err.text);
    return -1;
}

static int follow_simulation(const struct request *request, struct paths *paths) {
    const uint32_t servers = (uint32_t)request->simulate;
    uint32_t *initial = malloc(servers * sizeof *initial);
    paths->simulated =
        (struct bal_path){.times = paths->times, .time = paths->time, .levels = BAL_TAIL_LEVELS - 1};
    paths->simulated.fraction = malloc(paths->times * paths->simulated.levels * sizeof(double));
    if (!initial || !paths->simulated.fraction) {
        free(initial);
        return cli_fail("not enough memory for %u servers", servers);
    }
    bal_lengths_of(request->start, request->start_levels, servers, initial);
    if (paths->power) {
        paths->simulated.standby = power_row(paths, 3);
        paths->simulated.setup = power_row(paths, 4);
    }
    const struct bal_run run = {.seed = (uint64_t)request->common.seed,
                                .time = request->until,
                                .stop = &cli_stop,
                                .initial = paths->power ? NULL : initial,
                                .path = &paths->simulated};
    struct bal_trial trial = {0};
    struct bal_error err = {0};
    cli_catch_signals();
    const enum bal_code code =
        bal_simulate(&request->common.draft.c.model, &request->common.policy[0], &run, &trial, &err);
    free(initial);
    if (!code && paths->power)
        fill_off(paths, 3, paths->simulated.fraction, paths->simulated.levels);
    if (code == BAL_E_STOPPED) {
        cli_warn("interrupted");
        return CLI_INTERRUPTED;
    }
    return code ? cli_fail("%s", err.text) : -1;
}

/* The levels that ever hold one server in a hundred, or as many of them as fit, at equal distances;
 * where servers switch off, the first ones. */
static size_t choose_levels(const struct request *request, const struct paths *paths, size_t most,
                            size_t level[BAL_TAIL_LEVELS]) {
    const bool asked = !isnan(request->levels);
    size_t last = asked ? (size_t)request->levels : 1;
    for (size_t k = 0; k < paths->times && !asked; k++)
        while (last < BAL_TAIL_LEVELS - 1 && bal_fluid_path_at(&paths->fluid, k, last) >= 1e-2)
            last++;
    const size_t count = asked || last < most ? last : most;
    for (size_t i = 0; i < count; i++)
        level[i] = count == last || paths->power ? i + 1 : 1 + i * (last - 1) / (count - 1);
    return count;
}

/* ---- the command ---- */

static int print_paths(const struct request *request, const struct paths *paths, struct cli_output *output) {
    size_t level[BAL_TAIL_LEVELS];
    struct bal_fluid_report report = {
        .policy = &request->common.policy[0],
        .known = &paths->known,
        .from = request->from,
        .load = request->common.draft.c.model.load,
        .draft = &request->common.draft,
        .times = paths->times,
        .time = paths->time,
        .every = paths->every,
        .level = level,
        .fluid = &paths->fluid,
        .simulated = paths->simulated.fraction ? &paths->simulated : NULL,
        .servers = bal_servers_count(&request->common.draft.c.model.servers),
        .seed = (uint64_t)request->common.seed,
    };
    static const char *const states[BAL_FLUID_EXTRAS] = {"idle", "setup", "off"};
    for (size_t i = 0; paths->power && i < BAL_FLUID_EXTRAS; i++)
        report.extra[report.extras++] =
            (struct bal_fluid_extra){states[i], power_row(paths, i), power_row(paths, 3 + i)};
    struct bal_error err = {0};
    report.levels = choose_levels(request, paths, paths->power ? DRAWN - 3 : DRAWN, level);
    if (request->common.figure && bal_fluid_figure(&report, request->common.figure, &err)) {
        cli_output_discard(output);
        return cli_fail("--figure %s: %s", request->common.figure, err.text);
    }
    const size_t most = request->common.format != CLI_TEXT ? BAL_TAIL_LEVELS
                        : paths->power                     ? BESIDE / 2
                        : report.simulated                 ? BESIDE
                                                           : ALONE;
    report.levels = choose_levels(request, paths, most, level);
    if (request->common.format == CLI_JSON)
        bal_fluid_json(&report, output->stream);
    else if (request->common.format == CLI_CSV)
        bal_fluid_csv(&report, output->stream);
    else
        bal_fluid_text(&report, output->stream);
    return cli_output_close(output);
}

static int follow(const struct request *request) {
    struct cli_output output;
    const int opened = cli_output_open(&output, request->common.output);
    if (opened)
        return opened;
    struct paths paths = {0};
    int status = choose_times(request, &paths) ? -1 : cli_no_memory();
    if (status < 0)
        status = follow_fluid(request, &paths);
    if (status < 0 && !isnan(request->simulate))
        status = follow_simulation(request, &paths);
    if (status < 0)
        status = print_paths(request, &paths, &output);
    else
        cli_output_discard(&output);
    paths_fini(&paths);
    return status;
}

/* Without a simulation the fleet is as large as can be. */
static int check(struct request *request, const char *policy) {
    struct cli_common *common = &request->common;
    struct bal_error err = {0};
    if (cli_set_policy(common, policy, &err))
        return cli_fail("%s", err.text);
    common->draft.c.model.servers.groups = 1;
    common->draft.c.model.servers.group[0] = (struct bal_group){
        .count = isnan(request->simulate) ? BAL_SERVERS_MAX : (uint32_t)request->simulate, .speed = 1};
    enum bal_engine engine;
    if (bal_simulate_check(&common->draft.c.model, &common->policy[0], BAL_ENGINE_AUTO, &engine, &err))
        return cli_fail("%s", err.text);
    return read_start(request);
}

static int run(const struct cli_command *command, int argc, char **argv) {
    struct request request = {
        .until = 20, .points = 21, .simulate = NAN, .levels = NAN, .variant = BAL_RCPB_CONSTRAINED};
    cli_common_init(&request.common, command);
    int operands;
    int status = cli_parse(command, argc, argv, &request, 1, &operands);
    if (status < 0 && operands == 0)
        status =
            cli_fail("fluid: name a policy: ballast fluid POLICY, such as pod:d=2 or rcpb:c=2,mu=9 or tabs");
    if (status < 0)
        status = check(&request, argv[1]);
    if (status < 0)
        status = follow(&request);
    free(request.start);
    return status;
}

const struct cli_command cmd_fluid = {
    .name = "fluid",
    .summary = "follow the fluid model of a policy in time, and a simulated system beside it",
    .operands = "POLICY",
    .description =
        "Prints how the fraction s_i of servers with at least i jobs moves in a system of very many servers, "
        "from a\n"
        "starting state on, and what it tends to. For random, pod, pod-scp, pod-sep, pod-ssp, rcpb and jiq, "
        "with\n"
        "exponential sizes of mean 1; and for tabs with sizes in phases and a load that varies, with the "
        "fractions of\n"
        "servers that are idle and on, are in set-up and off.",
    .examples =
        "  ballast fluid pod:d=2 --load 0.95 --until 50\n"
        "  ballast fluid rcpb:c=2,mu=9 --simulate 1000 --figure paths.svg\n"
        "  ballast fluid rcpb:c=100,mup=1 --variant high-memory --from full --until 400 --simulate 10k\n"
        "  ballast fluid tabs:mu=0.1,nu=0.1 --load 0.3 --curve 'sine(0.5,60)' --until 200 --simulate 10k\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
