/*
 * For programs that kill others: random numbers that a seed brings back, pauses, and ends with a reason.
 */
#ifndef ARBOR_TEST_CRASH_H
#define ARBOR_TEST_CRASH_H

#include "store/store.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static uint64_t draw_state;

static inline uint64_t draw(uint64_t below)
{
	uint64_t z = draw_state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (z ^ z >> 31) % below;
}

static inline void nap_us(uint64_t us)
{
	struct timespec t = { (time_t)(us / 1000000), (long)(us % 1000000) * 1000 };

	nanosleep(&t, NULL);
}

static inline NORETURN void die(const char *what, const char *why)
{
	fprintf(stderr, "# %d: %s: %s\n", (int)getpid(), what, why);
	_exit(1);
}

static inline struct store *must_open(const char *path)
{
	struct store *s = NULL;
	struct err err;

	if (store_open(&(struct store_options){ .path = path, .create = true }, &s, &err))
		die("store", err.text);
	return s;
}

#endif
