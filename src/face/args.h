/*
 * Reading command lines: options anywhere, "--" ends them, --name=value or
 * --name value.
 */
#ifndef ARBOR_FACE_ARGS_H
#define ARBOR_FACE_ARGS_H

#include "base/err.h"

struct arg_option {
	const char *name;      /* without the dashes; NULL ends a list */
	char letter;           /* short form, 0 = none */
	const char *value;     /* what its value is called in the help; NULL = a switch.
	                          A value in brackets may be left out and needs '=' */
	const char *help;
};

enum { ARGS_OPTIONS = 16, ARGS_WORDS = 8 };

struct args {
	const struct arg_option *given[ARGS_OPTIONS]; /* in the order given */
	struct str value[ARGS_OPTIONS];
	size_t option_count;
	struct str word[ARGS_WORDS];                  /* what is not an option */
	size_t word_count;
};

/* Reads argv[0..argc) against both lists. STATUS_USAGE names the culprit and the
 * nearest option that exists. */
enum status args_read(struct args *a, int argc, char **argv, const struct arg_option *options,
		      const struct arg_option *common, struct err *err) MUST_USE;

bool args_has(const struct args *a, const char *option);
struct str args_value(const struct args *a, const char *option); /* p NULL = not given */

#endif
