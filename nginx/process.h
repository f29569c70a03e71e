/* This process among those of its nginx: who it is, whether another one still lives, and bells by which they
 * wake each other.
 *
 * A bell is an eventfd. All are made by the master before it forks, stay as they are over reloads, and are
 * inherited: whoever knows the slot of a process in the master's table can ring it. A process whose slot has
 * no bell, and one that was forked before a bell was made, is not woken; those who wait look by themselves
 * every WAIT_MS (zone.c). */
#ifndef NGINX_PROCESS_H
#define NGINX_PROCESS_H

#include "compat.h"

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of a clock that does not go back. */
uint64_t bal_ngx_now(void);
/* Nanoseconds of the wall clock: greater at each start. */
uint64_t bal_ngx_boot(void);

/* When a process was started, in the system's ticks: with its number that is who it is, for numbers are used
 * again. 0: not known. */
uint64_t bal_ngx_start_time(uint64_t pid);
/* Is it surely not there any longer? The lower half of the time of its start will do. */
bool bal_ngx_is_dead(uint64_t pid, uint64_t start);

/* In the master: bells for so many processes; fewer, if the system has no more. */
void bal_ngx_bells_make(ngx_uint_t count, ngx_log_t *log);
/* In a process: `rung` is called when somebody rings; and at the end. */
ngx_int_t bal_ngx_bell_hang(ngx_cycle_t *cycle, void (*rung)(void));
void bal_ngx_bell_take_down(void);
/* Wakes the process of that slot (ngx_process_slot there). */
void bal_ngx_bell_ring(uint32_t slot);

#endif
