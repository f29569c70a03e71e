/* jsq, and pod-memory, of which less is known. */
#include "theory/about.h"

const struct bal_about bal_about_jsq[] = {{.policy = "jsq",
                                           .any_dispatchers = true,
                                           .fifo = bal_known_no_wait,
                                           .critical_load = bal_critical_always},
                                          {.policy = "pod-memory", .critical_load = bal_critical_always},
                                          {0}};
