/*
 * What is set stays left out when more is. Patterns that are given come first.
 */
#include "hub/excluded.h"

#include "hub/settings.h"

#include <string.h>

/* A pattern with links resolved, as far as its beginning is a folder. */
static struct str real_pattern(struct call *c, struct str glob)
{
	size_t n = 0;

	while (n < glob.n && !strchr("*?[\\", glob.p[n]))
		n++;
	return call_real_front(c, glob, n < glob.n ? str_rfind(str_sub(glob, 0, n), '/') : n);
}

/* "~/x" is below home: no shell has seen what a settings file says. */
static struct filter_pattern pattern_of(struct call *c, struct str text)
{
	struct filter_pattern p = { .glob = call_from_home(c, text) };

	if (str_has_prefix(p.glob, STR("/")))
		p.real = real_pattern(c, p.glob);
	return p;
}

void excluded_take(struct call *c, const struct value *given, struct filter *f)
{
	struct str set = settings_text(c->settings, "sync.exclude");
	size_t given_count = given ? given->count : 0, most = given_count + 1;
	struct filter_pattern *list;

	for (size_t i = 0; i < set.n; i++)
		most += set.p[i] == ':';
	list = arena_alloc(&c->mem, most * sizeof *list);
	for (size_t i = 0; i < given_count; i++)
		list[f->exclude_count++] = pattern_of(c, given->list[i]);
	while (set.p) {
		struct str pattern = str_cut(set, ':', &set);

		if (pattern.n)
			list[f->exclude_count++] = pattern_of(c, pattern);
	}
	f->exclude = list;
}
