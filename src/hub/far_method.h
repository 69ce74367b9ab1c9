/*
 * A method of another hub as one of ours would be declared: made of what `hub.schema` says of
 * it. So a command line reads its options, and tells what is wrong with them, as it does for
 * our own.
 */
#ifndef ARBOR_HUB_FAR_METHOD_H
#define ARBOR_HUB_FAR_METHOD_H

#include "base/arena.h"
#include "hub/method.h"

/* `item` is what hub.schema gives. What a schema does not say in a way we know is taken as any JSON.
 * Everything *out points to is in `mem`. It cannot be run. */
enum status far_method_read(struct str item, struct str name, struct arena *mem, struct method *out,
			    struct err *err) MUST_USE;

/* One of which nothing is known but its name: it takes an object. */
void far_method_unknown(struct str name, struct arena *mem, struct method *out);

#endif
