/*
 * The methods of claudecode.*, for its table.
 */
#ifndef ARBOR_HUB_CLAUDECODE_METHODS_H
#define ARBOR_HUB_CLAUDECODE_METHODS_H

#include "hub/method.h"

extern const struct method claudecode_create, claudecode_get, claudecode_list, claudecode_rename,
	claudecode_delete, claudecode_adopt, claudecode_set_model, claudecode_set_mode;
extern const struct method claudecode_fork, claudecode_create_from_tree, claudecode_resume, claudecode_set_head;
extern const struct method claudecode_chat, claudecode_chat_async, claudecode_interrupt, claudecode_cancel,
	claudecode_queue, claudecode_drive, claudecode_continue;
extern const struct method claudecode_streams, claudecode_poll, claudecode_tail, claudecode_compact;
extern const struct method claudecode_cursor_create, claudecode_cursor_advance, claudecode_cursor_list,
	claudecode_cursor_delete;
extern const struct method claudecode_get_conversation, claudecode_get_block, claudecode_list_branches,
	claudecode_render_context, claudecode_compare, claudecode_merge_note;

#endif
