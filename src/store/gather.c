/*
 * SQLite writes each page of a commit to the log (WAL) by two calls of the system, 24 bytes that say which
 * page it is and the page. These never lie on whole pages of the system's, which makes them dearer. Of a
 * large sync that is a fifth of the writer's time. Here they are put together, and written when there are
 * many or a commit ends.
 *
 * SQLite calls a file's functions through a pointer in it (sqlite3_file.pMethods). For the log of one
 * connection it points to those here as long as that lasts; they keep what comes, and call SQLite's own for
 * the rest.
 *
 * When is what written? The last page of a commit is marked as that: its 24 bytes say how large the file is
 * then, and nothing else has a number there. With this page all is written, and when that fails, so does
 * SQLite's write and with it the commit. Only after that SQLite tells others of it. So
 *
 *   (1) nothing that was committed is ever here only;
 *   (2) whoever reads the log, this connection included, finds what it looks for: others look for nothing
 *       that is not committed, and before we read, what is here is written;
 *   (3) bytes come into the log in the order in which SQLite wrote them;
 *   (4) nothing is written without the lock: what a transaction leaves here that is rolled back is dropped,
 *       since others may have written in its place by the time we write again.
 *
 * Only writes that go on where the one before ended are kept. Before any other, and before the file is read,
 * synchronised or cut, what is here is written.
 */
#include "store/gather.h"

#include "store/db.h"

#include <string.h>

enum {
	HEAD = 24,	   /* bytes in front of each page in the log */
	HEAD_SIZE_AT = 4,  /* where they say the size of the file, four bytes; 0 = more pages follow */
	ROOM = 127 * 1024, /* SQLite's own writes fewer than 128 KiB at once, and nothing of more */
};

struct gather {
	sqlite3_io_methods methods; /* first: where a file points to */
	const sqlite3_io_methods *own;
	sqlite3 *db;
	sqlite3_file *log;
	sqlite3_int64 from; /* where what is kept begins in the file */
	sqlite3_int64 next; /* where the last write ended */
	int count;	    /* of bytes that are kept */
	int page;	    /* bytes of the last page: one goes together with what stands in front of it */
	bool ends;	    /* the next write is the last page of a commit */
	char bytes[ROOM];
};

static struct gather *gather_of(sqlite3_file *f)
{
	struct gather *g;

	memcpy(&g, &f->pMethods, sizeof g);
	return g;
}

static int write_out(struct gather *g)
{
	int n = g->count;

	g->count = 0;
	return n ? g->own->xWrite(g->log, g->bytes, n, g->from) : SQLITE_OK;
}

/* Four bytes of what stands in front of a page: the size of the file after a commit, in its last page. */
static bool ends_commit(const char *head)
{
	static const char more[4];

	return memcmp(head + HEAD_SIZE_AT, more, sizeof more) != 0;
}

static void keep(struct gather *g, const void *p, int n)
{
	if (g->count == 0)
		g->from = g->next;
	memcpy(g->bytes + g->count, p, (size_t)n);
	g->count += n;
}

/* A page is kept when what stands in front of it is, and that when it goes on where the last write ended.
 * Whatever SQLite corrects further up in the log does not. */
static int gather_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at)
{
	struct gather *g = gather_of(f);
	bool goes_on = at == g->next, is_head = n == HEAD, ends = g->ends;
	int code;

	g->ends = false;
	if (!goes_on || g->count + n + (is_head ? g->page : 0) > ROOM) {
		code = write_out(g);
		if (code != SQLITE_OK)
			return code;
	}
	g->next = at;
	if (goes_on && (is_head || g->count)) {
		keep(g, p, n);
		g->ends = is_head && ends_commit(p);
		code = ends ? write_out(g) : SQLITE_OK;
	} else {
		code = g->own->xWrite(f, p, n, at);
	}
	g->next += n;
	if (!is_head)
		g->page = n;
	return code;
}

static int gather_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at)
{
	struct gather *g = gather_of(f);
	int code = write_out(g);

	return code == SQLITE_OK ? g->own->xRead(f, p, n, at) : code;
}

static int gather_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	struct gather *g = gather_of(f);
	int code = write_out(g);

	return code == SQLITE_OK ? g->own->xTruncate(f, size) : code;
}

static int gather_sync(sqlite3_file *f, int flags)
{
	struct gather *g = gather_of(f);
	int code = write_out(g);

	return code == SQLITE_OK ? g->own->xSync(f, flags) : code;
}

static int gather_size(sqlite3_file *f, sqlite3_int64 *out)
{
	struct gather *g = gather_of(f);
	int code = write_out(g);

	return code == SQLITE_OK ? g->own->xFileSize(f, out) : code;
}

static void drop(void *ctx)
{
	struct gather *g = ctx;

	g->count = 0;
	g->ends = false;
	g->next = -1;
}

struct gather *gather_begin(struct store *writer)
{
	struct gather *g;
	sqlite3_file *log = NULL;

	if (sqlite3_file_control(writer->db, NULL, SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK || !log ||
	    !log->pMethods)
		return NULL;
	g = mem_alloc(sizeof *g);
	g->own = log->pMethods;
	g->db = writer->db;
	g->log = log;
	g->next = -1;
	g->methods = *g->own;
	g->methods.xWrite = gather_write;
	g->methods.xRead = gather_read;
	g->methods.xTruncate = gather_truncate;
	g->methods.xSync = gather_sync;
	g->methods.xFileSize = gather_size;
	log->pMethods = &g->methods;
	sqlite3_rollback_hook(g->db, drop, g);
	return g;
}

void gather_end(struct gather *g)
{
	if (!g)
		return;
	sqlite3_rollback_hook(g->db, NULL, NULL);
	g->log->pMethods = g->own;
	mem_free(g);
}
