/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes of one nginx: the identity of this one, whether another one is alive, and how they notify
 * each other.
 *
 * Each has an eventfd. The master creates all of them before it forks; they survive reloads and are
 * inherited. So a process can notify any other whose slot in the master's table it knows. A process whose
 * slot has no eventfd, or that was forked before its eventfd was created, is not woken; processes with
 * waiting requests check by themselves every WAIT_MS (zone.c). */
#ifndef NGINX_PROCESS_H
#define NGINX_PROCESS_H

#include "compat.h"

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of a monotonic clock. */
uint64_t bli_ngx_now(void);
/* A number that differs at each start, whatever the clocks show; not 0. */
uint64_t bli_ngx_boot(void);
/* Of the wall clock, in ns: for people. */
uint64_t bli_ngx_wall(void);

/* When a process was started, in clock ticks. It identifies a process together with the pid, because pids are
 * reused. 0: not known. */
uint64_t bli_ngx_start_time(uint64_t pid);
/* Is the process certainly dead? The lower half of its start time is enough. */
bool bli_ngx_is_dead(uint64_t pid, uint64_t start);

/* In the master: eventfds for so many processes; fewer, if the system cannot provide more. */
void bli_ngx_notify_create(ngx_uint_t count, ngx_log_t *log);
/* In a process: `on_notify` is called when another process notifies this one, `on_quit` as soon as nginx
 * begins a graceful shutdown; and at the end. */
ngx_int_t bli_ngx_notify_listen(ngx_cycle_t *cycle, void (*on_notify)(void), void (*on_quit)(void));
void bli_ngx_notify_close(void);
/* Wakes the process of that slot (ngx_process_slot there). */
void bli_ngx_notify_worker(uint32_t slot);

#endif
