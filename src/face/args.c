/*
 * The argument reader. Nothing is copied: values point into argv.
 */
#include "face/args.h"

#include "base/near.h"

#include <string.h>

static const struct arg_option *by_name(const struct arg_option *list, struct str name)
{
	for (; list && list->name; list++)
		if (str_eq(name, str_of(list->name)))
			return list;
	return NULL;
}

static const struct arg_option *by_letter(const struct arg_option *list, char letter)
{
	for (; list && list->name; list++)
		if (list->letter == letter)
			return list;
	return NULL;
}

static enum status unknown_option(struct str name, const struct arg_option *options, const struct arg_option *common,
				  struct err *err)
{
	const struct arg_option *lists[] = { options, common };
	struct near near = near_begin(name);

	for (size_t i = 0; i < COUNT(lists); i++)
		for (const struct arg_option *o = lists[i]; o && o->name; o++)
			near_try(&near, o->name);
	return err_fail(err, STATUS_USAGE, "unknown option '--%.*s'%s%s%s", (int)size_min(name.n, 60), name.p,
			near.best ? "; did you mean '--" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

static enum status add_option(struct args *a, const struct arg_option *o, struct str value, struct err *err)
{
	if (a->option_count == ARGS_OPTIONS)
		return err_fail(err, STATUS_USAGE, "too many options");
	a->given[a->option_count] = o;
	a->value[a->option_count++] = value;
	return STATUS_OK;
}

/* One "--name", "--name=value" or "--name value"; moves *i over what it used. */
static enum status long_option(struct args *a, int argc, char **argv, int *i, const struct arg_option *options,
			       const struct arg_option *common, struct err *err)
{
	struct str value, name = str_cut(str_of(argv[*i] + 2), '=', &value);
	const struct arg_option *o = by_name(options, name);

	if (!o)
		o = by_name(common, name);
	if (!o)
		return unknown_option(name, options, common, err);
	if (!o->value && value.p)
		return err_fail(err, STATUS_USAGE, "option '--%s' takes no value", o->name);
	if (o->value && o->value[0] != '[' && !value.p) {
		if (*i + 1 >= argc)
			return err_fail(err, STATUS_USAGE, "option '--%s' needs a value: --%s %s", o->name, o->name,
					o->value);
		value = str_of(argv[++*i]);
	}
	return add_option(a, o, value, err);
}

/* "-x", "-x value", "-xyz". */
static enum status short_options(struct args *a, int argc, char **argv, int *i, const struct arg_option *options,
				 const struct arg_option *common, struct err *err)
{
	for (const char *c = argv[*i] + 1; *c; c++) {
		const struct arg_option *o = by_letter(options, *c);
		struct str value = { 0 };

		if (!o)
			o = by_letter(common, *c);
		if (!o)
			return err_fail(err, STATUS_USAGE, "unknown option '%.*s'", 40, argv[*i]);
		if (o->value && o->value[0] != '[') {
			if (c[1])
				value = str_of(c + 1);
			else if (*i + 1 < argc)
				value = str_of(argv[++*i]);
			else
				return err_fail(err, STATUS_USAGE, "option '-%c' needs a value: %s", *c, o->value);
			return add_option(a, o, value, err);
		}
		if (add_option(a, o, value, err))
			return err_failed(err->status);
	}
	return STATUS_OK;
}

enum status args_read(struct args *a, int argc, char **argv, const struct arg_option *options,
		      const struct arg_option *common, struct err *err)
{
	bool options_end = false;

	*a = (struct args){ 0 };
	for (int i = 0; i < argc; i++) {
		const char *arg = argv[i];
		enum status status = STATUS_OK;

		if (!options_end && strcmp(arg, "--") == 0)
			options_end = true;
		else if (!options_end && strncmp(arg, "--", 2) == 0)
			status = long_option(a, argc, argv, &i, options, common, err);
		else if (!options_end && arg[0] == '-' && arg[1])
			status = short_options(a, argc, argv, &i, options, common, err);
		else if (a->word_count == ARGS_WORDS)
			status = err_fail(err, STATUS_USAGE, "too many arguments, from '%.60s' on", arg);
		else
			a->word[a->word_count++] = str_of(arg);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

bool args_has(const struct args *a, const char *option)
{
	for (size_t i = 0; i < a->option_count; i++)
		if (strcmp(a->given[i]->name, option) == 0)
			return true;
	return false;
}

struct str args_value(const struct args *a, const char *option)
{
	struct str value = { 0 };

	for (size_t i = 0; i < a->option_count; i++)
		if (strcmp(a->given[i]->name, option) == 0)
			value = a->value[i];
	return value;
}
