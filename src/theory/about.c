/* The table of theory: which row is whose. */
#include "theory/about.h"

#include <string.h>

/* Each file has an array of rows whose last one has no name. */
#define BAL_ABOUT(name) extern const struct bal_about bal_about_##name[];
#include "theory/list.def"
#undef BAL_ABOUT
#define BAL_ABOUT(name) bal_about_##name,
static const struct bal_about *const files[] = {
#include "theory/list.def"
};
#undef BAL_ABOUT

const struct bal_about *bal_about_at(size_t i) {
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (const struct bal_about *row = files[f]; row->policy; row++)
            if (i-- == 0)
                return row;
    return NULL;
}

const struct bal_about *bal_about(const struct bal_policy_spec *policy) {
    static const struct bal_about nothing;
    const struct bal_about *row;
    for (size_t i = 0; (row = bal_about_at(i)); i++)
        if (strcmp(row->policy, policy->policy->name) == 0)
            return row;
    return &nothing;
}
