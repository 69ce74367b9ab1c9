/*
 * Typed history.
 *
 * A line is an object with `display`; everything else may be missing. Times are numbers of
 * milliseconds; a text is taken too. What was pasted is an object of objects, by number,
 * each with its text in `content`; long texts the client keeps elsewhere, and then there is
 * only their hash.
 */
#include "claude/typed.h"

#include "base/clock.h"

void typed_reader_release(struct typed_reader *r)
{
	json_release(&r->json);
	arena_release(&r->mem);
}

static bool read_time(struct typed_reader *r, uint32_t node, int64_t *out)
{
	return json_to_i64(&r->json, node, out) || time_parse(json_string_in(&r->json, node, &r->mem), out);
}

bool typed_read(struct typed_reader *r, struct str line, struct typed *out)
{
	const struct json *j = &r->json;
	struct err ignored;
	uint32_t root, pasted;

	arena_release(&r->mem);
	if (json_read(&r->json, line, LIMIT_JSON_DEPTH, &ignored))
		return false;
	root = json_root(j);
	pasted = json_get(j, root, STR("pastedContents"));
	*out = (struct typed){
		.display = json_string_in(j, json_get(j, root, STR("display")), &r->mem),
		.project = json_string_in(j, json_get(j, root, STR("project")), &r->mem),
		.session = json_string_in(j, json_get(j, root, STR("sessionId")), &r->mem),
		.pasted = json_is(j, pasted, JSON_OBJECT) && json_count(j, pasted) ? pasted : JSON_NONE,
	};
	out->has_time = read_time(r, json_get(j, root, STR("timestamp")), &out->at);
	return out->display.p != NULL;
}

void typed_text(const struct typed_reader *r, const struct typed *t, struct buf *out)
{
	const struct json *j = &r->json;

	buf_str(out, t->display);
	for (uint32_t k = json_first(j, t->pasted); k != json_end(j, t->pasted); k = json_next(j, k + 1)) {
		buf_byte(out, '\n');
		json_string(j, json_get(j, k + 1, STR("content")), out);
	}
}
