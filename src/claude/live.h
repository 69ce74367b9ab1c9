/*
 * Clients that run: sessions/PID.json, which a client writes when it starts and removes
 * when it ends. One that is killed leaves its file behind, so the process has to be asked,
 * too. Pure: bytes of either in, what they say out.
 */
#ifndef ARBOR_CLAUDE_LIVE_H
#define ARBOR_CLAUDE_LIVE_H

#include "base/arena.h"
#include "base/uuid.h"

struct live {
	int64_t pid;
	struct uuid session;
	struct str proc_start; /* when the process started, as /proc has it; p NULL = unknown */
	struct str cwd, version, kind, name, status; /* p NULL = unknown */
	int64_t started_at;			     /* ms; 0 = unknown */
};

/* Texts are in the arena. False when it names no process or no session. */
bool live_read(struct str text, struct arena *mem, struct live *out);

/* Whether the process whose /proc/PID/stat this is runs that client: it is no other one
 * that got the same number later, and has not ended. */
bool live_is_process(const struct live *l, struct str stat);

#endif
