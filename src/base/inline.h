/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions that must be inlined into each loop that is specialised for a model: there an argument that
 * describes what the model needs is a constant, and what is not needed costs nothing. Without this the
 * compiler moves some of the larger ones out of a loop again, which costs a fifth of the speed. */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

#define ALWAYS_INLINE static inline __attribute__((always_inline))

#endif
