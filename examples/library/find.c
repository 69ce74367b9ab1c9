/*
 * find WORDS: looks for them where `arbor` keeps its store, and prints what was said.
 *
 *     cc find.c $(pkg-config --cflags --libs arbor) -o find
 */
#include <arbor.h>

#include <stdio.h>

/* What others wrote may hold anything: a terminal is not to obey it. */
static void show(const char *hit, size_t length, const char *member)
{
	char text[4096], safe[8192];
	size_t n;

	if (arbor_json_get(hit, length, member, text, sizeof text, &n, NULL) == ARBOR_OK &&
	    arbor_printable(text, n, safe, sizeof safe, NULL, NULL) == ARBOR_OK)
		puts(safe);
}

static int print_hit(void *ctx, const char *hit, size_t length)
{
	(void)ctx;
	show(hit, length, "title");
	show(hit, length, "snippet");
	return 0; /* there may be more */
}

int main(int argc, char **argv)
{
	struct arbor_error e = { ARBOR_USAGE, "usage: find WORDS" };
	struct arbor *a = NULL;

	if (argc == 2 && arbor_open(NULL, &a, &e) == ARBOR_OK)
		arbor_search(a, argv[1], 3, print_hit, NULL, &e);
	arbor_close(a);
	if (e.status)
		fprintf(stderr, "find: %s\n", e.message);
	return e.status != ARBOR_OK;
}
