/* SPDX-License-Identifier: BSD-2-Clause */
/* What slots=auto has found, in words and numbers. */
#include "found_slots.h"

void bli_ngx_found_print(u_char text[BLI_NGX_FOUND_TEXT], const struct bal_concurrency_view *found,
                         uint32_t before) {
    u_char *at = text, *end = text + BLI_NGX_FOUND_TEXT - 1;
    at = before ? ngx_slprintf(at, end, "slots=auto goes from %uD to %uD", before, found->limit)
                : ngx_slprintf(at, end, "slots=auto begins with %uD", found->limit);
    at =
        ngx_slprintf(at, end,
                     ", between %uD and %uD; a step more would add %.1f%% +- %.1f%% of work per time, a step "
                     "less lose %.1f%% +- %.1f%%",
                     found->min, found->max, 100 * found->gain, 100 * found->gain_sd, 100 * found->loss,
                     100 * found->loss_sd);
    *at = 0;
}

void bli_ngx_found_json(struct bli_ngx_text *text, const struct bal_concurrency_view *found) {
    if (found->limit == 0)
        return;
    bli_ngx_text_printf(
        text,
        ",\"found\":{\"min\":%uD,\"max\":%uD,\"rate\":%.3f,\"gain\":%.4f,\"gain_sd\":%.4f,"
        "\"loss\":%.4f,\"loss_sd\":%.4f,\"raised\":%uL,\"lowered\":%uL,\"speed_changes\":%uL}",
        found->min, found->max, found->rate, found->gain, found->gain_sd, found->loss, found->loss_sd,
        found->raised, found->lowered, found->changes);
}

const struct bli_ngx_found_number bli_ngx_found_number[BLI_NGX_FOUND_NUMBERS] = {
    {"rate", "Requests per second that end with all slots in use, as estimated."},
    {"gain", "What a step more slots would add to the work per time, as a share."},
    {"gain_sd", "Standard deviation of the gain."},
    {"loss", "What a step fewer slots would take from the work per time, as a share."},
    {"loss_sd", "Standard deviation of the loss."},
};

double bli_ngx_found_value(const struct bal_concurrency_view *found, int number) {
    const double values[BLI_NGX_FOUND_NUMBERS] = {found->rate, found->gain, found->gain_sd, found->loss,
                                                  found->loss_sd};
    return values[number];
}
