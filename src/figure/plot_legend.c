/* SPDX-License-Identifier: BSD-2-Clause */
/* The legend: a sample of each group and of what measured and theory look like, and its text. */
#include "figure/plot_private.h"

static void sample_line(const struct pen *pen, const struct entry *entry, const char *colour, bool wash) {
    fputs("set arrow from ", pen->out);
    bli_pen_place(pen, entry->left, entry->middle);
    fputs(" to ", pen->out);
    bli_pen_place(pen, entry->left + entry->sample, entry->middle);
    fputs(" nohead front", pen->out);
    if (wash)
        bli_pen_wash(pen, colour);
    else
        bli_pen_line(pen, colour);
    fputs(entry->kind == ENTRY_BOUND ? BLI_PEN_BOUND : "", pen->out);
    if (entry->kind == ENTRY_GROUP && !(wash && pen->layout->use[entry->group].theory))
        fputs(bli_pen_dashes_of(&pen->layout->use[entry->group], entry->group), pen->out);
    putc('\n', pen->out);
}

static void sample_shape(const struct pen *pen, const struct entry *entry, const char *colour, int shape,
                         double size) {
    fputs("set label '' at ", pen->out);
    bli_pen_place(pen, entry->left + entry->sample / 2, entry->middle);
    fputs(" point", pen->out);
    bli_pen_shape(pen, shape, size);
    bli_pen_colour(pen, colour);
    bli_pen_line_width(pen, 0.8);
    putc('\n', pen->out);
}

static void sample_point(const struct pen *pen, const struct entry *entry, const char *colour, int shape) {
    sample_shape(pen, entry, colour, shape, BLI_PEN_SHAPE_SIZE);
}

static void sample_ring(const struct pen *pen, const struct entry *entry) {
    fputs("set label '' at ", pen->out);
    bli_pen_place(pen, entry->left + entry->sample / 2, entry->middle);
    fputs(" point", pen->out);
    bli_pen_shape(pen, BLI_PEN_RING, BLI_PEN_RING_SIZE);
    bli_pen_colour(pen, INK);
    bli_pen_line_width(pen, 0.6);
    putc('\n', pen->out);
}

static void sample_box(const struct pen *pen, const struct entry *entry) {
    fputs("set object rectangle from ", pen->out);
    bli_pen_place(pen, entry->left + entry->sample / 2 - 4, entry->middle + 3.5);
    fputs(" to ", pen->out);
    bli_pen_place(pen, entry->left + entry->sample / 2 + 4, entry->middle - 3.5);
    fputs(" front", pen->out);
    if (entry->kind == ENTRY_GROUP)
        bli_pen_fill(pen, entry->group);
    else
        fputs(" fc rgb '" BLI_PEN_GREY "' fs solid 1 noborder", pen->out);
    putc('\n', pen->out);
}

static void sample_group(const struct pen *pen, const struct entry *entry) {
    const struct group_use *use = &pen->layout->use[entry->group];
    const char *colour = bli_pen_colour_of(entry->group);
    if (use->bars)
        sample_box(pen, entry);
    const bool wash = bli_pen_is_washed(pen->layout, use);
    if (wash)
        sample_line(pen, entry, colour, true);
    if (!use->bars && (use->theory || (use->line && !wash)))
        sample_line(pen, entry, colour, false);
    if (use->points)
        sample_point(pen, entry, colour, bli_pen_shape_of(entry->group));
    double size;
    const int mark = bli_pen_mark_of(entry->group, &size);
    if (use->points && mark)
        sample_shape(pen, entry, "#ffffff", mark, size);
}

/* What the words measured and theory stand for is shown as it is in the first group that has them, without
 * its colour. */
static const struct group_use *first_use(const struct layout *layout, bool theory) {
    for (unsigned g = 0; g <= BLI_FIGURE_GROUPS_MAX; g++) {
        const struct group_use *use = &layout->use[g];
        if (theory ? use->theory : use->points || use->line || use->bars)
            return use;
    }
    return &layout->use[BLI_GROUP_INK];
}

static void sample_role(const struct pen *pen, const struct entry *entry) {
    const struct group_use *measured = first_use(pen->layout, false), *theory = first_use(pen->layout, true);
    const bool in_ink = theory->bars || theory == &pen->layout->use[BLI_GROUP_INK];
    switch (entry->kind) {
    case ENTRY_UNSTABLE:
        sample_point(pen, entry, BLI_PEN_GREY, BLI_PEN_CROSS);
        return;
    case ENTRY_DOUBTED:
        sample_ring(pen, entry);
        return;
    case ENTRY_UNDECIDED:
        sample_point(pen, entry, BLI_PEN_GREY, bli_pen_shape_of(0) - 1);
        return;
    case ENTRY_THEORY:
        sample_line(pen, entry, in_ink ? INK : BLI_PEN_GREY, false);
        return;
    case ENTRY_BOUND:
        sample_line(pen, entry, BLI_PEN_GREY, false);
        return;
    case ENTRY_MEASURED:
        if (measured->bars)
            sample_box(pen, entry);
        else if (measured->line)
            sample_line(pen, entry, BLI_PEN_GREY, bli_pen_is_washed(pen->layout, measured));
        else
            sample_point(pen, entry, BLI_PEN_GREY, bli_pen_shape_of(0));
        return;
    case ENTRY_GROUP:
    case ENTRY_NOTE:
        return;
    }
}

void bli_plot_legend(const struct pen *pen) {
    for (size_t i = 0; i < pen->layout->entries; i++) {
        const struct entry *entry = &pen->layout->entry[i];
        if (entry->kind == ENTRY_GROUP)
            sample_group(pen, entry);
        else
            sample_role(pen, entry);
        bli_pen_label(pen, entry->text, entry->left + entry->sample + SAMPLE_GAP, entry->middle, "left",
                      false);
    }
}
