/*
 * The head of a session is where its last agent left the file, so the two differ only when somebody else has
 * written to it: another name of the same conversation, or a person with the client. A prompt would then be
 * the answer to what its session never heard.
 *
 * One exception: an agent whose driver was killed has written, and nobody has moved the head. What was
 * submitted since and never began changes nothing about that.
 */
#include "live/resume.h"

#include "query/head.h"
#include "store/stream.h"

/* The last one that was over and tells: of it there is a head, or there should have been. */
static enum status look_at(void *ctx, const struct stream *stream, bool *go_on, struct err *err)
{
	bool *is_left = ctx;

	(void)err;
	*is_left = stream->state == STREAM_INTERRUPTED;
	*go_on = !*is_left && !stream->has_head;
	return STATUS_OK;
}

enum status resume_check(struct store *s, const struct named *session, struct err *err)
{
	const struct named_head *head = &session->head;
	char id[UUID_TEXT + 1];
	struct named_head file;
	bool is_left = false;

	if (!head->has_session || !head->has_head || !head->has_line)
		return STATUS_OK;
	if (head_of_session(s, &head->session, &file, err) ||
	    stream_each(s, session->row, look_at, &is_left, err))
		return err_failed(err->status);
	if (is_left || !file.has_head || uuid_eq(&file.head, &head->head) ||
	    uuid_eq(&file.line, &head->line))
		return STATUS_OK;
	uuid_print(&head->session, id);
	return err_fail(err, STATUS_CONFLICT,
			"somebody else has gone on with its conversation since: 'arbor adopt' gives %s another "
			"name, which goes on from there",
			id);
}
