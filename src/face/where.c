/*
 * The store, the settings and the hubs of a command line: found as everywhere (hub/where.c), with
 * --store before anything else and the progress shown to a person.
 */
#include "face/face.h"

#include "hub/where.h"

/* After an update of Arbor, what follows from the archive may have to be made anew. */
static void on_rebuild(void *ctx, int64_t done, int64_t total)
{
	struct face *f = ctx;

	progress_report(&f->out, "updating the index", done, total);
}

enum status face_open_store_for(const struct face *f, const struct where_opening *o, struct store **out,
				struct err *err)
{
	struct store_place place;

	if (where_find_store(f->store, f->settings, &place, err))
		return err_failed(err->status);
	return where_open_store(&place, o, out, err);
}

enum status face_open_store(void *face, bool make, struct store **out, struct err *err)
{
	struct face *f = face;
	struct where_opening o = {
		.make = make, .log = &f->log, .cancel = f->cancel, .progress = on_rebuild, .ctx = f
	};

	return face_open_store_for(f, &o, out, err);
}

enum status face_load_settings(struct face *f, struct err *err)
{
	return where_load_settings(&f->mem, &f->log, &f->settings, err);
}
