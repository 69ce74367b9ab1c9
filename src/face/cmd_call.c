/*
 * arbor call: any method of the hub, in JSON. What programs use until there is a
 * socket, and people when there is no command for something.
 */
#include "face/face.h"

#include "hub/activations.h"

static enum status run(struct face *f, struct err *err);

const struct command command_call = {
	.name = "call",
	.summary = "Call a method by its name, with JSON in and out",
	.usage = "NAME [JSON]",
	.text = "Each result is one line of JSON. 'hub.methods' lists what there is, 'hub.schema'\n"
		"says what each takes and gives. Bytes, as of 'storage.export', are written as they\n"
		"are.\n",
	.examples = "  arbor call hub.methods\n"
		    "  arbor call storage.generations '{\"file\":\"history.jsonl\"}'\n",
	.least_words = 1,
	.most_words = 2,
	.run = run,
};

static enum status print_item(void *ctx, struct str json, struct err *err)
{
	struct face *f = ctx;
	struct buf safe CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);

	if (!f->out_is_terminal)
		return out_bytes(json, err) ? err_failed(err->status) : out_bytes(STR("\n"), err);
	term_filter(&safe, json, TERM_LINE);
	return out_bytes(buf_as_str(&safe), err) ? err_failed(err->status) : out_bytes(STR("\n"), err);
}

static enum status print_bytes(void *ctx, struct str bytes, struct err *err)
{
	struct face *f = ctx;
	struct buf safe CLEANUP(buf_release) = BUF_INIT(SIZE_MAX / 4);

	if (!f->out_is_terminal)
		return out_bytes(bytes, err);
	term_filter(&safe, bytes, TERM_TEXT);
	return out_bytes(buf_as_str(&safe), err);
}

static enum status open_store(void *ctx, bool make, struct store **out, struct err *err)
{
	return face_open_store(ctx, make, out, err);
}

static enum status run(struct face *f, struct err *err)
{
	struct hub_caller who = {
		.sink = { .item = print_item, .bytes = print_bytes, .ctx = f },
		.log = &f->log,
		.cancel = f->cancel,
		.scopes = ~0u, /* whoever can run the program owns the store */
		.open_store = open_store,
		.ctx = f,
	};

	return hub_call(&arbor_hub, f->args.word[0], f->args.word_count > 1 ? f->args.word[1] : STR(""), &who,
			err);
}
