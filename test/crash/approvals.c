/*
 * approvals DIR ROUNDS SEED: questions and answers under kill -9.
 *
 * In each round somebody asks, one question after the other, and two answer what they find, each in their own
 * way. All of them are killed at random moments, and others go on in their place. Before they do something,
 * and after it was done, they say so through a pipe. Then:
 *
 *   - an answer that somebody was told is the answer is in the store, and nobody else was told the same;
 *   - whoever asked and heard "allow" heard what somebody had said for that question, and the record says
 * delivered;
 *   - nobody is waited for who is gone.
 *
 * Prints how many kills found work going on, and fails when something of this does not hold.
 */
#include "approvals.h"
#include "crash.h"
#include "live/question.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What is said ------------------------------------------------------------------ */

enum word { TRIES, WON, HEARD };

struct note {
	enum word word;
	enum approval_decision decision;
	struct uuid id;
};

static void say(int fd, enum word word, const struct approval *a, enum approval_decision decision)
{
	struct note n = { word, decision, a->id };

	if (write(fd, &n, sizeof n) != (ssize_t)sizeof n)
		die("telling", "the pipe is full");
}

/* ---- The processes ------------------------------------------------------------------- */

static NORETURN void ask_on(const char *path, int told)
{
	struct store *s = must_open(path);
	struct question_new q = { .what = test_question() };
	struct err err;
	bool changed;

	for (;;) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct approval a;

		if (question_ask(s, &q, &mem, &a, &err))
			die("asking", err.text);
		while (a.state == APPROVAL_PENDING)
			if (store_wait(s, 250, &changed, &err) || question_look(s, &a, &mem, &err))
				die("waiting", err.text);
		if (question_deliver(s, &a, NULL, &mem, &err))
			die("delivering", err.text);
		say(told, HEARD, &a, a.decision);
	}
}

static enum status take_last(void *ctx, const struct approval *a, bool *go_on, struct err *err)
{
	(void)err;
	(void)go_on;
	*(struct uuid *)ctx = a->id;
	return STATUS_OK;
}

static NORETURN void answer_on(const char *path, int told)
{
	struct store *s = must_open(path);
	struct err err;
	bool changed;

	for (;;) {
		struct arena mem CLEANUP(arena_release) = ARENA_INIT;
		struct approval a = { 0 };
		struct approval_answer answer = test_answer(APPROVAL_BY_PERSON,
							    draw(2) ? APPROVAL_ALLOW : APPROVAL_DENY);
		static const struct uuid none;

		if (approval_each_pending(s, 0, take_last, &a.id, &err))
			die("looking", err.text);
		if (uuid_eq(&a.id, &none)) {
			if (store_wait(s, 20, &changed, &err))
				die("waiting", err.text);
			continue;
		}
		say(told, TRIES, &a, answer.decision);
		if (approval_decide(s, &a, &answer, &mem, &err) == STATUS_OK)
			say(told, WON, &a, answer.decision);
		else if (err.status != STATUS_CONFLICT)
			die("answering", err.text);
	}
}

/* ---- The record of it ------------------------------------------------------------------ */

struct seen {
	struct uuid id;
	bool tried[APPROVAL_DECISIONS];
	int won, heard;
	enum approval_decision winner, answer;
};

struct record {
	struct seen *list;
	size_t count, room;
};

static struct seen *find_seen(struct record *r, const struct uuid *id)
{
	for (size_t i = r->count; i > 0; i--)
		if (uuid_eq(&r->list[i - 1].id, id))
			return &r->list[i - 1];
	if (r->count == r->room) {
		r->room = 2 * r->room + 64;
		r->list = realloc(r->list, r->room * sizeof *r->list);
		if (!r->list)
			die("memory", "none");
	}
	r->list[r->count] = (struct seen){ .id = *id };
	return &r->list[r->count++];
}

static int hear(struct record *r, int fd)
{
	struct note n;
	int count = 0;

	for (; read(fd, &n, sizeof n) == (ssize_t)sizeof n; count++) {
		struct seen *s = find_seen(r, &n.id);

		if (n.word == TRIES)
			s->tried[n.decision] = true;
		if (n.word == WON && s->won++ == 0)
			s->winner = n.decision;
		if (n.word == HEARD && s->heard++ == 0)
			s->answer = n.decision;
	}
	return count;
}

static void check_seen(struct store *s, const struct seen *n)
{
	struct arena mem CLEANUP(arena_release) = ARENA_INIT;
	struct approval a;
	struct err err;

	if (approval_get(s, &n->id, &mem, &a, &err))
		die("a question", err.text);
	if (n->won > 1 || n->heard > 1)
		die("a question", "was answered twice");
	if (n->won && (!a.is_decided || a.decision != n->winner))
		die("an answer", "was lost");
	if (a.is_decided && !n->tried[a.decision])
		die("an answer", "was given by nobody");
	if (n->heard && (a.state != APPROVAL_DELIVERED || a.decision != n->answer))
		die("an answer", "is not the one that was heard");
	if (a.state == APPROVAL_PENDING || a.state == APPROVAL_DECIDED)
		die("a question", "is open, and who asked is gone");
}

/* ---- A round ----------------------------------------------------------------------------- */

enum { PEOPLE = 3 }; /* who asks, and two who answer */

static pid_t begin(const char *path, int who, int told)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork", strerrordesc_np(errno));
	if (pid) {
		draw_state ^= UINT64_C(1) << 32; /* each draws its own numbers */
		return pid;
	}
	draw_state ^= (uint64_t)getpid() << 32;
	if (who == 0)
		ask_on(path, told);
	answer_on(path, told);
}

static void end(pid_t pid)
{
	int how;

	kill(pid, SIGKILL);
	if (waitpid(pid, &how, 0) != pid || !WIFSIGNALED(how) || WTERMSIG(how) != SIGKILL)
		die("somebody", "ended by themselves");
}

static void run_round(const char *path, struct store *s, int *kills, int *hits)
{
	pid_t people[PEOPLE];
	struct record r = { 0 };
	struct err err;
	int ends[2];

	if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) || fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) < 0)
		die("pipe", strerrordesc_np(errno));
	for (int i = 0; i < PEOPLE; i++)
		people[i] = begin(path, i, ends[1]);
	for (uint64_t i = 0, n = 4 + draw(6); i < n; i++) {
		int who = (int)draw(PEOPLE);

		nap_us(4000 + draw(20000));
		end(people[who]);
		++*kills;
		*hits += hear(&r, ends[0]) > 0;
		if (question_look_after(s, &err))
			die("looking after", err.text);
		people[who] = begin(path, who, ends[1]);
	}
	for (int i = 0; i < PEOPLE; i++)
		end(people[i]);
	hear(&r, ends[0]);
	if (question_look_after(s, &err))
		die("looking after", err.text);
	for (size_t i = 0; i < r.count; i++)
		check_seen(s, &r.list[i]);
	free(r.list);
	close(ends[0]);
	close(ends[1]);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 10, kills = 0, hits = 0;
	char path[LIMIT_PATH];
	struct store *s;

	draw_state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	snprintf(path, sizeof path, "%.2000s/approvals.db", argc > 1 ? argv[1] : ".");
	s = must_open(path);
	for (int i = 0; i < rounds; i++)
		run_round(path, s, &kills, &hits);
	printf("%d kills, %d of them in the middle of work\n", kills, hits);
	store_close(s);
	return hits * 2 < kills;
}
