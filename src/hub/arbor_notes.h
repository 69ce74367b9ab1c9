/*
 * The methods of arbor.* that attach something to conversations: notes, bookmarks, tags; act_arbor.c
 * lists them.
 */
#ifndef ARBOR_HUB_ARBOR_NOTES_H
#define ARBOR_HUB_ARBOR_NOTES_H

#include "hub/method.h"

extern const struct method arbor_note_set, arbor_note_list, arbor_note_delete;
extern const struct method arbor_bookmark_set, arbor_bookmark_list, arbor_bookmark_delete;
extern const struct method arbor_tag_set, arbor_tag_list, arbor_tag_delete;

#endif
