/*
 * Handles: names of things that some activation, here or elsewhere, can show.
 *
 *     claudecode@1.0.0::tool_use:6f1c…:toolu_01AB:Bash
 *     {"plugin_id":"51b330e5-…","version":"1.0.0","method":"tool_use","meta":["6f1c…","toolu_01AB","Bash"]}
 *
 * plugin is a name or a UUID, version what it was made by, method the kind of thing, meta
 * what it takes to find it: the first is always its id. A handle is data: whoever holds one has
 * no right by it, and what it names may be gone.
 *
 * All parts are UTF-8, of any characters. In the text form `%XX` stands for a byte that means
 * something else there: '%', ':', control characters; in front of "::" some more. A list of
 * meta may be empty and may hold empty texts: "p@1::m" has none, "p@1::m:" one, which is
 * empty. So handle_parse(handle_print(h)) is h, whatever it holds.
 *
 * In front of the plugin, with a '.' behind it, may stand the path of the hub that is to be asked and
 * no other: "team.ann.claudecode@1.0.0::…", as JSON "hub":"team.ann".
 *
 * The older form {"source","source_version","identifier","metadata"} is kept and printed as
 * it was given. Its plugin is the source; what its identifier means is the plugin's affair
 * (hub/method.h, struct handle_kind).
 */
#ifndef ARBOR_BASE_HANDLE_H
#define ARBOR_BASE_HANDLE_H

#include "base/arena.h"
#include "base/json_write.h"
#include "base/uuid.h"

struct handle {
	struct str hub;	    /* dotted path of the only hub that is to answer; empty = any */
	struct str plugin;  /* a name, or a UUID as text */
	struct str version; /* "1.0.0" */
	struct str method;  /* empty in the older form */
	const struct str *meta;
	size_t meta_count;
	struct str older;      /* the older form as it was given; p NULL = it is none */
	struct str identifier; /* of the older form */
};

/* The meta with this number; p NULL when it has not so many. */
struct str handle_meta(const struct handle *h, size_t index);

/*
 * Reads any form; what *out points to is in the arena. STATUS_FORMAT with where and what,
 * STATUS_LIMIT when it is longer than LIMIT_HANDLE or has more than LIMIT_HANDLE_META fields.
 */
enum status handle_parse(struct str text, struct arena *mem, struct handle *out, struct err *err) MUST_USE;

/* Whether a text was meant to be one, and not an id or a path: "name@1…::", or an object. */
bool handle_is_like(struct str text);

/* Appends the text form; of one in the older form what was given. */
void handle_print(const struct handle *h, struct buf *out);
struct str handle_text(const struct handle *h, struct arena *mem);

/* The JSON form as one value; the plugin by its id, empty meta left out. */
void handle_write(const struct handle *h, struct json_writer *w);

/* Whether it could be printed and read again: nothing empty that must not be, UTF-8, within the
 * limits. What handle_parse() gives always can. */
enum status handle_check(const struct handle *h, struct err *err) MUST_USE;

/* The same thing named in the same way: hub, plugin (by its id), version, method and every meta in
 * order; of the older form the text as it was given. */
bool handle_eq(const struct handle *a, const struct handle *b);

/* The number in front of the first '.' of a version. False when there is none. */
bool handle_major(struct str version, uint64_t *out);

/* v5(OID, "name@major"): the same for every version of a major. A plugin that is a UUID is its
 * own. Where the version has no major it is all of the version that counts. */
struct uuid handle_plugin_id(const struct handle *h);
struct uuid plugin_id_of(struct str name, struct str version);

#endif
