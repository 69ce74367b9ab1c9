/*
 * What can be typed after "arbor": the verbs of the hub's table, then the few that
 * belong to the command line itself. Those are described by a struct method too,
 * so that help, manual and completion print all of them alike.
 */
#include "face/face.h"

#include "base/near.h"

#include <string.h>

/* ---- Options of every verb -------------------------------------------------- */

static const char *const colours[] = {
	[COLOUR_AUTO] = "auto",
	[COLOUR_ALWAYS] = "always",
	[COLOUR_NEVER] = "never",
	NULL,
};

static const struct param common_params[] = {
	{ .name = "json", .type = VALUE_BOOL, .help = "print JSON: one object, or one a line" },
	{ .name = "print0",
	  .type = VALUE_BOOL,
	  .letter = '0',
	  .help = "print only what names each item, ended by a NUL" },
	{ .name = "color",
	  .type = VALUE_ENUM,
	  .choices = colours,
	  .initial = "auto",
	  .setting = "color",
	  .shown = "WHEN",
	  .help = "colours: auto, always or never" },
	{ .name = "no_pager", .type = VALUE_BOOL, .help = "print long output directly" },
	{ .name = "store",
	  .type = VALUE_PATH,
	  .flags = PARAM_REQUIRED, /* may not be empty; nobody asks whether it is missing */
	  .shown = "FILE",
	  .help = "use this store instead of the default one" },
	{ .name = "log",
	  .type = VALUE_PATH,
	  .flags = PARAM_REQUIRED,
	  .shown = "FILE",
	  .help = "append what happens to a file, a line each: time, what, text" },
	{ .name = "quiet", .type = VALUE_BOOL, .letter = 'q', .help = "say only what went wrong" },
	{ .name = "verbose", .type = VALUE_BOOL, .letter = 'v', .help = "say more of what is done" },
	{ .name = "help", .type = VALUE_BOOL, .letter = 'h', .help = "show this help" },
	{ 0 },
};

const struct method common_options = { .name = "arbor", .params = common_params };

/* ---- Our own ---------------------------------------------------------------- */

static const struct param call_params[] = {
	{ .name = "method",
	  .type = VALUE_TEXT,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .names = "hub.methods",
	  .help = "activation and method" },
	{ .name = "params",
	  .type = VALUE_OBJECT,
	  .flags = PARAM_WORD,
	  .shown = "JSON",
	  .help = "its parameters as an object; or each as an option --name value" },
	{ 0 },
};

static const struct method own_call = {
	.name = "call",
	.verb = "call",
	.also = "run invoke method methods",
	.group = "programs",
	.summary = "Call a method by its name, with JSON out",
	.text = "For programs, and for methods without a verb. Each result is one line of JSON. "
		"'hub.methods' "
		"lists what there is, 'hub.schema' says what each takes and gives. Bytes, as of "
		"'storage.export', are written as they are.\n",
	.params = call_params,
	.kind = RESULT_STREAM,
	.examples = (const struct example[]){ { "call hub.methods", "everything that can be called" },
					      { "call storage.generations --file history.jsonl",
						"parameters as options" },
					      { "call storage.generations '{\"file\":\"history.jsonl\"}'",
						"the same as JSON" },
					      { 0 } },
};

static const char *const shells[] = { "bash", "zsh", "fish", NULL };

static const struct param completion_params[] = {
	{ .name = "shell",
	  .type = VALUE_ENUM,
	  .choices = shells,
	  .flags = PARAM_REQUIRED | PARAM_WORD,
	  .help = "for which shell" },
	{ 0 },
};

static const struct method own_completion = {
	.name = "completion",
	.verb = "completion",
	.group = "programs",
	.summary = "Print a script that completes arbor's commands",
	.text = "The script knows verbs, options and their values, and asks arbor for names of what is kept. "
		"For bash, put 'source <(arbor completion bash)' into ~/.bashrc; for zsh, write it to a file "
		"_arbor in a folder of $fpath; for fish, to ~/.config/fish/completions/arbor.fish.\n",
	.params = completion_params,
	.kind = RESULT_RAW,
	.examples = (const struct example[]){ { "completion bash > arbor.bash", "a script for bash" },
					      { 0 } },
};

static const struct param help_params[] = {
	{ .name = "topic",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD,
	  .shown = "VERB|TOPIC",
	  .names = NAMES_HELP,
	  .help = "a verb, or: verbs, output, environment, places, exit-codes" },
	{ .name = "man", .type = VALUE_BOOL, .help = "print it as a manual page (mdoc)" },
	{ 0 },
};

static const struct method own_help = {
	.name = "help",
	.verb = "help",
	.also = "man config settings info",
	.group = "programs",
	.summary = "Explain a verb or a topic",
	.text = "Without an argument: what there is. The same is in the manual: 'man arbor', 'man "
		"arbor-sync'.\n",
	.params = help_params,
	.kind = RESULT_RAW,
	.examples = (const struct example[]){ { "help sync", "about one verb" },
					      { "help exit-codes", "what an exit code means" },
					      { "help --man sync > arbor-sync.1", "its manual page" },
					      { 0 } },
};

static const char *const printed[] = { "id", "hit", "resume", NULL };

static const struct param pick_params[] = {
	{ .name = "words",
	  .type = VALUE_TEXT,
	  .flags = PARAM_WORD | PARAM_REST,
	  .help = "what to begin with; as 'arbor search' takes it" },
	{ .name = "project",
	  .type = VALUE_PATH,
	  .letter = 'p',
	  .shown = "DIR",
	  .names = "memory.projects",
	  .help = "only of this folder and below; its name, or the end of its path, will do" },
	{ .name = "print",
	  .type = VALUE_ENUM,
	  .choices = printed,
	  .initial = "id",
	  .help = "of what was chosen: the session's id, the id of what was found, or the command that "
		  "resumes the session" },
	{ .name = "plain", .type = VALUE_BOOL, .help = "no screen: a line each, for other pickers" },
	{ .name = "limit",
	  .type = VALUE_INT,
	  .letter = 'n',
	  .initial = "200",
	  .least = 1,
	  .most = 100000,
	  .help = "at most so many sessions; on the screen, and with --print hit, so many hits are looked at" },
	{ 0 },
};

static const struct method own_pick = {
	.name = "pick",
	.verb = "pick",
	.also = "fzf choose select",
	.group = "find",
	.summary = "Choose a conversation while you type, and print its id",
	.text = "Lists the sessions last touched, or while something is typed those in which it was said, and "
		"shows what was found with all around it. The last word may be unfinished. The screen is drawn "
		"on the terminal, so standard output can be a pipe.\n\n"
		"Enter takes, Esc or Ctrl-C leaves with code 130. Arrows, Ctrl-N and Ctrl-P, Ctrl-J and Ctrl-K, "
		"PgUp, PgDn, Home and End move in the list, Shift with an arrow in the preview, which Tab shows "
		"or hides. Ctrl-U, Ctrl-W, Ctrl-A and Ctrl-E edit the line as in a shell.\n\n"
		"With --plain each line has what --print says, the time, the project, the title, and where something "
		"was looked for what was found, with tabs between; every session in which it was said has a line, and "
		"where that are more than --limit, it says so. There, too, nothing found is code 1.\n",
	.params = pick_params,
	.kind = RESULT_RAW,
	.examples = (const struct example[]){ { "pick --print resume", "the command that resumes a session" },
					      { "pick integer cents --project webshop", "begin with a search" },
					      { "pick --plain | fzf -d '\\t' --with-nth 2.. | cut -f 1",
						"with a picker of your own" },
					      { 0 } },
};

static const char *const scopes[] = { "read", "write", "drive", "approve", NULL };

static const struct param rpc_params[] = {
	{ .name = "stdio", .type = VALUE_BOOL, .help = "speak on standard input and output" },
	{ .name = "scopes",
	  .type = VALUE_ENUM,
	  .choices = scopes,
	  .flags = PARAM_REST,
	  .shown = "LIST",
	  .help = "what whoever speaks may do, commas between: read, write, drive, approve; read unless said" },
	{ 0 },
};

static const struct method own_rpc = {
	.name = "rpc",
	.verb = "rpc",
	.also = "serve server daemon",
	.group = "programs",
	.summary = "Answer another program's calls, by JSON-RPC",
	.text = "For programs that call often, and for other hubs: in the settings of another Arbor, the command "
		"'ssh HOST arbor rpc --stdio' makes this one a part of it. Every line is a message of JSON-RPC 2.0; "
		"every method that 'hub.methods' lists can be called. docs/RPC.md describes it.\n\n"
		"Whoever can write to it may do what --scopes says and no more. What is for the owner of the store "
		"alone (the scope 'local', as of 'arbor sql') is never given. It ends with its input.\n",
	.params = rpc_params,
	.kind = RESULT_RAW,
	.examples = (const struct example[]){ { "rpc --stdio < requests.jsonl", "answers as lines of JSON" },
					      { "rpc --stdio --scopes read,write < requests.jsonl",
						"for a program that may change something" },
					      { 0 } },
};

static const struct param mcp_params[] = {
	{ .name = "approve", .type = VALUE_BOOL, .help = "offer the permission tool, and nothing else" },
	{ .name = "session", .type = VALUE_TEXT, .shown = "SESSION", .help = "the questions are this session's" },
	{ 0 },
};

static const struct method own_mcp = {
	.name = "mcp",
	.verb = "mcp",
	.group = "programs",
	.summary = "Let a client ask for approvals, by MCP",
	.text = "For clients that were not started by Arbor: started by the client, it offers one tool, 'permit', "
		"that asks whether another may run, and waits as long as the client does. 'arbor approvals' shows "
		"what is asked and answers it. The tool asks and cannot answer.\n\n"
		"'arbor call loopback.configure' prints what the client has to be given.\n",
	.params = mcp_params,
	.kind = RESULT_RAW,
	.examples = (const struct example[]){ { "mcp --approve < requests.jsonl", "answers as lines of JSON" }, { 0 } },
};

static const struct method own_version = {
	.name = "version",
	.verb = "version",
	.summary = "Print which arbor this is",
	.text = "The same as 'arbor --version'.\n",
	.kind = RESULT_RAW,
	.examples = (const struct example[]){ { "version", "its number" }, { 0 } },
};

/* What completion scripts ask; nobody types it. */
static const struct method own_complete = { .name = "complete", .verb = "complete", .kind = RESULT_RAW };

/* Ended by one without a method. */
static const struct verb own_verbs[] = {
	{ .method = &own_pick, .run = run_pick },
	{ .method = &own_call, .run = run_call, .reads_args = true },
	{ .method = &own_rpc, .run = run_rpc },
	{ .method = &own_mcp, .run = run_mcp },
	{ .method = &own_completion, .run = run_completion },
	{ .method = &own_help, .run = run_help },
	{ .method = &own_version, .run = run_version },
	{ .method = &own_complete, .run = run_complete, .reads_args = true },
	{ 0 },
};

/* ---- All of them ------------------------------------------------------------ */

bool verb_at(const struct hub *h, size_t i, struct verb *out)
{
	for (const struct activation *const *a = h->activations; *a; a++)
		for (const struct method *const *m = (*a)->methods; *m; m++)
			if ((*m)->verb && i-- == 0) {
				*out = (struct verb){ .activation = (*a)->name, .method = *m };
				return true;
			}
	for (const struct verb *v = own_verbs; v->method; v++)
		if (i-- == 0) {
			*out = *v;
			return true;
		}
	return false;
}

bool verb_find(const struct hub *h, struct str name, struct verb *out)
{
	for (size_t i = 0; verb_at(h, i, out); i++)
		if (str_eq(name, str_of(out->method->verb)))
			return true;
	return false;
}

static bool is_called_also(const struct method *m, struct str name)
{
	struct str rest = m->also ? str_of(m->also) : (struct str){ 0 };

	while (rest.n)
		if (str_eq(str_cut(rest, ' ', &rest), name))
			return true;
	return false;
}

struct near verb_near(const struct hub *h, struct str name)
{
	struct near near = near_begin(name);
	struct verb v;

	for (size_t i = 0; verb_at(h, i, &v); i++) {
		if (is_called_also(v.method, name)) {
			near.best = v.method->verb;
			near.distance = 0;
			return near;
		}
		if (v.method->group)
			near_try(&near, v.method->verb);
	}
	return near;
}

enum status verb_unknown(const struct hub *h, struct str name, struct err *err)
{
	struct near near = verb_near(h, name);

	return err_fail(err, STATUS_USAGE, "unknown command '%.*s'%s%s%s", (int)size_min(name.n, 60), name.p,
			near.best ? "; did you mean '" : "", near.best ? near.best : ", see 'arbor help'",
			near.best ? "'?" : "");
}
