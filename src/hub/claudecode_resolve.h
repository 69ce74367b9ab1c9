/*
 * What handles of claudecode stand for: each kind's resolver (hub/handle_resolve.h).
 */
#ifndef ARBOR_HUB_CLAUDECODE_RESOLVE_H
#define ARBOR_HUB_CLAUDECODE_RESOLVE_H

#include "hub/handle_resolve.h"

enum status claudecode_session(struct resolving *r, struct err *err);
enum status claudecode_agent(struct resolving *r, struct err *err);
enum status claudecode_turn(struct resolving *r, struct err *err);
enum status claudecode_message(struct resolving *r, struct err *err);
enum status claudecode_block(struct resolving *r, struct err *err);
enum status claudecode_event(struct resolving *r, struct err *err);
enum status claudecode_line(struct resolving *r, struct err *err);

/* What a block's handle stands for (claudecode_block()). */
extern const struct field claudecode_block_fields[];

/* Writes the members of an object but for one. */
void put_members(struct json_writer *w, const struct json *j, uint32_t object, struct str but);

#endif
