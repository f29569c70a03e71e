/* SPDX-License-Identifier: BSD-2-Clause */
/* Are the sanitizers at work? They look for other mistakes than wrong numbers and make all of it ten times
 * slower: what is repeated for the sake of numbers need not be repeated as often. */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if !defined SANITIZED && defined __SANITIZE_ADDRESS__
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
