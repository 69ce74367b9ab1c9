/*
 * Logging: levels, the sink, silence, and messages that are too long.
 */
#include "base/log.h"
#include "t.h"

#include <string.h>

struct sunk {
	int count;
	enum log_level level;
	struct buf text;
};

static void sink(void *ctx, enum log_level level, struct str text)
{
	struct sunk *s = ctx;

	s->count++;
	s->level = level;
	buf_clear(&s->text);
	buf_str(&s->text, text);
}

TEST(only_what_is_not_too_talkative_reaches_the_sink)
{
	for (enum log_level limit = LOG_ERROR; limit <= LOG_DEBUG; limit++)
		for (enum log_level level = LOG_ERROR; level <= LOG_DEBUG; level++) {
			struct sunk s = { .text = BUF_INIT(10000) };
			struct log log = { limit, sink, &s };

			log_print(&log, level, "%d", (int)level);
			EQ(s.count, level <= limit);
			if (s.count)
				EQ(s.level, level);
			buf_release(&s.text);
		}
}

TEST(the_text_is_formatted_and_each_macro_has_its_level)
{
	struct sunk s = { .text = BUF_INIT(10000) };
	struct log log = { LOG_DEBUG, sink, &s };

	log_error(&log, "a %s %d", "b", 7);
	EQ(s.level, LOG_ERROR);
	EQS(buf_as_str(&s.text), STR("a b 7"));
	log_warn(&log, "w");
	EQ(s.level, LOG_WARN);
	log_info(&log, "i");
	EQ(s.level, LOG_INFO);
	log_debug(&log, "%s", "");
	EQ(s.level, LOG_DEBUG);
	EQS(buf_as_str(&s.text), STR(""));
	EQ(s.count, 4);
	buf_release(&s.text);
}

TEST(no_log_and_no_sink_are_silent)
{
	struct sunk s = { .text = BUF_INIT(100) };
	struct log log = { LOG_DEBUG, NULL, &s };

	log_error(NULL, "%s", "x");
	log_error(&log, "%s", "x");
	EQ(s.count, 0);
}

TEST(a_long_message_is_cut_and_not_lost)
{
	static const size_t sizes[] = { 2046, 2047, 2048, 2049, 9000 };
	static char text[9001];

	memset(text, 'x', sizeof text - 1);
	for (size_t i = 0; i < COUNT(sizes); i++) {
		struct sunk s = { .text = BUF_INIT(20000) };
		struct log log = { LOG_INFO, sink, &s };

		log_info(&log, "%.*s", (int)sizes[i], text);
		EQ(s.count, 1);
		EQ(s.text.n, size_min(sizes[i], 2047));
		CHECK(memcmp(s.text.p, text, s.text.n) == 0);
		buf_release(&s.text);
	}
}

TEST(every_level_has_its_name)
{
	EQS(str_of(log_level_name(LOG_ERROR)), STR("error"));
	EQS(str_of(log_level_name(LOG_WARN)), STR("warning"));
	EQS(str_of(log_level_name(LOG_INFO)), STR("info"));
	EQS(str_of(log_level_name(LOG_DEBUG)), STR("debug"));
}

TESTS(CASE(only_what_is_not_too_talkative_reaches_the_sink),
      CASE(the_text_is_formatted_and_each_macro_has_its_level),
      CASE(no_log_and_no_sink_are_silent),
      CASE(a_long_message_is_cut_and_not_lost),
      CASE(every_level_has_its_name))
