/*
 * The tables as JSON Schema (2020-12), for programs that want to know what
 * there is.
 */
#ifndef ARBOR_HUB_SCHEMA_H
#define ARBOR_HUB_SCHEMA_H

#include "base/json_write.h"
#include "hub/method.h"

/* An object schema of the parameters; of a result or item. */
void schema_params(struct json_writer *w, const struct method *m);
void schema_result(struct json_writer *w, const struct method *m);

/* Everything about one method: name, summary, scope, streaming, params, result,
 * examples. */
void schema_method(struct json_writer *w, const struct activation *a, const struct method *m);

/* Everything about one kind of handle: its name as handles have it, what it stands for, its meta in
 * order, and an object schema of what it resolves to. */
void schema_handle(struct json_writer *w, const struct activation *a, const struct handle_kind *k);

#endif
