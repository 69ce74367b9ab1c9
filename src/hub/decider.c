/*
 * Two things tell an agent: the variables that clients set for what they run, and the processes above this
 * one (live/inside.h). A variable can be taken away, so it only ever makes less of a caller: a person is who
 * has none of them, and no agent above.
 *
 * Processes count for a caller from far, too (arbor rpc): an agent may have started it.
 */
#include "hub/decider.h"

#include "hub/hub.h"
#include "hub/where.h"
#include "store/named.h"

static enum status find_own(struct call *c, struct decider *d, struct err *err)
{
	struct named named;
	bool found;

	d->has_client = uuid_parse(str_of(env_text("CLAUDE_CODE_SESSION_ID")), &d->client);
	if (!d->has_client)
		return STATUS_OK;
	if (named_of_client(c->store, &d->client, &c->mem, &named, &found, err))
		return err_failed(err->status);
	d->session = found ? named.row : 0;
	return STATUS_OK;
}

enum status decider_find(struct call *c, struct decider *out, struct err *err)
{
	*out = (struct decider){ 0 };
	if (inside_find(c->store, &c->mem, &out->inside, err) || find_own(c, out, err))
		return err_failed(err->status);
	out->person = c->who->person && !out->has_client && !out->inside.count;
	return STATUS_OK;
}

enum status decider_check(const struct decider *d, int64_t session, const struct uuid *client,
			  struct err *err)
{
	bool own = session && (inside_has(&d->inside, session) || session == d->session);

	if (own || (client && d->has_client && uuid_eq(client, &d->client)))
		return err_fail(err, STATUS_DENIED,
				"an agent cannot answer its own questions, nor say that it need not ask");
	return STATUS_OK;
}

enum status decider_may_loosen(struct call *c, int64_t session, const struct uuid *client, struct err *err)
{
	struct decider d;

	if (!(c->who->scopes & 1u << SCOPE_APPROVE))
		return err_fail(err, STATUS_DENIED,
				"%s needs the scope '%s', too, where it lets tools run unasked",
				c->method->name, scope_name(SCOPE_APPROVE));
	return decider_find(c, &d, err) ? err_failed(err->status) : decider_check(&d, session, client, err);
}
