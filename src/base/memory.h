/* Memory that was too short for an answer.
 *
 * A function that answers with a number says NaN where it knows none, and has no other way to say that it
 * could not find out. It remembers that here for the whole process, and whoever is about to show or store
 * what was found asks. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdbool.h>

void bal_memory_lose(void);
bool bal_memory_is_lost(void);

#endif
