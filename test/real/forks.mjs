// Forks at every message of captured conversations, each gone on with by the real client.
//
//   forks.mjs CLAUDE API LOG WORK DOT-CLAUDE...
//
// CLAUDE is the program, API the address of the scripted API, LOG its log, WORK a private folder, and each DOT-CLAUDE a
// captured ~/.claude, or one transcript. ARBOR says which arbor. EVERY=N takes about one message in N of each, FORKS=N about as many,
// chosen by SEED; DELETED=1 removes the conversations from the client's folder before anything is forked.
//
// For each message: 'arbor fork' at it, the client is told to go on with a prompt, and what the API received then has to be
// what 'arbor log --as-sent' says of that point, and the prompt; sent.mjs says when they are equal.
// Then something in it is lost, doubled, moved or changed, and it must not be equal any more.
// At the end what the clients have written is mirrored: every tree is still there, and beside them only what was begun anew.
//
// Prints what differs; ends with 0 when nothing does.
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, cpSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, readSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { faultsOf, hasCircle, readTranscripts } from './forked.mjs';
import { differencesOf, tamperWith } from './sent.mjs';

const [claude, api, log, work, ...captures] = process.argv.slice(2);
const { ARBOR, EVERY = '1', FORKS, SEED = '1', DELETED } = process.env;
const RUN_MS = 60000;
const SHOWN = 6;

let seed = Number(SEED) >>> 0;
function random() {
	seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
	return seed >>> 8;
}
const chosen = of => random() % (FORKS ? Math.max(1, Math.round(of / Number(FORKS))) : Number(EVERY)) === 0;

const fromLines = content => content.split('\n').filter(Boolean).map(line => JSON.parse(line));

// ---- Arbor ---------------------------------------------------------------------

let home;
const arborRun = (args, store = 'store') => execFileSync(ARBOR, args, { env: { PATH: process.env.PATH, HOME: home, ARBOR_HOME: join(home, store) },
	encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'pipe'] });
const arborItems = (args, store) => fromLines(arborRun([...args, '--json'], store));

// What is sent is asked of a store that knows no fork: in the other one a message may be read from the very file that is tried.
const BEFORE = 'before';
const contextAt = (id, more = []) => arborItems(['log', id, '--as-sent', ...more], BEFORE)
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
	const { blocks } = arborItems(['log', id], BEFORE).findLast(item => item.kind === 'message');
	const rest = last.content.slice(0, last.content.length - blocks.length);
	return rest.length ? [...context, { ...last, content: rest }] : context;
}

const expectedContext = (messages, id, fork) => fork.prompt === undefined ? contextBehind(messages, id) : contextBefore(id);

// ---- The client ----------------------------------------------------------------

let runs = 0;

// The thoughts of another model are not sent, so the one that had the last ones goes on.
const modelsOf = lines => [...new Set(lines.map(line => line.message?.model).filter(model => /^claude-/.test(model)))];

// The log holds every context that was sent: it becomes larger than what can be read at once.
function readBehind(path, from) {
	const file = openSync(path, 'r'), text = Buffer.alloc(fstatSync(file).size - from);
	for (let n = 0; n < text.length;)
		n += readSync(file, text, n, text.length - n, from + n);
	closeSync(file);
	return text.toString('utf8');
}

function goOn(fork, models) {
	const prompt = `SCRIPT:text(fork-${++runs})`;
	const before = existsSync(log) ? statSync(log).size : 0;
	const run = spawnSync(claude, ['-p', prompt, '--output-format', 'json', ...(models.length ? ['--model', models.at(-1)] : []), ...fork.words.slice(1)], {
		cwd: fork.cwd, encoding: 'utf8', timeout: RUN_MS, maxBuffer: 1 << 28, killSignal: 'SIGKILL', stdio: ['ignore', 'pipe', 'pipe'],
		env: { HOME: home, PATH: '/usr/bin:/bin', ANTHROPIC_BASE_URL: api, ANTHROPIC_API_KEY: 'none', DISABLE_AUTOUPDATER: '1',
			CLAUDE_CODE_MAX_RETRIES: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
			DISABLE_AUTO_COMPACT: '1' }, // one that is nearly full would be compacted first
	});
	const requests = fromLines(readBehind(log, before))
		.filter(entry => entry.dir === 'req' && JSON.stringify(entry.body?.messages ?? '').includes(prompt));
	const after = fork.path ? readFileSync(fork.path) : Buffer.alloc(0);
	return { prompt, requests: requests.map(({ body }) => body), said: [run.stdout.slice(0, 300), run.stderr.slice(0, 300)],
		isKept: after.subarray(0, fork.bytes.length).equals(fork.bytes), added: fromLines(after.subarray(fork.bytes.length).toString('utf8')) };
}

// Behind an answer, behind its results and before the next prompt is one point. The client gets files that are the same but for
// their id once; what it sends is compared for each. They come one after the other, so a few are remembered.
let files = [];
function goOnOnce(fork, models) {
	const key = fork.bytes.toString('latin1').replaceAll(fork.session, '');
	const known = files.find(file => file.key === key) ?? { key, went: goOn(fork, models) };
	files = [known, ...files.filter(file => file !== known)].slice(0, 8);
	return known.went;
}

// ---- One conversation ------------------------------------------------------------

let failures = 0, forks = 0, begun = 0, transcripts;
function complain(where, lines) {
	failures++;
	for (const line of lines.slice(0, SHOWN))
		console.log(`${where}: ${line}`);
	if (lines.length > SHOWN)
		console.log(`${where}: and ${lines.length - SHOWN} more`);
}

// Lines that hang on each other in a circle are cut by each file at another place, by a fork too: what is before a message is asked
// of the file that was there first.
let circular = '';

function forkAt(id) {
	const [fork] = arborItems(['fork', circular + id, '--cwd', join(home, 'work')]);
	return { ...fork, bytes: fork.path ? readFileSync(fork.path) : Buffer.alloc(0) };
}

// Forked again it is the same file, as nobody has gone on with it; where that is gone, the same under another id.
function checkFile(where, id, fork) {
	const again = forkAt(id);
	if (again.session !== fork.session || !again.bytes.equals(fork.bytes))
		complain(where, ['forked again it is another file']);
	if (!fork.path)
		return;
	rmSync(fork.path);
	const anew = forkAt(id);
	rmSync(anew.path);
	writeFileSync(fork.path, fork.bytes, { mode: 0o600 });
	if (anew.session === fork.session || fork.bytes.toString('latin1').replaceAll(fork.session, anew.session) !== anew.bytes.toString('latin1'))
		complain(where, ['forked anew it is another file']);
	const faults = faultsOf(fromLines(fork.bytes.toString('utf8')), transcripts);
	if (faults.length)
		complain(where, faults);
}

function tryMessage(name, messages, id) {
	const where = `${name} ${messages.get(id).role} ${id}`;
	let fork;
	try {
		fork = forkAt(id);
		checkFile(where, id, fork);
	} catch (error) {
		return complain(where, [String(error.stderr ?? error.stack).trim()]);
	}
	const lines = fromLines(fork.bytes.toString('utf8')), expected = expectedContext(messages, id, fork);
	// A sub-agent's conversation is its own, and what goes on with it another one.
	begun += fork.path && !messages.get(id).aside && !transcripts.cutOff.has(lines[0].uuid) ? 0 : 1;
	const { prompt, requests: [request, ...more], said, isKept, added } = goOnOnce(fork, modelsOf(lines));
	forks++;
	if (!request || more.length)
		return complain(where, [`${request ? more.length + 1 : 'no'} requests`, ...said]);
	if (!isKept)
		complain(where, ['the client has rewritten the file']);
	const all = { expected, prompt, fork: lines, added };
	const found = differencesOf({ ...all, request });
	if (found.length)
		return complain(where, found);
	const { what, messages: others } = tamperWith(request.messages, random);
	if (!differencesOf({ ...all, request: { ...request, messages: others } }).length)
		complain(where, [`nobody notices that ${what}`]);
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
	arborRun(['sync', '--quiet'], BEFORE);
	const { messages, trees } = loadTrees();
	transcripts = readTranscripts(join(home, '.claude'));
	circular = isTranscript(capture) && hasCircle(transcripts) ? `${name}@` : '';
	if (DELETED && existsSync(join(home, '.claude/projects')))
		removeTranscripts(join(home, '.claude/projects'));
	const before = forks;
	begun = 0;
	files = [];
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
	return { tried: forks - before, beside };
}

for (const capture of captures) {
	const { tried, beside } = tryConversation(capture);
	console.log(`# ${nameOf(capture)}: ${tried} forks${beside ? `, ${beside} that begin anew` : ''}`);
	rmSync(home, { recursive: true, force: true });
}
console.log(`# ${forks} forks gone on with, as ${runs} files, ${failures} wrong`);
process.exitCode = failures ? 1 : 0;
