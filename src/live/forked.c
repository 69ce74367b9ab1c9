/*
 * A fork is a new file with an id of its own, in the client's folder of the project it will work in. Nothing
 * that is there is written to, so nobody who works on the conversation just now is disturbed, and what it is
 * made of comes from the archive: the client may have deleted its file long ago.
 *
 * Lines keep their uuids. What the client adds comes back into the mirror as another branch of the same tree.
 */
#include "live/forked.h"

#include "base/file.h"
#include "base/newfile.h"
#include "claude/folder.h"

struct str forked_home(const struct environment *env, struct arena *mem)
{
	const char *own = environment_get(env, "CLAUDE_CONFIG_DIR"), *home = environment_get(env, "HOME");

	if (own && *own)
		return arena_str(mem, str_of(own));
	return arena_printf(mem, "%s/.claude", home ? home : "");
}

static struct str folder_of(const struct environment *env, struct str folder, struct arena *mem)
{
	struct buf name CLEANUP(buf_release) = BUF_INIT(CLAUDE_FOLDER_MAX + 1);
	struct str home = forked_home(env, mem);

	claude_encode_cwd(folder, &name);
	return arena_printf(mem, "%.*s/projects/%.*s", STR_ARG(home), STR_ARG(buf_as_str(&name)));
}

static struct str file_name(const struct uuid *session, struct arena *mem)
{
	char id[UUID_TEXT + 1];

	uuid_print(session, id);
	return arena_printf(mem, "%s.jsonl", id);
}

struct str forked_path(const struct environment *env, struct str folder, const struct uuid *session,
		       struct arena *mem)
{
	return arena_printf(mem, "%.*s/%.*s", STR_ARG(folder_of(env, folder, mem)),
			    STR_ARG(file_name(session, mem)));
}

struct writing {
	struct newfile file;
	struct forked *out;
	const atomic_bool *cancel;
};

static void writing_release(struct writing *w)
{
	newfile_release(&w->file);
}

static enum status write_line(void *ctx, struct str line, struct err *err)
{
	struct writing *w = ctx;

	if (w->cancel && atomic_load(w->cancel))
		return err_fail(err, STATUS_CANCELLED, "stopped");
	w->out->lines++;
	return newfile_add(&w->file, line, err);
}

static enum status write_title(struct writing *w, const struct fork_lines *as, struct str title,
			       struct err *err)
{
	struct buf line CLEANUP(buf_release) = BUF_INIT(MIB);

	if (!title.p)
		return STATUS_OK;
	fork_title(as, title, &line);
	return write_line(w, buf_as_str(&line), err);
}

enum status forked_write(struct forking *f, const struct forked_ask *ask, struct arena *mem,
			 struct forked *out, struct err *err)
{
	struct fork_lines as CLEANUP(fork_lines_release) = FORK_LINES_INIT;
	struct writing w CLEANUP(writing_release) = { .file = NEWFILE_INIT, .out = out, .cancel = ask->cancel };
	const char *folder = arena_cstr(mem, folder_of(ask->env, ask->folder, mem));

	*out = (struct forked){ 0 };
	if (uuid_random(&out->session, err))
		return err_failed(err->status);
	out->path = forked_path(ask->env, ask->folder, &out->session, mem);
	as.session = out->session;
	as.cwd = ask->moves ? ask->folder : (struct str){ 0 };
	if (file_make_dirs(folder, err) ||
	    newfile_begin(&w.file, folder, arena_cstr(mem, file_name(&out->session, mem)), err) ||
	    forking_each(f, &as, write_line, &w, err) || write_title(&w, &as, ask->title, err) ||
	    newfile_finish(&w.file, err))
		return err_failed(err->status);
	out->bytes = w.file.size;
	return STATUS_OK;
}
