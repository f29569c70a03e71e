/* SPDX-License-Identifier: BSD-2-Clause */
/* Classes of jobs: their shares, the most urgent first, separated by commas. */
#include "ballast/model.h"
#include "ballast/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static enum bal_code bad_classes(const char *text, struct bal_error *err, const char *why) {
    return bal_fail(err, BAL_E_RANGE,
                    "classes '%.80s': %s; write the shares of 2 to 8 classes, the most urgent first, such as "
                    "0.2,0.3,0.5",
                    text, why);
}

enum bal_code bli_model_parse_classes(const char *text, struct bli_model *model, struct bal_error *err) {
    double share[BLI_JOB_CLASSES_MAX] = {0}, sum = 0;
    uint32_t count = 0;
    for (const char *rest = text;;) {
        const size_t length = strcspn(rest, ",");
        if (count == BLI_JOB_CLASSES_MAX)
            return bad_classes(text, err, "there are more than 8 classes");
        if (!bli_share_parse(rest, length, &share[count]) || !(share[count] > 0 && share[count] < 1))
            return bad_classes(text, err, "a share must be a number above 0 and below 1");
        sum += share[count++];
        if (rest[length] == 0)
            break;
        rest += length + 1;
    }
    if (count < 2)
        return bad_classes(text, err, "there is one class only");
    if (!(fabs(sum - 1) <= 1e-9))
        return bad_classes(text, err, "the sum of the shares must be 1");
    model->classes = true;
    model->high = share[0];
    model->class_count = count > 2 ? count : 0;
    memcpy(model->share, share, sizeof share);
    return BAL_OK;
}

size_t bli_model_print_classes(const struct bli_model *model, char *text, size_t size) {
    if (!model->classes)
        return (size_t)snprintf(text, size, "none");
    const double two[] = {model->high, 1 - model->high};
    const double *share = model->class_count > 2 ? model->share : two;
    size_t length = 0;
    for (uint32_t i = 0; i < bli_model_classes(model); i++) {
        char number[BLI_NUMBER_TEXT];
        bli_number_print(share[i], number);
        const size_t room = length < size ? size - length : 0;
        length += (size_t)snprintf(room ? text + length : NULL, room, "%s%s", i ? "," : "", number);
    }
    return length;
}
