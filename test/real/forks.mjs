// Forks at every message of captured conversations, each gone on with by the real client.
//
//   forks.mjs CLAUDE API LOG WORK DOT-CLAUDE...
//
// CLAUDE is the program, API the address of the scripted API, LOG its log, WORK a private folder, and each DOT-CLAUDE a
// captured ~/.claude, or one transcript. ARBOR says which arbor. EVERY=N takes about one message in N of each, FORKS=N about as many,
// chosen by SEED; DELETED=1 removes the conversations from the client's folder before anything is forked.
//
// For each message: 'arbor fork' at it, the client is told to go on with a prompt, and what the API received then has to be
// what 'arbor log --as-sent' says of that point, and the prompt. Whether two contexts are equal is said in test/oracle/context.mjs.
// At the end what the clients have written is mirrored: every tree is still there, and beside them only what was begun anew.
//
// Prints what differs; ends with 0 when nothing does.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { differences, flatten } from '../oracle/context.mjs';

const [claude, api, log, work, ...captures] = process.argv.slice(2);
const { ARBOR, EVERY = '1', FORKS, SEED = '1', DELETED } = process.env;
const RUN_MS = 60000;

let random = Number(SEED) >>> 0;
function chosen(of) {
	random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
	return (random >>> 8) % (FORKS ? Math.max(1, Math.round(of / Number(FORKS))) : Number(EVERY)) === 0;
}

const fromLines = content => content.split('\n').filter(Boolean).map(line => JSON.parse(line));

// ---- Arbor ---------------------------------------------------------------------

let home;
const arborRun = args => execFileSync(ARBOR, args, { env: { PATH: process.env.PATH, HOME: home }, encoding: 'utf8',
	maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
const arborItems = args => fromLines(arborRun([...args, '--json']));

const contextAt = (id, more = []) => arborItems(['log', id, '--as-sent', ...more])
	.filter(item => item.kind === 'sent').map(({ role, content }) => ({ role, content }));

function loadTrees() {
	const messages = new Map(), trees = new Set(), names = new Set();
	for (const line of arborRun(['dump', '--logical']).split('\n')) {
		const [kind, id, ...fields] = line.split(' ');
		const value = Object.fromEntries(fields.map(field => field.split('=')));
		if (kind === 'message')
			messages.set(id, { id, ...value });
		else if (kind === 'tree')
			trees.add(id);
		else if (kind === 'name')
			names.add(id);
	}
	return { messages, trees, names };
}

// What is sent when somebody says something behind a message.
function contextBehind(messages, id) {
	const { role } = messages.get(id);
	const results = role === 'assistant' && [...messages.values()].find(one => one.role === 'results' && one.prev === id);
	return results ? contextAt(results.id) : contextAt(id, role === 'assistant' ? ['--through'] : []);
}

// What was sent with a prompt, without it: the last blocks of the last message.
function contextBefore(id) {
	const context = contextAt(id), last = context.pop();
	const { blocks } = arborItems(['log', id]).findLast(item => item.kind === 'message');
	const rest = last.content.slice(0, last.content.length - blocks.length);
	return rest.length ? [...context, { ...last, content: rest }] : context;
}

const expectedContext = (messages, id, fork) => fork.prompt === undefined ? contextBehind(messages, id) : contextBefore(id);

// ---- The client ----------------------------------------------------------------

let runs = 0;

// The thoughts of another model are not sent. So the one that had them goes on; where that is not to be, none are compared.
const modelsOf = fork => [...new Set((fork.path ? fromLines(readFileSync(fork.path, 'utf8')) : [])
	.map(line => line.message?.model).filter(model => /^claude-/.test(model)))];

function goOn(fork, models) {
	const prompt = `SCRIPT:text(fork-${++runs})`;
	const before = existsSync(log) ? statSync(log).size : 0;
	const run = spawnSync(claude, ['-p', prompt, '--output-format', 'json', ...(models.length ? ['--model', models.at(-1)] : []), ...fork.words.slice(1)], {
		cwd: fork.cwd, encoding: 'utf8', timeout: RUN_MS, maxBuffer: 1 << 28, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'],
		env: { HOME: home, PATH: '/usr/bin:/bin', ANTHROPIC_BASE_URL: api, ANTHROPIC_API_KEY: 'none', DISABLE_AUTOUPDATER: '1',
			CLAUDE_CODE_MAX_RETRIES: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
	});
	const requests = fromLines(readFileSync(log).subarray(before).toString('utf8'))
		.filter(entry => entry.dir === 'req' && JSON.stringify(entry.body?.messages ?? '').includes(prompt));
	return { prompt, run, requests };
}

// The client wraps what it says on its own account, and newer ones also what they notify of, which is in the file.
const isClientText = block => block.type === 'text' && /^\s*<system-reminder>/.test(block.text);
const NOTICE = /<task-notification>[^]*<\/task-notification>/;
const LOST = /No completion record was found for this background|didn't finish before the previous session ended|in-process state was lost|before assuming the task landed/;

// What stands for a message of which nothing is left.
const NOTHING = '[Orphaned tool result removed due to conversation resume]';

function unwrapped(block) {
	if (block.text === NOTHING)
		return [{ ...block, text: '(no content)' }];
	const notice = block.type === 'text' && NOTICE.exec(block.text)?.[0];
	if (notice)
		return LOST.test(notice) ? [] : [{ ...block, text: isClientText(block) ? notice : block.text }];
	// A text that ends with a newline gets another where it is merged.
	return isClientText(block) ? [] : [block.type === 'text' ? { ...block, text: block.text.replace(/\n+$/, '') } : block];
}

// A tool's name and input depend on which tools the client has now.
function renamed(block) {
	if (block.type !== 'tool_use')
		return block;
	const name = block.name === 'Task' ? 'Agent' : block.name;
	const { caller: _caller, ...rest } = block; // who called it; not sent again
	return { ...rest, name, input: name === 'ExitPlanMode' ? {} : block.input };
}

const isThought = block => /thinking$/.test(block.type);
const compared = (messages, thoughtless) => messages.map(({ role, content }) => ({ role,
	content: content.filter(block => !(thoughtless && isThought(block))).map(renamed) }));

const asBlocks = content => typeof content === 'string' ? [{ type: 'text', text: content }] : content;
const unwrap = messages => messages.filter(({ role }) => role !== 'system')
	.map(({ role, content }) => ({ role, content: asBlocks(content).flatMap(unwrapped) }));

// Newer clients say of a call without result that it has none; older ones leave out the call, and so do we.
const isMadeUp = block => block.type === 'tool_result' && /^\[Tool call interrupted/.test(asBlocks(block.content)[0]?.text);

function withoutMadeUp(messages) {
	const calls = new Set(messages.flatMap(({ content }) => content.filter(isMadeUp).map(block => block.tool_use_id)));
	const kept = messages.map(({ role, content }) => ({ role,
		content: content.filter(block => !calls.has(block.id) && !calls.has(block.tool_use_id)) }));
	return { any: calls.size > 0, messages: kept.map(({ role, content }) => ({ role, content: content.every(isThought) ? [] : content })) };
}

const said = (role, text) => ({ role, content: [{ type: 'text', text }] });

// Behind a message that was not answered the client says that it was not; which of these depends on what it was.
const unanswered = [[],
	[said('assistant', 'No response requested.')],
	[said('user', 'Continue from where you left off.'), said('assistant', 'No response requested.')]];

// Most of it is the same, and comparing the rest takes its square.
function differencesBehind(ours, theirs) {
	const [a, b] = [flatten(ours), flatten(theirs)];
	let n = 0;
	while (n < a.length && n < b.length && a[n].role === b[n].role && a[n].key === b[n].key)
		n++;
	const rest = blocks => blocks.slice(n).map(({ role, block }) => ({ role, content: [block] }));
	return differences(rest(a), rest(b));
}

function compare(expected, prompt, messages, { thoughtless, answered }) {
	const received = withoutMadeUp(unwrap(messages));
	const isOpen = !answered || received.any;
	const all = unanswered.filter((_, n) => n === 0 || isOpen).map(between => differencesBehind(
		compared(unwrap([...expected, ...between, said('user', prompt)]), thoughtless), compared(received.messages, thoughtless)));
	return all.reduce((best, one) => one.length < best.length ? one : best);
}

// ---- One conversation ------------------------------------------------------------

let failures = 0, begun = 0, cutOff;
function complain(where, lines) {
	failures++;
	for (const line of lines)
		console.log(`${where}: ${line}`);
}

function checkFile(where, fork, before) {
	const after = readFileSync(fork.path);
	if (!after.subarray(0, before.length).equals(before))
		complain(where, ['the client has rewritten the file']);
	let parent = null;
	for (const line of fromLines(before.toString('utf8'))) {
		if (line.uuid && line.parentUuid !== parent)
			complain(where, [`${line.uuid} does not hang on the line before it`]);
		parent = line.uuid ?? parent;
	}
}

function tryMessage(name, messages, id) {
	const where = `${name} ${messages.get(id).role} ${id}`;
	let fork;
	try {
		[fork] = arborItems(['fork', id, '--cwd', join(home, 'work')]);
	} catch (error) {
		return complain(where, [String(error.stderr).trim()]);
	}
	const expected = expectedContext(messages, id, fork);
	// A sub-agent's conversation is its own, and what goes on with it another one.
	begun += fork.path && !messages.get(id).aside && !cutOff.has(fromLines(readFileSync(fork.path, 'utf8'))[0].uuid) ? 0 : 1;
	const before = fork.path && readFileSync(fork.path);
	const models = modelsOf(fork);
	const { prompt, run, requests } = goOn(fork, models);
	if (requests.length !== 1)
		return complain(where, [`${requests.length} requests`, run.stdout.slice(0, 300), run.stderr.slice(0, 300)]);
	const found = compare(expected, prompt, requests[0].body.messages, {
		thoughtless: models.some(model => model !== requests[0].body.model),
		answered: before && fromLines(before.toString('utf8')).findLast(line => line.uuid).type === 'assistant' });
	if (found.length)
		complain(where, found);
	if (before)
		checkFile(where, fork, before);
}

// Lines that hang on one in another file: a fork that begins with them is a tree of its own.
function linesCutOff(folder) {
	const found = new Set();
	for (const name of readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.jsonl'))) {
		const lines = readFileSync(join(folder, name), 'utf8').split('\n').flatMap(text => {
			try { return [JSON.parse(text)]; } catch { return []; }
		});
		const uuids = new Set(lines.map(line => line.uuid));
		for (const line of lines)
			if (line.parentUuid && !uuids.has(line.parentUuid))
				found.add(line.uuid);
	}
	return found;
}

function removeTranscripts(folder) {
	for (const entry of readdirSync(folder, { withFileTypes: true }))
		if (entry.name !== 'sessions')
			rmSync(join(folder, entry.name), { recursive: true });
}

const isTranscript = capture => capture.endsWith('.jsonl');
const nameOf = capture => basename(capture) === 'dot-claude' ? basename(dirname(capture)) : basename(capture, '.jsonl');

function tryConversation(capture) {
	const name = nameOf(capture);
	home = join(work, name);
	mkdirSync(join(home, 'work'), { recursive: true });
	cpSync(capture, isTranscript(capture) ? join(home, '.claude/projects/x', basename(capture)) : join(home, '.claude'), { recursive: true });
	rmSync(join(home, '.claude/settings.json'), { force: true });
	arborRun(['sync', '--quiet']);
	const { messages, trees } = loadTrees();
	cutOff = linesCutOff(join(home, '.claude'));
	if (DELETED && existsSync(join(home, '.claude/projects')))
		removeTranscripts(join(home, '.claude/projects'));
	const before = runs;
	begun = 0;
	for (const id of messages.keys())
		if (!id.includes('#') && chosen(messages.size)) // one of several that have its uuid: no id leads there alone
			tryMessage(name, messages, id);
	arborRun(['sync', '--quiet']);
	const now = loadTrees();
	for (const tree of trees)
		if (!now.names.has(tree))
			complain(name, [`tree ${tree} is gone`]);
	const beside = now.trees.size - trees.size;
	if (beside > begun)
		complain(name, [`${beside} trees are new, and ${begun} conversations`]);
	return { tried: runs - before, beside };
}

for (const capture of captures) {
	const { tried, beside } = tryConversation(capture);
	console.log(`# ${nameOf(capture)}: ${tried} forks${beside ? `, ${beside} that begin anew` : ''}`);
	rmSync(home, { recursive: true, force: true });
}
console.log(`# ${runs} forks gone on with, ${failures} wrong`);
process.exitCode = failures ? 1 : 0;
