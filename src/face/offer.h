/*
 * Commands that are offered, so that they can be typed as they stand.
 */
#ifndef ARBOR_FACE_OFFER_H
#define ARBOR_FACE_OFFER_H

#include "face/face.h"

/* Whether it is here, as the folder of a conversation may be. */
bool offer_is_folder(struct str path);

/* Appends 'arbor resume' with these words: with the folder one is in where that of the conversation is not here, and
 * with the store. Where nothing is known of its folder, there is none. */
void offer_resume(const struct face *f, struct buf *out, const char *words, struct str project);

#endif
