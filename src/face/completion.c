/*
 * arbor completion SHELL: scripts printed from the table. Verbs, options and fixed
 * values stand in the script; for names of what is kept it asks 'arbor complete'
 * (complete.c).
 */
#include "face/face.h"

#include <string.h>

/* ---- Walking the table ------------------------------------------------------------ */

/* Calls `fn` for the options of a verb, then for those of every verb. */
static void each_option(struct face *f, const struct method *m,
			void (*fn)(struct face *f, const struct method *m, const struct param *q))
{
	for (const struct param *q = m->params; q && q->name; q++)
		if (!(q->flags & PARAM_WORD))
			fn(f, m, q);
	for (const struct param *q = common_options.params; q->name; q++)
		fn(f, m, q);
}

static void each_verb(struct face *f, void (*fn)(struct face *f, const struct method *m))
{
	struct verb v;

	for (size_t i = 0; verb_at(f->hub, i, &v); i++)
		if (v.method->group)
			fn(f, v.method);
}

static void print_choices(struct face *f, const struct param *q)
{
	for (const char *const *c = q->choices; *c; c++)
		out_printf(&f->out, "%s%s", c == q->choices ? "" : " ", *c);
}

/* ---- bash --------------------------------------------------------------------------- */

static void bash_candidates(struct face *f, const struct param *q)
{
	if (q->choices) {
		out_text(&f->out, "_arbor_words '");
		print_choices(f, q);
		out_text(&f->out, "'");
	} else if (q->names) {
		out_text(&f->out, "_arbor_names");
	} else if (q->type == VALUE_PATH) {
		out_text(&f->out, "_arbor_files");
	} else {
		out_text(&f->out, ":");
	}
}

static void bash_value(struct face *f, const struct method *m, const struct param *q)
{
	char typed[PARAM_TYPED];

	if (!args_takes_word(q) && !q->choices)
		return;
	out_printf(&f->out, "\t%s:%s", m->verb, param_typed(q, typed));
	if (q->letter)
		out_printf(&f->out, " | %s:-%c", m->verb, q->letter);
	out_text(&f->out, ") ");
	bash_candidates(f, q);
	out_text(&f->out, "; return ;;\n");
}

static void bash_values(struct face *f, const struct method *m)
{
	each_option(f, m, bash_value);
}

static void bash_option(struct face *f, const struct method *m, const struct param *q)
{
	char typed[PARAM_TYPED];

	(void)m;
	out_printf(&f->out, "%s ", param_typed(q, typed));
	if (q->letter)
		out_printf(&f->out, "-%c ", q->letter);
}

/* What stands behind another method's name depends on that, and is asked for as names are. */
static bool options_follow_word(const struct method *m)
{
	const struct param *q = args_word(m, 0);

	return q && q->names && strcmp(q->names, "hub.methods") == 0 && (q->flags & PARAM_REQUIRED);
}

static void bash_options(struct face *f, const struct method *m)
{
	if (options_follow_word(m)) {
		out_printf(&f->out, "\t%s:-*) _arbor_names ;;\n", m->verb);
		return;
	}
	out_printf(&f->out, "\t%s:-*) _arbor_words '", m->verb);
	each_option(f, m, bash_option);
	out_text(&f->out, "' ;;\n");
}

static void bash_word(struct face *f, const struct method *m)
{
	const struct param *q = args_word(m, 0);

	if (!q)
		return;
	out_printf(&f->out, "\t%s:*) ", m->verb);
	bash_candidates(f, q);
	out_text(&f->out, " ;;\n");
}

static void bash_verb(struct face *f, const struct method *m)
{
	out_printf(&f->out, "%s ", m->verb);
}

/* Options before the verb that take the word behind them. */
static void bash_skipped(struct face *f, const struct method *m, const struct param *q)
{
	char typed[PARAM_TYPED];

	(void)m;
	if (args_takes_word(q))
		out_printf(&f->out, "\t\t%s) ((i++)) ;;\n", param_typed(q, typed));
}

static void bash(struct face *f)
{
	static const struct method before = { .verb = "" }; /* where no verb stands yet */

	out_text(
		&f->out,
		"# Completion of arbor for bash, printed by 'arbor completion bash'.\n"
		"_arbor_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\"); }\n"
		"_arbor_files() { compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); }\n"
		"_arbor_names() {\n"
		"\tlocal found i n=$COMP_CWORD\n"
		/* A shell parts --name=value into three words. */
		"\tif [[ ${COMP_WORDS[n]} != = && ${COMP_WORDS[n - 1]} == = ]]; then ((n--)); fi\n"
		"\tmapfile -t found < <(\"${COMP_WORDS[0]}\" complete \"${COMP_WORDS[@]:1:n-1}\" \"$cur\" "
		"2>/dev/null)\n"
		"\tfor i in \"${!found[@]}\"; do printf -v \"found[i]\" %q \"${found[i]%%$'\\t'*}\"; done\n"
		"\tCOMPREPLY=(\"${found[@]}\")\n"
		/* A hub's name goes on with one of its methods. */
		"\tif [[ ${#found[@]} == 1 && ${found[0]} == *. ]]; then compopt -o nospace; fi\n"
		"}\n"
		"_arbor() {\n"
		"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} verb='' i\n"
		"\tif [[ $cur == = ]]; then cur=''\n"
		"\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
		"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		"\t\tcase ${COMP_WORDS[i]} in\n");
	each_option(f, &before, bash_skipped);
	out_text(&f->out, "\t\t-*) ;;\n"
			  "\t\t*) verb=${COMP_WORDS[i]}; break ;;\n"
			  "\t\tesac\n"
			  "\tdone\n"
			  "\tCOMPREPLY=()\n"
			  "\tcase $verb:$prev in\n");
	bash_values(f, &before);
	each_verb(f, bash_values);
	out_text(&f->out, "\tesac\n\tcase $verb:$cur in\n");
	bash_options(f, &before);
	each_verb(f, bash_options);
	out_text(&f->out, "\t:*) _arbor_words '");
	each_verb(f, bash_verb);
	out_text(&f->out, "' ;;\n");
	each_verb(f, bash_word);
	out_text(&f->out, "\tesac\n}\ncomplete -F _arbor arbor\n");
}

/* ---- zsh ---------------------------------------------------------------------------- */

/* Inside '...' of a zsh specification. */
static void zsh_text(struct face *f, const char *text)
{
	for (const char *c = text; *c; c++) {
		if (*c == '\'')
			out_text(&f->out, "'\\''");
		else if (strchr("[]:\\", *c))
			out_printf(&f->out, "\\%c", *c);
		else
			out_printf(&f->out, "%c", *c);
	}
}

static void zsh_candidates(struct face *f, const struct param *q)
{
	out_printf(&f->out, ":%s:", q->name);
	if (q->choices) {
		out_text(&f->out, "(");
		print_choices(f, q);
		out_text(&f->out, ")");
	} else if (q->names) {
		out_text(&f->out, "_arbor_names");
	} else if (q->type == VALUE_PATH) {
		out_text(&f->out, "_files");
	} else {
		out_text(&f->out, " ");
	}
}

static void zsh_option(struct face *f, const struct method *m, const struct param *q)
{
	char typed[PARAM_TYPED];

	(void)m;
	out_text(&f->out, " \\\n\t\t");
	if (q->letter)
		out_printf(&f->out, "{-%c,%s}", q->letter, param_typed(q, typed));
	else
		out_printf(&f->out, "%s", param_typed(q, typed));
	out_printf(&f->out, "%s'[", args_takes_word(q) ? "=" : q->flags & PARAM_BARE ? "=-" : "");
	zsh_text(f, q->help);
	out_text(&f->out, "]");
	if (q->type != VALUE_BOOL)
		zsh_candidates(f, q);
	out_text(&f->out, "'");
}

static void zsh_verb(struct face *f, const struct method *m)
{
	out_printf(&f->out, "\t\t'%s:", m->verb);
	zsh_text(f, m->summary);
	out_text(&f->out, "'\n");
}

static void zsh_case(struct face *f, const struct method *m)
{
	out_printf(&f->out, "\t%s) _arguments -s -S", m->verb);
	each_option(f, m, zsh_option);
	if (args_word(m, 0)) {
		out_text(&f->out, " \\\n\t\t'*");
		zsh_candidates(f, args_word(m, 0));
		out_text(&f->out, "'");
	}
	out_text(&f->out, " ;;\n");
}

static void zsh(struct face *f)
{
	out_text(&f->out, "#compdef arbor\n"
			  "# Completion of arbor for zsh, printed by 'arbor completion zsh'.\n"
			  "_arbor_names() {\n"
			  "\tlocal -a found\n"
			  "\tfound=(${(f)\"$(arbor complete $_arbor_line \"${(Q)PREFIX}\" 2>/dev/null)\"})\n"
			  "\tfound=(${found//:/\\\\:})\n"
			  "\tfound=(${found/$'\\t'/:})\n"
			  "\t_describe name found\n"
			  "}\n"
			  "_arbor() {\n"
			  "\tlocal -a verbs _arbor_line\n"
			  "\t_arbor_line=(${(Q)words[2,CURRENT-1]})\n"
			  "\tverbs=(\n");
	each_verb(f, zsh_verb);
	out_text(&f->out, "\t)\n"
			  "\tif ((CURRENT == 2)); then _describe verb verbs; return; fi\n"
			  "\tshift words; ((CURRENT--))\n"
			  "\tcase $words[1] in\n");
	each_verb(f, zsh_case);
	out_text(&f->out,
		 "\tesac\n}\n"
		 "if [[ $funcstack[1] == _arbor ]]; then _arbor \"$@\"; else compdef _arbor arbor; fi\n");
}

/* ---- fish --------------------------------------------------------------------------- */

static void fish_text(struct face *f, const char *text)
{
	out_text(&f->out, "'");
	for (const char *c = text; *c; c++)
		out_printf(&f->out, "%s%c", *c == '\'' || *c == '\\' ? "\\" : "", *c);
	out_text(&f->out, "'");
}

static void fish_candidates(struct face *f, const struct param *q)
{
	if (q->choices) {
		out_text(&f->out, " -a '");
		print_choices(f, q);
		out_text(&f->out, "'");
	} else if (q->names) {
		out_text(&f->out, " -a '(__arbor_names)'");
	}
}

/* What stands behind "complete -c arbor" with its condition. */
static void fish_rest(struct face *f, const struct param *q)
{
	char typed[PARAM_TYPED];

	out_printf(&f->out, " -l %s", param_typed(q, typed) + 2);
	if (q->letter)
		out_printf(&f->out, " -s %c", q->letter);
	if (args_takes_word(q))
		out_text(&f->out, q->type == VALUE_PATH && !q->names ? " -r -F" : " -x");
	fish_candidates(f, q);
	out_text(&f->out, " -d ");
	fish_text(f, q->help);
	out_text(&f->out, "\n");
}

static void fish_verb(struct face *f, const struct method *m)
{
	const struct param *word = args_word(m, 0);

	out_printf(&f->out, "complete -c arbor -n __fish_use_subcommand -a %s -d ", m->verb);
	fish_text(f, m->summary);
	out_text(&f->out, "\n");
	for (const struct param *q = m->params; q && q->name; q++)
		if (!(q->flags & PARAM_WORD)) {
			out_printf(&f->out, "complete -c arbor -n '__fish_seen_subcommand_from %s'", m->verb);
			fish_rest(f, q);
		}
	if (word && (word->choices || word->names)) {
		out_printf(&f->out, "complete -c arbor -n '__fish_seen_subcommand_from %s'", m->verb);
		fish_candidates(f, word);
		out_text(&f->out, "\n");
	}
}

static void fish(struct face *f)
{
	out_text(&f->out, "# Completion of arbor for fish, printed by 'arbor completion fish'.\n"
			  "function __arbor_names\n"
			  "\tset -l words (commandline -opc) (commandline -ct)\n"
			  "\tarbor complete $words[2..] 2>/dev/null\n"
			  "end\n"
			  "complete -c arbor -f\n");
	for (const struct param *q = common_options.params; q->name; q++) {
		out_text(&f->out, "complete -c arbor");
		fish_rest(f, q);
	}
	each_verb(f, fish_verb);
}

enum status run_completion(struct face *f, int argc, char **argv, const struct params *p, struct err *err)
{
	struct str shell = p->values[0].text;

	(void)argc;
	(void)argv;
	(void)err;
	if (str_eq(shell, STR("bash")))
		bash(f);
	else if (str_eq(shell, STR("zsh")))
		zsh(f);
	else
		fish(f);
	return STATUS_OK;
}
