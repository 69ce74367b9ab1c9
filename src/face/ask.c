/*
 * Asking before something that cannot be undone.
 *
 * A method that asks (hub/method.h) is run twice: first to say what it would do, and, when the
 * answer is yes, to do it. What it has said is not printed a second time. Where nobody can be asked,
 * the hub refuses what was not said to be meant.
 */
#include "face/face.h"
#include "face/view.h"

#include <stdio.h>
#include <unistd.h>

static const struct param *switch_of(const struct params *p, const char *name)
{
	return params_find(p, str_of(name));
}

static bool is_on(const struct params *p, const char *name)
{
	return params_value(p, switch_of(p, name))->number != 0;
}

static enum status set(struct params *p, const char *name, bool on, struct err *err)
{
	const struct param *q = switch_of(p, name);

	params_unset(p, q);
	return params_set_text(p, q, on ? STR("true") : STR("false"), err);
}

/* Whatever is no yes is a no, the end of the input too. */
static bool is_yes(struct out *o, const char *question)
{
	char answer[16] = "";

	out_flush(o);
	progress_erase(o);
	fprintf(stderr, "%s [y/N] ", question);
	fflush(stderr);
	if (!fgets(answer, sizeof answer, stdin))
		fputc('\n', stderr);
	return answer[0] == 'y' || answer[0] == 'Y';
}

bool ask_is_due(const struct face *f, const struct method *m, const struct params *p)
{
	return m->asks && !is_on(p, "yes") && !is_on(p, "dry_run") && !f->json && !f->print0 &&
	       f->out.terminal && f->out.err_terminal && isatty(STDIN_FILENO);
}

enum status ask_and_run(struct face *f, const char *activation, const struct method *m, struct params *p,
			struct err *err)
{
	f->out.may_page = false; /* the question stands below */
	if (set(p, "dry_run", true, err) || face_run(f, activation, m, p, err))
		return err_failed(err->status);
	if (!is_yes(&f->out, m->asks))
		return err_fail(err, STATUS_CANCELLED, "nothing was done");
	if (set(p, "dry_run", false, err) || set(p, "yes", true, err))
		return err_failed(err->status);
	f->silent = true;
	return face_run(f, activation, m, p, err);
}
