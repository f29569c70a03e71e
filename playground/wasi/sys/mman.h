/* SPDX-License-Identifier: BSD-2-Clause */
/* WASI maps no memory. Callers include this for hints to the kernel only, and work without them. */
