/*
 * A fork is a new file with an id of its own, in the client's folder of the project it will work in. Nothing
 * that is there is written to, so nobody who works on the conversation just now is disturbed, and what it is
 * made of comes from the archive: the client may have deleted its file long ago.
 *
 * One that was made before and that nobody has gone on with is what would be written, but for its id: it is used
 * again, or whoever looks around would leave a file behind with every look.
 *
 * Lines keep their uuids. What the client adds comes back into the mirror as another branch of the same tree.
 */
#include "live/forked.h"

#include "base/file.h"
#include "base/newfile.h"
#include "claude/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

struct str forked_home(const struct environment *env, struct arena *mem)
{
	const char *own = environment_get(env, "CLAUDE_CONFIG_DIR"), *home = environment_get(env, "HOME");

	if (own && *own)
		return arena_str(mem, str_of(own));
	return arena_printf(mem, "%s/.claude", home ? home : "");
}

struct str forked_folder(const struct environment *env, struct str folder, struct arena *mem)
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
	return arena_printf(mem, "%.*s/%.*s", STR_ARG(forked_folder(env, folder, mem)),
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

/* ---- One that is there already -------------------------------------------------------- */

/* A file beside the lines that it would have. */
struct comparing {
	int fd;
	int64_t at;
	bool differs;
	char *room;
	size_t cap;
};

static void comparing_release(struct comparing *c)
{
	file_close(&c->fd);
	mem_free(c->room);
}

static enum status compare_line(void *ctx, struct str line, struct err *err)
{
	struct comparing *c = ctx;
	size_t got;

	if (c->differs)
		return STATUS_OK;
	if (line.n > c->cap) {
		c->cap = line.n;
		c->room = mem_resize(c->room, c->cap);
	}
	if (file_read_at(c->fd, c->at, c->room, line.n, &got, err))
		return err_failed(err->status);
	c->differs = got != line.n || memcmp(c->room, line.p, line.n) != 0;
	c->at += (int64_t)line.n;
	return STATUS_OK;
}

/* What cannot be read is not that. */
static bool is_same(struct forking *f, const struct fork_lines *like, int folder, const char *name,
		    const struct uuid *session)
{
	struct fork_lines as CLEANUP(fork_lines_release) = FORK_LINES_INIT;
	struct comparing c CLEANUP(comparing_release) = { .fd = -1 };
	struct err ignored;

	as.session = *session;
	as.cwd = like->cwd;
	c.fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return c.fd >= 0 && !forking_each(f, &as, compare_line, &c, &ignored) && !c.differs;
}

static bool read_name(const char *name, struct uuid *session)
{
	return strlen(name) == UUID_TEXT + strlen(".jsonl") && strcmp(name + UUID_TEXT, ".jsonl") == 0 &&
	       uuid_parse(str_from(name, UUID_TEXT), session);
}

/* Whether one of a folder's files is what has just been written, which is of that size. What the client began is
 * somebody's, also where it has the same lines. */
static bool find_same(struct forking *f, const struct forked_ask *ask, const struct fork_lines *as,
		      const char *folder, int64_t size, struct uuid *session)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	bool found = false;
	struct stat st;

	while (dir && !found && (e = readdir(dir)))
		found = read_name(e->d_name, session) && fork_is_marked(session) &&
			fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
			st.st_size == size && ask->may_be(ask->ctx, session) &&
			is_same(f, as, dirfd(dir), e->d_name, session);
	if (dir)
		closedir(dir);
	return found;
}

enum status forked_write(struct forking *f, const struct forked_ask *ask, struct arena *mem,
			 struct forked *out, struct err *err)
{
	struct fork_lines as CLEANUP(fork_lines_release) = FORK_LINES_INIT;
	struct writing w CLEANUP(writing_release) = { .file = NEWFILE_INIT, .out = out, .cancel = ask->cancel };
	const char *folder = arena_cstr(mem, forked_folder(ask->env, ask->folder, mem));
	struct uuid session;

	*out = (struct forked){ 0 };
	if (uuid_random(&out->session, err))
		return err_failed(err->status);
	fork_mark(&out->session);
	out->path = forked_path(ask->env, ask->folder, &out->session, mem);
	as.session = out->session;
	as.cwd = ask->moves ? ask->folder : (struct str){ 0 };
	if (file_make_dirs(folder, err) ||
	    newfile_begin(&w.file, folder, arena_cstr(mem, file_name(&out->session, mem)), err) ||
	    forking_each(f, &as, write_line, &w, err) || write_title(&w, &as, ask->title, err))
		return err_failed(err->status);
	out->bytes = w.file.size;
	if (ask->may_be && find_same(f, ask, &as, folder, out->bytes, &session)) {
		out->session = session;
		out->path = forked_path(ask->env, ask->folder, &session, mem);
		return STATUS_OK;
	}
	return newfile_finish(&w.file, err);
}
