/*
 * The guard is forked and not executed. A library has no program of its own that it
 * could run, and what the guard does needs nothing that was loaded. It costs pages
 * that we change while it lives.
 *
 *     we ──orders──► guard ──fork──► child ──► whatever it starts
 *        ◄─reports─── (subreaper)    own group; group and session may change below it
 *
 * How it knows that we are gone: `orders` ends, which also happens when we are
 * killed with -9. Another process may have inherited our end of it without
 * executing anything (a program that forks around the library): a descriptor of
 * our process (pidfd) tells it even then, where the kernel has those.
 * PR_SET_PDEATHSIG would not do: it tells of the death of a thread, not of a
 * process, and only one generation hears it. It is set for the child all the same,
 * against the death of the guard.
 *
 * How it kills everything: it is a subreaper, so whatever loses its parent becomes its
 * child, however it called setsid(2) and forked twice. It kills its children and waits
 * for them; theirs are its own then; and so on until it has none. Which these are,
 * /proc says. What cannot be killed (a program of another user, through sudo) is left
 * after a while.
 *
 * Who kills the guard itself: its child dies with it, and what that had started goes to the next subreaper
 * above. A process that has no other children may be that (`alone`), and then kills what comes to it. Any other
 * could not tell them from its own.
 *
 * Invariants: behind fork(2) only functions are called that a signal handler may call,
 * since another thread may have held any lock, so no memory is allocated; all signals
 * are blocked in the guard, so that only SIGKILL ends it; it holds no descriptor but
 * its own four, so that it keeps no pipe, file or lock of ours alive.
 */
#include "live/guard.h"

#include "base/clock.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_END, WRITE_END, ENDS };
enum { FIRST_FREE = 3 }; /* behind the standard streams */
enum { ORDER_END = 'e' };

struct pipes {
	int in[ENDS], out[ENDS], errors[ENDS], orders[ENDS], reports[ENDS];
	int owner; /* a pidfd of our own process; -1 = the kernel has none */
};

/* ==== In the guard and the child: nothing that allocates or locks ================ */

/* Where the guard keeps its descriptors. */
enum { AT_ORDERS, AT_REPORTS, AT_DEATHS, AT_OWNER };

static void report(int fd, enum guard_news news, int value)
{
	struct guard_report r = { .news = (int32_t)news, .value = value };
	ssize_t ignored = write(fd, &r, sizeof r);

	(void)ignored; /* nobody may be there any more */
}

/* ---- The child ---- */

static void usual_signals(void)
{
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		sigaction(i, &usual, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static NORETURN void become_child(const struct guard_start *what, const struct pipes *p, pid_t guard)
{
	char *const *arguments, *const *environment;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL);
	if (getppid() != guard)
		_exit(127);
	if (chdir(what->folder) && (what->only_there || chdir("/"))) {
		report(p->reports[WRITE_END], GUARD_FAILED, errno);
		_exit(127);
	}
	usual_signals();
	dup2(p->in[READ_END], STDIN_FILENO);
	dup2(p->out[WRITE_END], STDOUT_FILENO);
	dup2(p->errors[WRITE_END], STDERR_FILENO);
	if (p->reports[WRITE_END] == FIRST_FREE)
		fcntl(FIRST_FREE, F_SETFD, FD_CLOEXEC);
	else
		dup3(p->reports[WRITE_END], FIRST_FREE, O_CLOEXEC);
	closefrom(FIRST_FREE + 1);
	/* It takes them as they were before there was const. */
	memcpy(&arguments, &what->arguments, sizeof arguments);
	memcpy(&environment, &what->environment, sizeof environment);
	execve(what->path, arguments, environment);
	report(FIRST_FREE, GUARD_FAILED, errno);
	_exit(127);
}

/* ---- Killing everything ---- */

static char *put_number(char *to, long number)
{
	char digits[24];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (n)
		*to++ = digits[--n];
	return to;
}

static long number_at(const char *from, const char *end)
{
	long number = 0;

	while (from < end && *from >= '0' && *from <= '9')
		number = number * 10 + (*from++ - '0');
	return number;
}

/* From /proc/PID/stat: "12 (any thing) S 11 ...". 0 when it is gone. */
static pid_t parent_of(long pid)
{
	char name[64] = "/proc/", stat[512];
	char *at = put_number(name + strlen(name), pid);
	const char *end;
	ssize_t n;
	int fd;

	memcpy(at, "/stat", sizeof "/stat");
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, stat, sizeof stat);
	close(fd);
	end = n > 0 ? memrchr(stat, ')', (size_t)n) : NULL;
	return end && end + 4 < stat + n ? (pid_t)number_at(end + 4, stat + n) : 0;
}

/* Whether one that was found can be killed at all; also when none was found. */
static bool kill_children(pid_t own)
{
	_Alignas(struct dirent64) char entries[8192];
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool found = false, killed = false;
	ssize_t n;

	while (proc >= 0 && (n = getdents64(proc, entries, sizeof entries)) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
			long pid = number_at(e->d_name, e->d_name + strlen(e->d_name));

			at += e->d_reclen;
			if (pid < 2 || parent_of(pid) != own)
				continue;
			found = true;
			killed = kill((pid_t)pid, SIGKILL) == 0 || killed;
		}
	if (proc >= 0)
		close(proc);
	return killed || !found;
}

static void drain_deaths(void)
{
	struct signalfd_siginfo ignored[8];

	while (read(AT_DEATHS, ignored, sizeof ignored) > 0)
		;
}

/* Takes who has died. Whether the child was among them; *left whether anybody is left. */
static bool take_dead(pid_t child, bool *left)
{
	bool ended = false;
	int how = 0;
	pid_t pid;

	drain_deaths();
	while ((pid = waitpid(-1, &how, WNOHANG)) > 0)
		if (pid == child) {
			report(AT_REPORTS, GUARD_ENDED, how);
			ended = true;
		}
	*left = pid == 0;
	return ended;
}

static void kill_all(pid_t child, bool ended)
{
	enum { FIRST_LOOK_MS = 5, LAST_LOOK_MS = 1000, MOST_IN_VAIN = 10 };
	struct pollfd deaths = { .fd = AT_DEATHS, .events = POLLIN };
	int in_vain = 0, look_ms = FIRST_LOOK_MS;
	bool left;

	if (!ended)
		kill(-child, SIGKILL);
	for (;;) {
		take_dead(ended ? 0 : child, &left);
		if (!left || in_vain > MOST_IN_VAIN)
			return;
		in_vain = kill_children(getpid()) ? 0 : in_vain + 1;
		if (poll(&deaths, 1, look_ms) == 0 && look_ms < LAST_LOOK_MS)
			look_ms *= 2;
	}
}

/* ---- Waiting ---- */

/* Until the child has ended or everything has to go. Whether it has ended. */
static bool watch_over(pid_t child, bool has_owner)
{
	struct pollfd f[] = {
		{ .fd = AT_ORDERS, .events = POLLIN },
		{ .fd = AT_DEATHS, .events = POLLIN },
		{ .fd = has_owner ? AT_OWNER : -1, .events = POLLIN },
	};
	bool left;
	char order;

	for (;;) {
		if (poll(f, COUNT(f), -1) < 0 && errno != EINTR)
			return false;
		if (f[1].revents && take_dead(child, &left))
			return true;
		if (f[2].revents)
			return false;
		if (f[0].revents && read(AT_ORDERS, &order, 1) != 1)
			return false;
		if (f[0].revents)
			kill(-child, SIGTERM);
	}
}

/* All come from above the standard streams, so that none is overwritten before it is moved. */
static void take_places(const struct pipes *p, int deaths)
{
	dup2(p->orders[READ_END], AT_ORDERS);
	dup2(p->reports[WRITE_END], AT_REPORTS);
	dup2(deaths, AT_DEATHS);
	if (p->owner >= 0)
		dup2(p->owner, AT_OWNER);
	closefrom(p->owner >= 0 ? AT_OWNER + 1 : AT_OWNER);
}

static int hear_of_deaths(void)
{
	sigset_t deaths;
	int fd, above;

	sigemptyset(&deaths);
	sigaddset(&deaths, SIGCHLD);
	fd = signalfd(-1, &deaths, SFD_CLOEXEC | SFD_NONBLOCK);
	above = fcntl(fd, F_DUPFD_CLOEXEC, AT_OWNER + 1);
	return above;
}

static NORETURN void stand_guard(const struct guard_start *what, const struct pipes *p)
{
	int deaths = hear_of_deaths();
	pid_t own = getpid(), child;
	bool ended;

	setsid();
	signal(SIGCHLD, SIG_DFL); /* who ignores it is told of no death */
	prctl(PR_SET_NAME, "arbor-guard");
	prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	child = deaths < 0 ? -1 : fork();
	if (child == 0)
		become_child(what, p, own);
	if (child < 0) {
		report(p->reports[WRITE_END], GUARD_FAILED, errno);
		_exit(0);
	}
	setpgid(child, child); /* both do it: whoever comes first */
	take_places(p, deaths);
	if (chdir("/") == 0)
		report(AT_REPORTS, GUARD_STARTED, child);
	ended = watch_over(child, p->owner >= 0);
	kill_all(child, ended);
	_exit(0);
}

/* ==== In our own process ======================================================= */

static void close_pipe(int ends[ENDS])
{
	file_close(&ends[READ_END]);
	file_close(&ends[WRITE_END]);
	ends[READ_END] = ends[WRITE_END] = -1;
}

static void pipes_release(struct pipes *p)
{
	close_pipe(p->in);
	close_pipe(p->out);
	close_pipe(p->errors);
	close_pipe(p->orders);
	close_pipe(p->reports);
	file_close(&p->owner);
}

/* Who has no standard streams gets the lowest numbers for pipes, and the child needs these
 * for its own. */
static bool move_above(int *fd)
{
	int above;

	if (*fd >= FIRST_FREE)
		return true;
	above = fcntl(*fd, F_DUPFD_CLOEXEC, FIRST_FREE);
	close(*fd);
	*fd = above;
	return above >= 0;
}

/* `own` is the end that we keep. */
static bool make_pipe(int ends[ENDS], int own)
{
	if (pipe2(ends, O_CLOEXEC)) {
		ends[READ_END] = ends[WRITE_END] = -1;
		return false;
	}
	return move_above(&ends[READ_END]) && move_above(&ends[WRITE_END]) &&
	       fcntl(ends[own], F_SETFL, O_NONBLOCK) == 0;
}

static enum status make_pipes(struct pipes *p, struct err *err)
{
	if (!make_pipe(p->in, WRITE_END) || !make_pipe(p->out, READ_END) || !make_pipe(p->errors, READ_END) ||
	    !make_pipe(p->orders, WRITE_END) || !make_pipe(p->reports, READ_END))
		return err_fail_errno(err, errno, "a pipe to a child process");
	p->owner = (int)syscall(SYS_pidfd_open, getpid(), 0);
	if (p->owner >= 0 && !move_above(&p->owner))
		return err_fail_errno(err, errno, "a descriptor for a child process");
	return STATUS_OK;
}

static int keep(int ends[ENDS], int own)
{
	int fd = ends[own];

	ends[own] = -1;
	return fd;
}

enum status guard_start(const struct guard_start *what, struct guard *out, struct err *err)
{
	struct pipes p CLEANUP(pipes_release) = {
		.in = { -1, -1 },
		.out = { -1, -1 },
		.errors = { -1, -1 },
		.orders = { -1, -1 },
		.reports = { -1, -1 },
		.owner = -1,
	};
	sigset_t all, before;
	int number;
	pid_t pid;

	if (make_pipes(&p, err))
		return err_failed(err->status);
	if (what->alone)
		prctl(PR_SET_CHILD_SUBREAPER, 1UL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = fork();
	if (pid == 0)
		stand_guard(what, &p);
	number = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (pid < 0)
		return err_fail_errno(err, number, "a process to guard %s", what->path);
	*out = (struct guard){
		.pid = pid,
		.in = keep(p.in, WRITE_END),
		.out = keep(p.out, READ_END),
		.errors = keep(p.errors, READ_END),
		.orders = keep(p.orders, WRITE_END),
		.reports = keep(p.reports, READ_END),
		.alone = what->alone,
	};
	return STATUS_OK;
}

void guard_ask_to_end(const struct guard *g)
{
	char order = ORDER_END;

	if (g->orders >= 0)
		file_write_quietly(g->orders, str_from(&order, 1)); /* who is gone needs no order */
}

static void shut(int *fd)
{
	file_close(fd);
	*fd = -1;
}

void guard_kill(struct guard *g)
{
	shut(&g->orders);
}

enum guard_heard guard_hear(const struct guard *g, struct guard_report *out)
{
	ssize_t n;

	if (g->reports < 0)
		return GUARD_GONE;
	do {
		n = read(g->reports, out, sizeof *out);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof *out)
		return GUARD_NEWS;
	return n < 0 && errno == EAGAIN ? GUARD_NOTHING : GUARD_GONE;
}

static bool wait_until_gone(const struct guard *g, int wait_ms)
{
	int64_t until = clock_monotonic_ns() + (int64_t)wait_ms * 1000000;
	struct pollfd f = { .fd = g->reports, .events = POLLIN };
	struct guard_report ignored;
	enum guard_heard heard;

	while ((heard = guard_hear(g, &ignored)) != GUARD_GONE) {
		int64_t left = (until - clock_monotonic_ns()) / 1000000;

		if (heard == GUARD_NOTHING && left <= 0)
			return false;
		if (heard == GUARD_NOTHING)
			poll(&f, 1, (int)left);
	}
	return true;
}

static void reap_guard(struct guard *g, bool gone)
{
	/* Whose reports have ended is about to end. Somebody else may have taken it already. */
	while (g->pid && waitpid(g->pid, NULL, gone ? 0 : WNOHANG) < 0 && errno == EINTR)
		;
	g->pid = 0;
}

/* They are ours when the guard is dead, and not before. */
void guard_kill_left(struct guard *g, int wait_ms)
{
	enum { LOOK_MS = 5 };
	int64_t until = clock_monotonic_ns() + (int64_t)wait_ms * 1000000;
	pid_t pid;

	if (!g->alone)
		return;
	reap_guard(g, true);
	while (clock_monotonic_ns() < until) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 && errno == ECHILD)
			return;
		kill_children(getpid());
		poll(NULL, 0, LOOK_MS);
	}
}

void guard_end(struct guard *g, int wait_ms)
{
	bool gone;

	guard_kill(g);
	shut(&g->in);
	shut(&g->out);
	shut(&g->errors);
	gone = wait_until_gone(g, wait_ms);
	shut(&g->reports);
	if (gone)
		guard_kill_left(g, wait_ms);
	reap_guard(g, gone);
}
