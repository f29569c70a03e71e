/* Functions that must be inlined into each loop that is specialised for a model: there an argument that says
 * what the model needs is a constant, and what is not needed costs nothing. Left to itself the compiler takes
 * the larger of them out of a loop again, now one and now another, and a fifth of the speed goes with it. */
#ifndef BASE_FOLDED_H
#define BASE_FOLDED_H

#define FOLDED static inline __attribute__((always_inline))

#endif
