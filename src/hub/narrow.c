/*
 * Narrowing listings to a session or a project, by what stands in the files themselves.
 */
#include "hub/narrow.h"

#include "hub/memory_project.h"
#include "hub/resolve.h"

/* ---- Sessions --------------------------------------------------------------- */

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* An id as it is compared. */
static struct str plain_id(struct call *c, struct str typed)
{
	char *plain = arena_alloc(&c->mem, typed.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < typed.n; i++) {
		if (typed.p[i] == '-')
			continue;
		if (!is_hex(typed.p[i]))
			return (struct str){ 0 };
		plain[n++] = typed.p[i] <= '9' ? typed.p[i] : (char)(typed.p[i] | 32);
	}
	return str_from(plain, n);
}

static enum status read_session(struct call *c, struct str typed, struct str *out, struct err *err)
{
	char id[UUID_TEXT + 1];
	struct session session;

	if ((typed.n && typed.p[0] == '@') || handle_is_like(typed)) {
		if (resolve_session(c->store, typed, &c->mem, &session, err))
			return err_failed(err->status);
		uuid_print(&session.id, id);
		typed = str_from(id, UUID_TEXT);
	}
	*out = plain_id(c, typed);
	if (out->n < LIMIT_ID_PREFIX)
		return err_fail(
			err, STATUS_USAGE,
			"'%.*s' is no session; give %d or more digits of its id, or @ for the last one",
			(int)size_min(typed.n, 60), typed.p ? typed.p : "", LIMIT_ID_PREFIX);
	return STATUS_OK;
}

bool narrow_has_session(const struct narrow *n, struct str id)
{
	size_t at = 0;

	for (size_t i = 0; i < id.n && at < n->session.n; i++) {
		char c = id.p[i] >= 'A' && id.p[i] <= 'F' ? (char)(id.p[i] | 32) : id.p[i];

		if (c == '-')
			continue;
		if (c != n->session.p[at++])
			return false;
	}
	return at == n->session.n;
}

/* ---- Projects --------------------------------------------------------------- */

bool narrow_has_project(const struct narrow *n, struct str path)
{
	struct str wanted = n->project, rest;

	if (!wanted.p)
		return true;
	if (str_eq(path, wanted))
		return true;
	if (str_eq(wanted, STR("/")))
		return str_has_prefix(path, wanted);
	rest = str_sub(path, wanted.n, SIZE_MAX);
	if (str_has_prefix(path, wanted) && rest.n && rest.p[0] == '/')
		return true;
	return path.n > wanted.n && path.p[path.n - wanted.n - 1] == '/' && str_has_suffix(path, wanted);
}

/* Somebody may have typed something into a folder of which there is no session any more. */
static enum status read_project(struct call *c, struct narrow *out, struct err *err)
{
	enum status status = project_of(c, &out->project, err);

	if (status != STATUS_NOT_FOUND)
		return status;
	out->no_project = arena_alloc(&c->mem, sizeof *out->no_project);
	*out->no_project = *err;
	out->project = call_text(c, "project");
	while (out->project.n > 1 && out->project.p[out->project.n - 1] == '/')
		out->project.n--;
	return STATUS_OK;
}

enum status narrow_read(struct call *c, struct narrow *out, struct err *err)
{
	struct str session = call_text(c, "session");

	*out = (struct narrow){ 0 };
	if (read_project(c, out, err))
		return err_failed(err->status);
	return session.p ? read_session(c, session, &out->session, err) : STATUS_OK;
}

enum status narrow_end(const struct narrow *n, bool any, struct err *err)
{
	if (any || !n->no_project)
		return STATUS_OK;
	*err = *n->no_project;
	return err_failed(err->status);
}
