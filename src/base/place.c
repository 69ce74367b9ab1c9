/*
 * Lines and columns are counted when somebody asks for them: only errors do.
 */
#include "base/place.h"

#include "base/utf8.h"

struct place place_of(struct str text, size_t at)
{
	struct place place = { .line = 1, .column = 1 };
	struct str before = str_sub(text, 0, at);
	size_t next;

	if (str_has_prefix(before, STR("\xEF\xBB\xBF")))
		before = str_sub(before, 3, SIZE_MAX);
	while ((next = str_find(before, '\n')) != SIZE_MAX) {
		before = str_sub(before, next + 1, SIZE_MAX);
		place.line++;
	}
	for (size_t i = 0; i < before.n; place.column++)
		utf8_next(before, &i);
	return place;
}
