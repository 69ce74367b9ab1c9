/*
 * Raw mode, the alternate screen, and every way out of them.
 *
 * A terminal left in raw mode is useless to whoever sits there, so it is given back by
 * screen_close() and, for signals that end the program and for crashes, by a handler that does
 * nothing else and lets the signal happen. What the handler needs is the one variable here.
 * Nothing is lost by ending at any moment: whoever has a screen only reads.
 *
 * Signals that change something (another size, stop, continue) are blocked and read from a
 * descriptor, so nothing is interrupted by them. SIGKILL and SIGSTOP cannot be helped; after the
 * latter the terminal is taken again.
 */
#include "face/screen.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

/* Alternate screen, no wrapping at the edge, pasted text between marks. */
#define ENTER "\033[?1049h\033[?7l\033[?2004h"
#define LEAVE "\033[?2004l\033[?7h\033[?25h\033[0m\033[?1049l"

static const int deadly[] = { SIGHUP,  SIGINT,	SIGQUIT, SIGTERM, SIGPIPE, SIGALRM,
			      SIGXCPU, SIGABRT, SIGSEGV, SIGBUS,  SIGILL,  SIGFPE };

/* For the handler. */
static struct {
	atomic_int tty; /* -1 = nothing has to be given back */
	struct termios modes;
	struct sigaction usual[COUNT(deadly)];
} held = { .tty = -1 };

/* ---- In and out ------------------------------------------------------------------- */

/* Only what a signal handler may call. */
static void give_back(void)
{
	int tty = atomic_exchange(&held.tty, -1);
	ssize_t ignored;

	if (tty < 0)
		return;
	ignored = write(tty, LEAVE, sizeof LEAVE - 1);
	(void)ignored;
	tcsetattr(tty, TCSADRAIN, &held.modes);
}

static bool is_crash(int number)
{
	return number == SIGABRT || number == SIGSEGV || number == SIGBUS || number == SIGILL ||
	       number == SIGFPE;
}

/* A crash happens again when this returns, for whoever looked for it before; what was sent is sent
 * again. */
static void on_deadly(int number, siginfo_t *info, void *context)
{
	(void)context;
	give_back();
	for (size_t i = 0; i < COUNT(deadly); i++)
		if (deadly[i] == number && is_crash(number))
			sigaction(number, &held.usual[i], NULL);
	if (!is_crash(number))
		signal(number, SIG_DFL);
	if (info->si_code <= 0 || !is_crash(number))
		raise(number);
}

static void guard(void)
{
	struct sigaction action = { .sa_sigaction = on_deadly, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < COUNT(deadly); i++) {
		sigaction(deadly[i], &action, &held.usual[i]);
		if (held.usual[i].sa_handler == SIG_IGN)
			sigaction(deadly[i], &held.usual[i], NULL);
	}
}

static void unguard(void)
{
	for (size_t i = 0; i < COUNT(deadly); i++)
		sigaction(deadly[i], &held.usual[i], NULL);
}

/* `held.modes` are how the terminal was. */
static void take(struct screen *s)
{
	struct termios raw = held.modes;
	struct err ignored;

	raw.c_iflag &= (tcflag_t) ~(BRKINT | ICRNL | IGNCR | INLCR | INPCK | ISTRIP | IXON);
	raw.c_lflag &= (tcflag_t) ~(ECHO | ICANON | IEXTEN | ISIG);
	raw.c_oflag &= (tcflag_t)~OPOST;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	atomic_store(&held.tty, s->tty);
	tcsetattr(s->tty, TCSADRAIN, &raw);
	(void)!file_write_all(s->tty, STR(ENTER), &ignored);
	frame_release(&s->seen);
}

static enum status watch_signals(struct screen *s, struct err *err)
{
	sigset_t waited;

	sigemptyset(&waited);
	sigaddset(&waited, SIGWINCH);
	sigaddset(&waited, SIGTSTP);
	sigaddset(&waited, SIGCONT);
	s->signals = signalfd(-1, &waited, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0)
		return err_fail_errno(err, errno, "waiting for signals");
	sigprocmask(SIG_BLOCK, &waited, &s->mask);
	return STATUS_OK;
}

enum status screen_open(struct screen *s, struct err *err)
{
	s->tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (s->tty < 0 || tcgetattr(s->tty, &held.modes))
		return err_fail(err, STATUS_USAGE, "there is no terminal");
	if (!terminal_is_able())
		return err_fail(err, STATUS_USAGE, "the terminal can do no more than show characters");
	if (watch_signals(s, err))
		return err_failed(err->status);
	guard();
	take(s);
	return STATUS_OK;
}

void screen_close(struct screen *s)
{
	if (s->signals >= 0) {
		give_back();
		unguard();
		sigprocmask(SIG_SETMASK, &s->mask, NULL);
	}
	file_close(&s->signals);
	file_close(&s->tty);
	frame_release(&s->seen);
	*s = (struct screen)SCREEN_INIT;
}

void screen_suspend(struct screen *s)
{
	sigset_t stop;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	give_back();
	/* All of the job, as the terminal does it. Where nobody could continue it, nothing stops. */
	kill(0, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	take(s);
}

void screen_resume(struct screen *s)
{
	take(s);
}

/* ---- Events ----------------------------------------------------------------------- */

static unsigned read_signals(struct screen *s)
{
	struct signalfd_siginfo info;
	unsigned events = 0;

	while (read(s->signals, &info, sizeof info) == (ssize_t)sizeof info)
		events |= info.ssi_signo == SIGWINCH  ? SCREEN_RESIZED
			  : info.ssi_signo == SIGTSTP ? SCREEN_STOP
						      : SCREEN_CONTINUED;
	return events;
}

unsigned screen_wait(struct screen *s, int ms)
{
	struct pollfd fds[] = { { .fd = s->tty, .events = POLLIN }, { .fd = s->signals, .events = POLLIN } };
	unsigned events = 0;

	if (poll(fds, COUNT(fds), ms) <= 0)
		return SCREEN_NOTHING;
	if (fds[0].revents & POLLIN)
		events |= SCREEN_INPUT;
	else if (fds[0].revents)
		events |= SCREEN_GONE;
	if (fds[1].revents)
		events |= read_signals(s);
	return events;
}

bool screen_has_input(const struct screen *s)
{
	struct pollfd fd = { .fd = s->tty, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

bool screen_read(struct screen *s, struct keys *k)
{
	size_t room;
	char *into = keys_reserve(k, &room);
	ssize_t got = read(s->tty, into, room);

	if (got > 0)
		keys_grew(k, (size_t)got);
	return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

enum status screen_show(struct screen *s, struct frame *f, struct err *err)
{
	struct buf out CLEANUP(buf_release) = BUF_INIT(64 * MIB);

	frame_write(f, s->seen.rows ? &s->seen : NULL, &out);
	frame_release(&s->seen);
	s->seen = *f;
	*f = (struct frame){ 0 };
	return file_write_all(s->tty, buf_as_str(&out), err);
}
