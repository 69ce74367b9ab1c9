/*
 * derived STORE: what the derived tables of a store say, in a form that can be
 * compared (test/harness/derived.h). Fails when they contradict themselves.
 */
#include "derived.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	struct store_options o = { .path = argc == 2 ? argv[1] : "" };
	struct buf out CLEANUP(buf_release) = BUF_INIT((size_t)1 << 30);
	struct store *s CLEANUP(store_closep) = NULL;
	struct err err;

	if (argc != 2) {
		fprintf(stderr, "usage: derived STORE\n");
		return 2;
	}
	if (store_open(&o, &s, &err) || derived_describe(s, &out, &err)) {
		fprintf(stderr, "derived: %s\n", err.text);
		return 1;
	}
	fwrite(out.p, 1, out.n, stdout);
	for (size_t i = 0; i < out.n; i++)
		if (out.p[i] == '!' && (i == 0 || out.p[i - 1] == '\n'))
			return 3;
	return 0;
}
