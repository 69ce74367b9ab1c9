/*
 * Formats a message into a bounded buffer and hands it to the sink. A message
 * longer than the buffer is cut; logs are not data.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

const char *log_level_name(enum log_level level)
{
	static const char *const names[] = {
		[LOG_ERROR] = "error", [LOG_WARN] = "warning", [LOG_INFO] = "info", [LOG_DEBUG] = "debug",
	};

	return names[level];
}

void log_print(const struct log *log, enum log_level level, const char *format, ...)
{
	char text[2048];
	va_list args;
	int n;

	if (!log || !log->sink || level > log->level)
		return;
	va_start(args, format);
	n = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (n < 0)
		return;
	log->sink(log->ctx, level, str_from(text, size_min((size_t)n, sizeof text - 1)));
}
