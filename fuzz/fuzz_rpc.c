/*
 * Fuzzes what another program may write to us: lines of JSON-RPC, cut into pieces anyhow.
 *
 * What has to hold: lines are the same however they are cut, and those that are too long are told
 * as such; a message that is read has what its kind needs; what is made of it (an error, a
 * route, a method, an answer) can be written as one line that is read again.
 */
#include "base/base64.h"
#include "base/split.h"
#include "hub/far_method.h"
#include "hub/route.h"
#include "live/rpc.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 4096 };

static void must(bool condition)
{
	if (!condition)
		abort();
}

/* ---- Lines ----------------------------------------------------------------------- */

struct lines {
	struct buf all; /* each with its end; a NUL for one that is too long */
	struct str text;
};

static bool keep_line(void *ctx, const struct split_line *line)
{
	struct lines *l = ctx;

	must(line->length == (int64_t)line->text.n || !line->text.p);
	must(line->text.n <= LONGEST && (line->text.p || line->length > LONGEST));
	must(!line->text.p || !memchr(line->text.p, '\n', line->text.n));
	must(memcmp(l->text.p + line->offset, line->text.p ? line->text.p : "", line->text.n) == 0);
	if (line->text.p)
		buf_str(&l->all, line->text);
	else
		buf_byte(&l->all, '\0');
	buf_byte(&l->all, '\n');
	return true;
}

static void split_in(struct str text, size_t piece, struct lines *out)
{
	struct split s;

	split_begin(&s, LONGEST, 0, keep_line, out);
	for (size_t at = 0; at < text.n; at += piece)
		must(split_add(&s, str_sub(text, at, piece)));
	must(split_end(&s));
	split_release(&s);
}

static void check_lines(struct str text)
{
	struct lines whole = { .all = BUF_INIT(SIZE_MAX / 4), .text = text };
	struct lines parts = { .all = BUF_INIT(SIZE_MAX / 4), .text = text };

	split_in(text, text.n, &whole);
	split_in(text, 1 + (text.n ? (uint8_t)text.p[0] % 17 : 0), &parts);
	must(whole.all.n == parts.all.n && (!whole.all.n || memcmp(whole.all.p, parts.all.p, whole.all.n) == 0));
	buf_release(&whole.all);
	buf_release(&parts.all);
}

/* ---- Messages --------------------------------------------------------------------- */

/* One line, which is a message of that kind. */
static void must_read(const struct buf *line, enum rpc_kind kind, struct str id)
{
	struct arena mem = ARENA_INIT;
	struct json j = JSON_INIT;
	struct rpc_message m;
	struct err err;

	must(!line->failed && line->n && memchr(line->p, '\n', line->n) == line->p + line->n - 1);
	must(rpc_read(&j, buf_as_str(line), &mem, &m, &err) == STATUS_OK);
	must(m.kind == kind && str_eq(kind == RPC_NOTICE ? rpc_subject(&j, &m) : m.id, id));
	json_release(&j);
	arena_release(&mem);
}

static void check_request(const struct json *j, const struct rpc_message *m, struct arena *mem)
{
	struct buf line = BUF_INIT(SIZE_MAX / 4);
	struct route_told told;
	struct err err;

	must(m->id.n && m->method.p);
	rpc_put_request(&line, m->id, m->method, json_raw(j, m->params), json_raw(j, m->route));
	must_read(&line, RPC_REQUEST, m->id);
	if (route_read(j, m->route, mem, &told, &err) == STATUS_OK) {
		must(told.route.count <= LIMIT_HUB_HOPS && told.timeout_ms >= 0);
		must(told.scopes == ~0u || !(told.scopes & 1u << SCOPE_LOCAL));
	}
	buf_release(&line);
}

static void check_notice(const struct json *j, const struct rpc_message *m, struct arena *mem)
{
	struct buf line = BUF_INIT(SIZE_MAX / 4), bytes = BUF_INIT(SIZE_MAX / 4);
	struct str id = rpc_subject(j, m), text = json_string_in(j, json_get(j, m->params, STR("base64")), mem);
	uint32_t item = json_get(j, m->params, STR("item"));
	struct method far;
	struct err err;

	must(!m->id.n);
	if (item != JSON_NONE) {
		rpc_put_item(&line, id, json_raw(j, item));
		must_read(&line, RPC_NOTICE, id);
		must(far_method_read(json_raw(j, item), STR("a.b"), mem, &far, &err) == STATUS_OK);
	}
	if (base64_decode(&bytes, text)) {
		buf_clear(&line);
		base64_encode(&line, buf_as_str(&bytes));
		must(str_eq(buf_as_str(&line), text) || !text.n);
	}
	buf_release(&bytes);
	buf_release(&line);
}

static void check_answer(const struct json *j, const struct rpc_message *m)
{
	struct buf line = BUF_INIT(SIZE_MAX / 4);
	struct err err;

	if (m->kind == RPC_RESULT) {
		must(m->id.n && m->result != JSON_NONE);
		rpc_put_result(&line, m->id, json_raw(j, m->result));
		must_read(&line, RPC_RESULT, m->id);
	} else {
		rpc_error(j, m, &err);
		must(err.status != STATUS_OK && err.status < STATUS_COUNT && err.status != STATUS_WAIT &&
		     err.status != STATUS_INTERNAL);
		rpc_put_error(&line, m->id, rpc_code(err.status), &err);
		must_read(&line, RPC_ERROR, m->id);
	}
	buf_release(&line);
}

static void check_message(struct str text)
{
	struct arena mem = ARENA_INIT;
	struct json j = JSON_INIT;
	struct rpc_message m;
	struct err err;

	if (rpc_read(&j, text, &mem, &m, &err) == STATUS_OK) {
		if (m.kind == RPC_REQUEST)
			check_request(&j, &m, &mem);
		else if (m.kind == RPC_NOTICE)
			check_notice(&j, &m, &mem);
		else
			check_answer(&j, &m);
	} else {
		must(err.status == STATUS_FORMAT || err.status == STATUS_USAGE || err.status == STATUS_LIMIT);
	}
	json_release(&j);
	arena_release(&mem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = str_from((const char *)data, size);

	check_lines(rest);
	while (rest.p && rest.n)
		check_message(str_cut(rest, '\n', &rest));
	return 0;
}
