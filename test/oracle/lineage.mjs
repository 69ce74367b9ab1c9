// Lineages: folders of Claude Code in which conversations were resumed, forked, rewound, compacted and rewritten in every way
// clients do it, made from a seed. Nothing of Arbor is in it.
//
//   lineage.mjs OUT FIRST LAST [FOLDER]    one folder OUT/SEED for every seed from FIRST to LAST
//
// FOLDER is a ~/.claude whose conversations are taken as beginnings; the others are made up. In OUT/SEED there are
//
//   final/…       the files as they are in the end
//   versions/N    what a file was before somebody rewrote it
//   plan          "file PATH", then "version N" for each of its earlier versions, oldest first: every schedule in which
//                 each file grows to its first version, is rewritten into the next one and so on, and ends as in
//                 final/, is a way things may have happened
//   story         what was done, one step a line
//   branches      only where all conversations are made up and none is odd: a line for every message that ways part at, with the
//                 number of ways and the uuids that its first line has in any file
//
// A line is an object; how copies differ from what they copy stands in `copiers`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isToolResult, readLines, transcripts } from './lines.mjs';

// ---- Chance --------------------------------------------------------------------

class Random {
	constructor(seed) {
		this.state = (seed * 2654435769 + 0x9E3779B9) >>> 0;
		for (let i = 0; i < 4; i++)
			this.next();
	}

	next() {
		this.state = (this.state + 0x6D2B79F5) >>> 0;
		let x = Math.imul(this.state ^ this.state >>> 15, this.state | 1);
		x ^= x + Math.imul(x ^ x >>> 7, x | 61);
		return (x ^ x >>> 14) >>> 0;
	}

	below(count) {
		return this.next() % count;
	}

	between(least, most) {
		return least + this.below(most - least + 1);
	}

	chance(percent) {
		return this.below(100) < percent;
	}

	pick(list) {
		return list[this.below(list.length)];
	}

	hex(digits) {
		let text = '';
		while (text.length < digits)
			text += this.next().toString(16).padStart(8, '0');
		return text.slice(0, digits);
	}

	uuid() {
		const hex = this.hex(32);
		return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20)}`;
	}
}

// ---- A world -------------------------------------------------------------------

const START = Date.parse('2026-01-05T09:00:00.000Z');
const PROJECTS = ['-home-dev-shop', '-home-dev-tools'];

class World {
	constructor(seed) {
		this.random = new Random(seed);
		this.clock = START;
		this.files = [];
		this.story = [];
		this.said = new Map(); // uuid -> message, of what was made up
		this.messages = [];
		this.isPlain = true; // what branches there are is known
	}

	// Mostly seconds apart, sometimes at once.
	now() {
		this.clock += this.random.chance(20) ? 0 : this.random.between(1, 9000);
		return new Date(this.clock).toISOString();
	}

	newFile(options = {}) {
		const sessionId = options.sessionId ?? this.random.uuid();
		const project = options.project ?? this.random.pick(PROJECTS);
		const path = options.path ?? `projects/${project}/${sessionId}.jsonl`;
		const file = { path, project, sessionId, agent: options.agent ?? null, lines: [], versions: [], last: null, tail: '',
			client: options.client ?? '2.1.197' };
		this.files.push(file);
		return file;
	}

	tell(what, file) {
		this.story.push(`${what} ${file?.path ?? ''}`.trim());
	}

	conversations() {
		return this.files.filter(file => !file.agent && file.lines.some(line => line.uuid));
	}
}

const textOf = lines => lines.map(line => typeof line === 'string' ? `${line}\n` : `${JSON.stringify(line)}\n`).join('');
const bytesOf = file => textOf(file.lines) + file.tail;

// What a file is at this moment becomes an earlier version of it.
function keepVersion(file, lines) {
	file.versions.push(textOf(lines));
}

// ---- Saying something ----------------------------------------------------------

// Which message a line hangs on, looked through what the client wrote.
const saidAt = (world, uuid) => world.said.get(uuid) ?? null;

function newMessage(world, parentUuid) {
	const message = { parent: saidAt(world, parentUuid), uuids: [] };
	world.messages.push(message);
	return message;
}

function addLine(world, file, line, message) {
	const whole = {
		parentUuid: file.last, isSidechain: file.agent !== null, userType: 'external', cwd: '/home/dev/shop',
		sessionId: file.sessionId, version: file.client, gitBranch: 'main', ...file.agent ? { agentId: file.agent } : {},
		...line, uuid: line.uuid ?? world.random.uuid(), timestamp: line.timestamp ?? world.now(),
	};
	file.lines.push(whole);
	world.said.set(whole.uuid, message ?? saidAt(world, whole.parentUuid));
	if (message && message.uuids.length === 0)
		message.uuids.push(whole.uuid);
	file.last = whole.uuid;
	return whole;
}

const WORDS = 'fix the parser please and look at money rounding then run all tests again before we ship it'.split(' ');

function words(random, count) {
	return Array.from({ length: count }, () => random.pick(WORDS)).join(' ');
}

const asBlocks = text => [{ type: 'text', text }];

function addPrompt(world, file) {
	const { random } = world;
	// Now and then people say the same again.
	const text = random.chance(8) ? 'continue' : `${words(random, 3)} ${random.hex(6)}`;
	return addLine(world, file, {
		type: 'user', message: { role: 'user', content: random.chance(30) ? asBlocks(text) : text },
		...random.chance(50) ? { promptId: random.uuid() } : {},
	}, newMessage(world, file.last));
}

function usage(random, isLast) {
	return { input_tokens: random.below(50), cache_creation_input_tokens: random.below(4000), cache_read_input_tokens: random.below(90000),
		output_tokens: isLast ? random.between(2, 900) : 1 };
}

// The lines of one answer, with one block each. The second call may hang on the result of the first.
function addAnswer(world, file, blocks, afterCall) {
	const { random } = world;
	const id = `msg_${random.hex(20)}`, requestId = `req_${random.hex(12)}`, message = newMessage(world, file.last);
	const counts = usage(random, true), hasFinal = random.chance(60);
	blocks.forEach((block, index) => {
		const isLast = index === blocks.length - 1;
		addLine(world, file, {
			type: 'assistant', requestId,
			message: { id, type: 'message', role: 'assistant', model: 'claude-opus-4-8', content: [block],
				stop_reason: isLast && hasFinal ? 'end_turn' : null,
				usage: { ...counts, ...hasFinal && isLast ? {} : { output_tokens: 1 } } },
		}, message);
		afterCall?.(block, index);
	});
	return message;
}

function addResult(world, file, call, parentUuid, message, extra = {}) {
	const { random } = world;
	file.last = parentUuid;
	return addLine(world, file, {
		type: 'user',
		message: { role: 'user', content: [{ tool_use_id: call.id, type: 'tool_result', content: words(random, 4) }] },
		toolUseResult: { stdout: words(random, 4) }, sourceToolAssistantUUID: parentUuid, ...extra,
	}, message);
}

function newCall(random, name = 'Bash') {
	return { type: 'tool_use', id: `toolu_${random.hex(18)}`, name, input: { command: words(random, 3) } };
}

// An answer with calls and their results. Results hang on their call, in the order they came; the next line on the last.
function addCalls(world, file) {
	const { random } = world;
	const calls = Array.from({ length: random.between(1, 3) }, () => newCall(random));
	const isInterleaved = calls.length > 1 && random.chance(40);
	const blocks = [...random.chance(40) ? [{ type: 'thinking', thinking: words(random, 5), signature: random.hex(12) }] : [],
		...random.chance(50) ? asBlocks(words(random, 4)) : [], ...calls];
	const owners = new Map();
	let results = null;
	const answer = (call, parent) => {
		results ??= { parent: saidAt(world, owners.get(calls[0])), uuids: [] };
		if (results.uuids.length === 0)
			world.messages.push(results);
		addResult(world, file, call, parent, results);
	};
	addAnswer(world, file, blocks, block => {
		if (block.type !== 'tool_use')
			return;
		owners.set(block, file.last);
		if (random.chance(30))
			addProgress(world, file, { type: 'bash_progress', output: words(random, 2) }, block.id);
		if (isInterleaved)
			answer(block, owners.get(block));
	});
	if (!isInterleaved)
		for (const call of random.chance(50) ? calls : calls.toReversed())
			answer(call, owners.get(call));
}

// Progress hangs on the line it is about, and nothing hangs on it.
function addProgress(world, file, data, parentToolUseID) {
	const { last } = file;
	addLine(world, file, { type: 'progress', data, parentToolUseID, toolUseID: `${parentToolUseID}_p` });
	file.last = last;
}

function addAttachment(world, file) {
	const { random } = world;
	addLine(world, file, { type: 'attachment', attachment: { type: 'task_reminder', content: words(random, 4), itemCount: 2 } });
}

function addMetadata(world, file) {
	const { random } = world;
	const { sessionId } = file;
	file.lines.push(random.pick([
		{ type: 'ai-title', aiTitle: words(random, 3), sessionId },
		{ type: 'last-prompt', lastPrompt: words(random, 3), leafUuid: file.last, sessionId },
		{ type: 'queue-operation', operation: 'enqueue', timestamp: world.now(), sessionId, content: words(random, 2) },
		{ type: 'file-history-snapshot', messageId: file.last, snapshot: { messageId: file.last, trackedFileBackups: {} } },
		{ type: 'mode', mode: 'normal', sessionId },
		{ type: 'unheard-of', sessionId, value: random.below(3) },
	]));
}

function addTurn(world, file) {
	const { random } = world;
	addPrompt(world, file);
	if (random.chance(25))
		addAttachment(world, file);
	for (let i = random.below(3); i > 0; i--)
		addCalls(world, file);
	if (random.chance(15))
		addLine(world, file, { type: 'system', subtype: 'informational', content: words(random, 3), level: 'info' });
	addAnswer(world, file, [...random.chance(30) ? [{ type: 'thinking', thinking: words(random, 3), signature: random.hex(8) }] : [],
		...asBlocks(`${words(random, 6)} ${random.hex(4)}`)]);
	if (random.chance(30))
		addMetadata(world, file);
}

function addTurns(world, file, least = 1, most = 3) {
	for (let i = world.random.between(least, most); i > 0; i--)
		addTurn(world, file);
}

// ---- Copies --------------------------------------------------------------------

const isPromptLine = line => line.type === 'user' && !isToolResult(line);
const withList = message => typeof message?.content === 'string' ? { ...message, content: asBlocks(message.content) } : message;
const without = (line, ...names) => Object.fromEntries(Object.entries(line).filter(([name]) => !names.includes(name)));

const byOldClient = (line, world, file) => ({
	...without(line, 'requestId'), sessionId: file.sessionId, timestamp: world.now(),
	...line.message ? { message: withList(line.message) } : {},
});
const byRewriting = (line, world, file) => ({ ...without(line, 'requestId'), sessionId: file.sessionId, timestamp: world.now() });

// How a client copies a line into another file. `isFresh`: with a new uuid; `leaf`: a summary that names the old leaf
// comes first; `end`: a last line.
const copiers = {
	'resumed by 1.0.35 to 1.0.80': { client: '1.0.80', isFresh: true, leaf: true, copy: byOldClient },
	'resumed by 1.0.100 to 1.0.115': { client: '1.0.115', leaf: true, copy: byOldClient },
	'forked by 2.0.0 to 2.0.24': { client: '2.0.24', copy: byRewriting },
	'forked by 2.0.30 to 2.1.40': { client: '2.1.40',
		copy: (line, world, file) => isPromptLine(line) ? { ...line } : { ...line, sessionId: file.sessionId } },
	'forked by 2.1.80 and later': { client: '2.1.200',
		copy: (line, world, file) => ({ ...line, sessionId: file.sessionId, ...line.promptId ? { promptId: file.sessionId } : {} }) },
	'forked through the SDK': { client: '2.1.200', isFresh: true,
		copy: (line, world, file, from) => ({ ...without(line, 'sourceToolAssistantUUID'), sessionId: file.sessionId,
			forkedFrom: { sessionId: from.sessionId, messageUuid: line.uuid } }),
		end: file => ({ type: 'custom-title', customTitle: 'a fork', sessionId: file.sessionId }) },
	'forked by /branch': { client: '2.1.200',
		copy: (line, world, file, from) => ({ ...line, sessionId: file.sessionId,
			forkedFrom: { sessionId: from.sessionId, messageUuid: line.uuid } }) },
	'handed to the background': { client: '2.1.200',
		copy: (line, world, file) => ({ ...line, sessionId: file.sessionId, sessionKind: 'bg' }) },
};

const treeLines = file => file.lines.filter(line => typeof line === 'object' && typeof line.uuid === 'string' && line.type !== 'progress');

// From the root to this line, with all parts of each answer and all results of its calls: what the client copies.
function chainTo(file, leaf) {
	const lines = treeLines(file), byUuid = new Map(lines.map(line => [line.uuid, line]));
	const wanted = new Set();
	for (let at = byUuid.get(leaf); at && !wanted.has(at); at = byUuid.get(at.parentUuid))
		wanted.add(at);
	const ids = new Set([...wanted].map(line => line.message?.id).filter(Boolean));
	const mates = lines.filter(line => wanted.has(line) || ids.has(line.message?.id));
	const calls = new Set(mates.map(line => line.uuid));
	return lines.filter(line => calls.has(line.uuid) || isToolResult(line) && calls.has(line.parentUuid));
}

// Where something complete ends: the last line of an answer without calls.
function completeEnds(file) {
	return treeLines(file).filter(line => line.type === 'assistant' && !line.isSidechain
		&& line.message?.content?.at?.(-1)?.type === 'text' && line.message.stop_reason !== undefined);
}

function copyInto(world, from, way, leaf) {
	const copier = copiers[way];
	const file = world.newFile({ project: from.project, client: copier.client });
	const fresh = new Map();
	const lines = chainTo(from, leaf);
	if (copier.leaf)
		file.lines.push({ type: 'summary', summary: words(world.random, 3), leafUuid: leaf });
	for (const line of lines) {
		const copy = copier.copy(line, world, file, from);
		if (copier.isFresh) {
			copy.uuid = world.random.uuid();
			fresh.set(line.uuid, copy.uuid);
			copy.parentUuid = fresh.get(line.parentUuid) ?? null;
			shareMessage(world, line.uuid, copy.uuid);
		}
		file.lines.push(copy);
	}
	file.last = fresh.get(leaf) ?? leaf;
	if (copier.end)
		file.lines.push(copier.end(file));
	return file;
}

function shareMessage(world, uuid, copy) {
	const message = world.said.get(uuid);
	world.said.set(copy, message ?? null);
	if (message?.uuids.includes(uuid))
		message.uuids.push(copy);
}

function makeCopy(world) {
	const { random } = world;
	const from = random.pick(world.conversations());
	const ends = completeEnds(from);
	if (ends.length === 0)
		return;
	const way = random.pick(Object.keys(copiers));
	const leaf = random.chance(70) ? ends.at(-1) : random.pick(ends);
	const file = copyInto(world, from, way, leaf.uuid);
	world.tell(way, file);
	if (random.chance(75))
		addTurns(world, file);
	if (random.chance(40))
		addTurns(world, from, 1, 1);
}

// ---- Inside one file -------------------------------------------------------------

function rewind(world) {
	const { random } = world;
	const file = random.pick(world.conversations());
	const lines = treeLines(file).filter(line => !line.isSidechain && (line.type === 'user' || line.type === 'assistant'));
	if (lines.length === 0)
		return;
	const at = random.chance(50) ? random.pick(lines) : completeEnds(file).at(-random.between(1, 3)) ?? random.pick(lines);
	const isNamed = random.chance(30);
	if (isNamed)
		file.lines.push({ type: 'last-prompt', leafUuid: at.uuid, explicit: true, sessionId: file.sessionId });
	world.tell(isNamed ? 'resumed at a message' : 'rewound', file);
	file.last = at.uuid;
	addTurns(world, file, 1, 2);
}

// Two processes go on from the same leaf and write in turns.
function writeTogether(world) {
	const { random } = world;
	const file = random.pick(world.conversations());
	const before = file.lines.length, { last } = file;
	addTurns(world, file, 1, 2);
	const first = file.lines.splice(before);
	file.last = last;
	addTurns(world, file, 1, 2);
	const second = file.lines.splice(before);
	while (first.length > 0 || second.length > 0)
		file.lines.push((second.length === 0 || first.length > 0 && random.chance(50) ? first : second).shift());
	world.tell('written by two', file);
}

function compact(world) {
	const { random } = world;
	const file = random.pick(world.conversations());
	const kept = treeLines(file).filter(line => !line.isSidechain && line.message).slice(-random.between(1, 3));
	const isNamed = random.chance(60);
	const { last } = file;
	file.last = null;
	if (random.chance(85)) {
		const boundary = addLine(world, file, { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', level: 'info',
			...isNamed ? { logicalParentUuid: random.chance(90) ? last : random.uuid() } : {},
			compactMetadata: { trigger: 'auto', preTokens: 170000 } });
		if (random.chance(50))
			boundary.compactMetadata.preservedSegment = { headUuid: kept[0]?.uuid, anchorUuid: boundary.uuid, tailUuid: kept.at(-1)?.uuid };
	}
	addLine(world, file, { type: 'user', isCompactSummary: true, isVisibleInTranscriptOnly: true,
		message: { role: 'user', content: `This session is being continued from a previous conversation. ${random.hex(8)}` } },
	newMessage(world, null));
	if (random.chance(20))
		replay(world, file, kept);
	addTurns(world, file, 1, 2);
	world.tell(`compacted${isNamed ? '' : ' without saying what came before'}`, file);
}

// Some clients repeat lines behind a compaction: new uuids, the same parent and time.
function replay(world, file, kept) {
	world.isPlain = false;
	for (const line of kept)
		file.lines.push({ ...line, uuid: world.random.uuid() });
}

// ---- What does not stay ----------------------------------------------------------

// Something was at the end, and was taken back.
function withdrawTail(world) {
	const file = world.random.pick(world.conversations());
	const before = file.lines.length, { last } = file, { messages } = world;
	world.messages = [];
	addTurns(world, file, 1, 2);
	keepVersion(file, file.lines);
	file.lines.length = before;
	file.last = last;
	world.messages = messages;
	if (world.random.chance(70))
		addTurns(world, file, 1, 1);
	world.tell('took its end back', file);
}

// Something was anywhere in it.
function rewriteWhole(world) {
	const { random } = world;
	const file = random.pick(world.files);
	const older = file.lines.filter(() => random.chance(80));
	if (random.chance(50))
		older.splice(random.below(older.length + 1), 0, { type: 'ai-title', aiTitle: words(random, 2), sessionId: file.sessionId });
	if (random.chance(30))
		older.reverse();
	keepVersion(file, older);
	world.tell('was another file before', file);
}

// What another file copied before it was taken back is still there.
function withdrawCopied(world) {
	const { random } = world;
	const from = random.pick(world.conversations());
	const before = from.lines.length, { last } = from;
	addTurns(world, from, 1, 2);
	const copy = copyInto(world, from, 'forked by 2.1.80 and later', from.last);
	keepVersion(from, from.lines);
	from.lines.length = before;
	from.last = last;
	addTurns(world, copy, 1, 1);
	world.tell('took back what was copied before', from);
}

// It once held what others hold, and what they have in common must not be forgotten with it.
function replaceCopy(world) {
	const { random } = world;
	const file = random.pick(world.files), from = random.pick(world.conversations());
	file.versions.unshift(textOf(from.lines.slice(random.below(3))));
	world.tell(`was a copy of ${from.path} before`, file);
}

// ---- Sub-agents --------------------------------------------------------------------

function talkOfAgent(world, file, prompt) {
	addLine(world, file, { type: 'user', message: { role: 'user', content: prompt }, isSidechain: true }, newMessage(world, null));
	if (world.random.chance(60))
		addCalls(world, file);
	addAnswer(world, file, asBlocks(`${words(world.random, 4)} ${world.random.hex(4)}`));
}

// Where the lines of a sub-agent stand; each adds them and says whose they are.
const layouts = {
	inline(world, trunk, prompt) {
		const { last } = trunk, before = trunk.lines.length;
		trunk.last = null;
		talkOfAgent(world, trunk, prompt);
		for (const line of trunk.lines.slice(before))
			line.isSidechain = true;
		trunk.last = last;
		return null;
	},
	beside(world, trunk, prompt) {
		const agent = world.random.hex(8);
		const file = world.newFile({ path: `projects/${trunk.project}/agent-${agent}.jsonl`, sessionId: trunk.sessionId,
			project: trunk.project, agent });
		talkOfAgent(world, file, prompt);
		return file;
	},
	below(world, trunk, prompt, call) {
		const agent = `a${world.random.hex(16)}`;
		const path = `projects/${trunk.project}/${trunk.sessionId}/subagents/agent-${agent}`;
		const file = world.newFile({ path: `${path}.jsonl`, sessionId: trunk.sessionId, project: trunk.project, agent });
		talkOfAgent(world, file, prompt);
		const meta = world.newFile({ path: `${path}.meta.json`, agent });
		meta.tail = JSON.stringify({ agentType: 'general-purpose', description: prompt, toolUseId: call.id });
		return file;
	},
};

// What the trunk tells of it; its own file may have the same lines, or the same answers under other uuids, or be missing.
function tellOfAgent(world, trunk, file, call) {
	const { random } = world;
	const way = random.pick(['same', 'fresh', 'alone']);
	for (const line of treeLines(file)) {
		const message = { type: line.type, message: line.message, timestamp: line.timestamp, uuid: way === 'fresh' ? random.uuid() : line.uuid,
			...line.requestId ? { requestId: line.requestId } : {} };
		addProgress(world, trunk, { message, normalizedMessages: [], type: 'agent_progress', prompt: 'look', agentId: file.agent }, call.id);
	}
	if (way === 'alone')
		world.files = world.files.filter(other => other !== file && other.path !== file.path.replace('.jsonl', '.meta.json'));
	if (way !== 'same')
		world.isPlain = false;
}

function runAgent(world) {
	const { random } = world;
	const trunk = random.pick(world.conversations());
	const layout = random.pick(Object.keys(layouts)), prompt = `look for ${words(random, 3)} ${random.hex(4)}`;
	const call = { ...newCall(random, 'Task'), input: { description: 'look', prompt } };
	addPrompt(world, trunk);
	const asked = addAnswer(world, trunk, [...asBlocks('Delegating.'), call]);
	const parent = trunk.last;
	const file = layouts[layout](world, trunk, prompt, call);
	if (file && random.chance(40))
		tellOfAgent(world, trunk, file, call);
	if (random.chance(85)) { // else it was interrupted
		const results = { parent: asked, uuids: [] };
		world.messages.push(results);
		addResult(world, trunk, call, parent, results,
			file ? { toolUseResult: { status: 'completed', agentId: file.agent, content: [] } } : {});
		addAnswer(world, trunk, asBlocks(`Done. ${random.hex(4)}`));
	}
	world.tell(`asked a sub-agent (${layout})`, trunk);
	if (file && random.chance(20))
		splitAgent(world, file);
	if (random.chance(25))
		warmUp(world, trunk);
}

// Some clients leave one agent's lines in the folders of two sessions.
function splitAgent(world, file) {
	world.isPlain = false;
	const other = world.newFile({ path: file.path.replace(file.sessionId, world.random.uuid()).replace(/agent-/, 'agent-'),
		sessionId: world.random.uuid(), project: file.project, agent: file.agent });
	if (other.path === file.path) {
		world.files.pop();
		file.lines.forEach((line, index) => {
			if (index >= file.lines.length / 2)
				line.sessionId = other.sessionId;
		});
		return;
	}
	other.lines = file.lines.splice(Math.ceil(file.lines.length / 2));
}

function warmUp(world, trunk) {
	const agent = world.random.hex(8);
	const file = world.newFile({ path: `projects/${trunk.project}/agent-${agent}.jsonl`, sessionId: trunk.sessionId, project: trunk.project, agent });
	addLine(world, file, { type: 'user', message: { role: 'user', content: 'Warmup' } }, newMessage(world, null));
	addAnswer(world, file, asBlocks('Ready.'));
}

// ---- What should not be ------------------------------------------------------------

const oddities = {
	'an empty file': world => world.newFile(),
	'a file with nothing but a summary': world => {
		const leaf = world.random.pick(world.conversations())?.last;
		world.newFile().lines.push({ type: 'summary', summary: 'gone', leafUuid: leaf });
	},
	'a torn last line': world => {
		const file = world.random.pick(world.conversations());
		file.tail = JSON.stringify(file.lines.at(-1)).slice(0, world.random.between(1, 80));
	},
	'no last line feed': world => {
		const file = world.random.pick(world.conversations());
		file.tail = JSON.stringify(file.lines.pop());
	},
	'two lines in one': world => {
		const file = world.random.pick(world.conversations());
		const at = world.random.below(file.lines.length), both = file.lines.slice(at, at + 2);
		if (both.every(line => typeof line === 'object'))
			file.lines.splice(at, 2, both.map(line => JSON.stringify(line)).join(''));
	},
	'a line that is no JSON': world => {
		const file = world.random.pick(world.conversations());
		file.lines.splice(world.random.below(file.lines.length), 0, world.random.pick(['{"type":"user",', 'null', '', '[1]']));
	},
	'a line twice': world => {
		const file = world.random.pick(world.conversations());
		file.lines.splice(world.random.below(file.lines.length), 0, world.random.pick(file.lines));
	},
	'a line with another text': world => {
		const file = world.random.pick(world.conversations()), lines = treeLines(file).filter(isPromptLine);
		const at = file.lines.indexOf(world.random.pick(lines));
		if (at >= 0 && file.lines[at].message)
			file.lines[at] = { ...file.lines[at], message: { role: 'user', content: 'edited' } };
	},
	'a missing line': world => {
		const file = world.random.pick(world.conversations());
		file.lines.splice(world.random.below(file.lines.length), 1);
	},
	'a parent that is nowhere': world => {
		const line = world.random.pick(treeLines(world.random.pick(world.conversations())));
		line.parentUuid = world.random.uuid();
	},
	'a line that hangs on itself, or a circle': world => {
		const lines = treeLines(world.random.pick(world.conversations()));
		world.random.pick(lines).parentUuid = world.random.pick(lines).uuid;
	},
	'lines in another order': world => {
		const { lines } = world.random.pick(world.conversations());
		lines.splice(world.random.below(lines.length), 0, ...lines.splice(world.random.below(lines.length), 3));
	},
	'a line in another file': world => {
		const line = world.random.pick(treeLines(world.random.pick(world.conversations())));
		world.random.pick(world.conversations()).lines.push(line);
	},
};

function beOdd(world) {
	const name = world.random.pick(Object.keys(oddities));
	world.isPlain = false;
	oddities[name](world);
	world.tell(name);
}

// ---- A world from a seed -----------------------------------------------------------

const STEPS = [makeCopy, makeCopy, makeCopy, makeCopy, rewind, rewind, writeTogether, compact, withdrawTail, rewriteWhole, replaceCopy, withdrawCopied,
	runAgent, runAgent];
const ROOM = 60000; // bytes taken of a conversation that exists

function beginnings(folder) {
	return transcripts(folder).filter(path => !basename(path).startsWith('agent-')).map(path => join(folder, path));
}

// The first lines of a conversation that somebody had.
function takeBeginning(world, path) {
	const file = world.newFile({ sessionId: basename(path, '.jsonl') });
	let bytes = 0;
	for (const line of readLines(path)) {
		bytes += JSON.stringify(line).length;
		if (bytes > ROOM)
			break;
		file.lines.push(line);
	}
	file.last = treeLines(file).at(-1)?.uuid ?? null;
	world.isPlain = false;
	world.tell(`taken from ${basename(path)} as`, file);
}

export function makeWorld(seed, paths) {
	const world = new World(seed);
	const { random } = world;
	const taken = new Set(paths.length > 0 && random.chance(50) ? [random.pick(paths), random.pick(paths)] : []);
	taken.forEach(path => takeBeginning(world, path));
	for (let i = taken.size > 0 ? random.below(2) : random.between(1, 2); i > 0; i--)
		addTurns(world, world.newFile(), 1, 4);
	if (world.conversations().length === 0)
		addTurns(world, world.newFile(), 1, 4);
	const isOdd = random.chance(35);
	for (let i = random.between(2, 9); i > 0; i--) {
		(isOdd && random.chance(35) ? beOdd : random.pick(STEPS))(world);
		if (world.conversations().length === 0) // what was odd may have left none
			addTurns(world, world.newFile(), 1, 4);
	}
	return world;
}

// ---- Writing it down ---------------------------------------------------------------

function liveChildren(world) {
	const counts = new Map();
	for (const { parent } of world.messages)
		if (parent)
			counts.set(parent, (counts.get(parent) ?? 0) + 1);
	return counts;
}

function branchesOf(world) {
	const there = new Set(world.files.flatMap(file => treeLines(file).map(line => line.uuid)));
	world.messages = world.messages.filter(message => message.uuids.some(uuid => there.has(uuid)));
	return [...liveChildren(world)].filter(([, ways]) => ways > 1)
		.map(([message, ways]) => `${ways} ${message.uuids.filter(uuid => there.has(uuid)).join(' ')}\n`).join('');
}

function writeOut(path, text) {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, text);
}

export function writeWorld(world, out) {
	let plan = '', count = 0;
	for (const file of world.files) {
		writeOut(join(out, 'final', file.path), bytesOf(file));
		plan += `file ${file.path}\n`;
		for (const version of file.versions) {
			writeOut(join(out, 'versions', String(++count)), version);
			plan += `version ${count}\n`;
		}
	}
	writeOut(join(out, 'plan'), plan);
	writeOut(join(out, 'story'), world.story.map(step => `${step}\n`).join(''));
	if (world.isPlain)
		writeOut(join(out, 'branches'), branchesOf(world));
}

function main(out, first, last, folder) {
	if (!(Number(first) <= Number(last))) {
		console.error('usage: lineage.mjs OUT FIRST LAST [FOLDER]');
		return 2;
	}
	const paths = folder ? beginnings(folder) : [];
	for (let seed = Number(first); seed <= Number(last); seed++)
		writeWorld(makeWorld(seed, paths), join(out, String(seed)));
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(...process.argv.slice(2));
