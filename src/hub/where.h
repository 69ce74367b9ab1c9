/*
 * Where things are, as the environment and the settings say: the same for the command
 * line and for a program that uses the library. The environment is read here and, as far as
 * it is a terminal's affair, in face.
 */
#ifndef ARBOR_HUB_WHERE_H
#define ARBOR_HUB_WHERE_H

#include "hub/settings.h"
#include "store/store.h"

/* NULL when unset or empty. */
const char *env_text(const char *name);

/* Reads all settings but flags, for the user and the folder we are in. What *out points to is
 * in the arena. */
enum status where_load_settings(struct arena *mem, const struct log *log, const struct settings **out,
				struct err *err) MUST_USE;

/* Other hubs that the settings name (children.h): NULL when there are none. */
struct children;
struct children *where_find_hubs(const struct settings *settings);

/* What programs that we start may know of our environment; `home` as the settings have it. */
struct environment;
void where_environment(const struct settings *settings, struct environment *out);

struct store_place {
	char path[LIMIT_PATH];
	bool own_folder; /* nobody chose another: its folder is Arbor's alone */
	bool given;	 /* the caller said it */
};

/* `given` is what the caller says, p NULL = nothing; settings may be NULL. */
enum status where_find_store(struct str given, const struct settings *settings, struct store_place *out,
			     struct err *err) MUST_USE;

struct where_opening {
	bool make; /* when there is none */
	const struct log *log;
	const atomic_bool *cancel;
	/* While what follows from the archive is made anew, as after an update of Arbor; may be NULL. */
	void (*progress)(void *ctx, int64_t done, int64_t total);
	void *ctx;
};

/* Opens a store for methods: what is derived is there and this program's. */
enum status where_open_store(const struct store_place *place, const struct where_opening *o,
			     struct store **out, struct err *err) MUST_USE;

#endif
