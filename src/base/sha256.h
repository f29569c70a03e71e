/* SPDX-License-Identifier: BSD-2-Clause */
/* SHA-256 (FIPS 180-4), the number that sha256sum prints of a file. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>

enum { BLI_SHA256_TEXT = 65 }; /* 64 hexadecimal digits and the end */

/* Of a block in memory; O(size), nothing is allocated. */
void bli_sha256(const void *data, size_t size, char text[BLI_SHA256_TEXT]);

#endif
