/*
 * Logging: a level and a sink that the face owns. The library decides what is
 * worth saying, never where it goes. A NULL struct log * is silent.
 */
#ifndef ARBOR_BASE_LOG_H
#define ARBOR_BASE_LOG_H

#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
	enum log_level level; /* what is more talkative than this is dropped */
	void (*sink)(void *ctx, enum log_level level, struct str text);
	void *ctx;
};

const char *log_level_name(enum log_level level);
void log_print(const struct log *log, enum log_level level, const char *format, ...) ATTR_PRINTF(3, 4);

#define log_error(log, ...) log_print((log), LOG_ERROR, __VA_ARGS__)
#define log_warn(log, ...)  log_print((log), LOG_WARN, __VA_ARGS__)
#define log_info(log, ...)  log_print((log), LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_print((log), LOG_DEBUG, __VA_ARGS__)

#endif
