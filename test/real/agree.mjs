// agree.mjs EVENTS DUMP FOLDER STATE: whether a stream says what the client wrote.
//
// EVENTS are the events of one stream, a JSON object a line; DUMP is 'arbor dump --logical' of the store; FOLDER is the
// client's own. Reads the transcripts by itself, with no code of Arbor's, and prints what is wrong, a line each:
//
//   - events are numbered from 1 on, begin with 'start' and end with what belongs to STATE, and nothing comes behind
//   - whatever is begun is ended, deltas lie between, and only what was cut off ends without a node
//   - every node that an event names is in a transcript, and says the same there
//   - every answer, call and result of the turn that stands in the transcript of the conversation is in the stream, once
//   - what was spent is the sum of all answers of the run, sub-agents' among them
//   - messages and turns that are named, and the new head, are in the tree (the dump)
import fs from 'node:fs';
import path from 'node:path';
import { createHash } from 'node:crypto';
import { NO_ANSWER, isMadeUp } from './sent.mjs';

const [eventsFile, dumpFile, folder, state] = process.argv.slice(2);
const wrong = text => { console.log(text); process.exitCode = 1; };

// ---- Ids, as docs/DATA.md has them
const bytesOf = uuid => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const NS = bytesOf('1e9ff67a-50ce-5d6f-aa29-8f27325a2a50');
function id(...parts) {
	const h = createHash('sha1').update(NS).update(parts.join('\0')).digest().subarray(0, 16);
	h[6] = (h[6] & 15) | 0x50;
	h[8] = (h[8] & 63) | 0x80;
	return h.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

// ---- What the client wrote
const lines = file => fs.readFileSync(file, 'utf8').split('\n').filter(Boolean).map(JSON.parse);
const files = fs.readdirSync(path.join(folder, 'projects'), { recursive: true }).filter(f => f.endsWith('.jsonl'));
const nodes = new Map(); // id -> {kind, block}
const conversation = []; // nodes of the main transcripts, in order
for (const file of files)
	for (const line of lines(path.join(folder, 'projects', file))) {
		if (!line.uuid)
			continue;
		nodes.set(id(line.uuid), { kind: 'line', line });
		nodes.set(id('m', line.uuid), { kind: 'message', line });
		nodes.set(id('t', line.uuid), { kind: 'turn', line });
		const content = line.message?.content;
		(Array.isArray(content) ? content : []).forEach((block, i) => {
			const node = { kind: block.type, block, line, id: id(line.uuid, String(i)) };
			nodes.set(node.id, node);
			if (!line.isSidechain)
				conversation.push(node);
		});
	}

// ---- What the stream says
const events = lines(eventsFile);
const ends = { complete: 'complete', failed: 'error', cancelled: 'cancelled', interrupted: 'interrupted' };
events.forEach((e, i) => e.seq === i + 1 || wrong(`event ${i + 1} has the number ${e.seq}`));
if (events[0]?.type !== 'start')
	wrong('it does not begin with start');
if (events.at(-1)?.type !== ends[state])
	wrong(`it ends with ${events.at(-1)?.type}, and is ${state}`);
if (events.slice(0, -1).some(e => Object.values(ends).includes(e.type)))
	wrong('it ends in the middle');

const open = new Map(); // speaker and block -> {kind, text}
const said = new Map(); // node -> times
const speaker = e => `${e.data?.parent_tool_use_id ?? ''} ${e.data?.block}`;
const wanted = {
	content: (b, t) => b.kind === 'text' && b.block.text === t.text,
	thinking: (b, t) => b.kind === 'thinking' && b.block.thinking === t.text && b.block.signature === t.end.signature,
	tool_use: (b, t) => b.kind === 'tool_use' && JSON.stringify(b.block.input) === JSON.stringify(t.end.input),
};
function ended(e, kind) {
	const b = open.get(speaker(e));
	if (b?.kind !== kind)
		return wrong(`event ${e.seq} ends what was not begun`);
	open.delete(speaker(e));
	const node = nodes.get(e.node);
	if (!e.node ? !e.data.partial : !node)
		return wrong(`event ${e.seq} (${e.type}): ${e.node ? 'its node is nowhere written' : 'names no node'}`);
	if (node && !wanted[kind](node, { text: b.text, end: e.data }))
		wrong(`event ${e.seq} (${e.type}): its node says something else: ${JSON.stringify(node.block).slice(0, 200)}`);
}
for (const e of events) {
	const [, kind, what] = /^(content|thinking|tool_use)_(start|delta|end)$/.exec(e.type) ?? [];
	if (what === 'start') {
		if (open.has(speaker(e)))
			wrong(`event ${e.seq} begins what was not ended`);
		open.set(speaker(e), { kind, text: '' });
	} else if (what === 'delta') {
		if (open.get(speaker(e))?.kind !== kind)
			wrong(`event ${e.seq} goes on with what was not begun`);
		else
			open.get(speaker(e)).text += e.data.text ?? '';
	} else if (what === 'end') {
		ended(e, kind);
	} else if (e.type === 'tool_result') {
		if (nodes.get(e.node)?.block?.tool_use_id !== e.data.tool_use_id)
			wrong(`event ${e.seq}: the result is written elsewhere`);
	} else if (e.node && !nodes.has(e.node)) {
		wrong(`event ${e.seq} (${e.type}): its node is nowhere written`);
	}
	if (e.node && (what === 'end' || e.type === 'tool_result'))
		said.set(e.node, (said.get(e.node) ?? 0) + 1);
}
for (const [who] of open)
	wrong(`'${who}' was begun and not ended`);
for (const [node, times] of said)
	if (times > 1)
		wrong(`${node} comes ${times} times`);

// ---- All of the turn: what was written since it began, but for what the client says of a turn before that was cut off, and an
// answer that says nothing (a refusal), which is no part of any stream
const session = events.at(-1)?.data?.claude_session_id;
const kinds = new Set(['text', 'thinking', 'tool_use', 'tool_result']);
const isPutIn = ({ block, line }) => line.message.model === '<synthetic>' && block.text === NO_ANSWER || isMadeUp(block) || block.text === '';
for (const n of conversation)
	if (n.line.sessionId === session && n.line.timestamp >= events[0].at && kinds.has(n.kind) && !said.has(n.id) &&
	    (n.line.type === 'assistant' || n.kind === 'tool_result') && !isPutIn(n))
		wrong(`not in the stream: ${n.kind} ${JSON.stringify(n.block).slice(0, 200)}`);

// ---- What it cost: of each answer the largest numbers that a line has
const spent = events.at(-1)?.data?.spent;
const answers = new Map();
for (const { line } of nodes.values()) {
	const usage = line.message?.usage;
	if (!usage || line.sessionId !== session || line.message.model === '<synthetic>' || line.timestamp < events[0].at)
		continue;
	const sum = answers.get(line.message.id) ?? {};
	for (const key of ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'])
		sum[key] = Math.max(sum[key] ?? 0, usage[key] ?? 0);
	answers.set(line.message.id, sum);
}
if (spent?.answers !== answers.size)
	wrong(`${spent?.answers} answers were counted, and there are ${answers.size}`);
for (const key of ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens']) {
	const sum = [...answers.values()].reduce((n, a) => n + a[key], 0);
	if (spent?.[key] !== sum)
		wrong(`${key}: ${spent?.[key]} are said to be spent, and it was ${sum}`);
}

// ---- The tree
const dump = fs.readFileSync(dumpFile, 'utf8').split('\n');
const inTree = new Set(dump.filter(l => /^(message|turn|line) /.test(l)).map(l => l.split(' ')[1]));
const heads = new Set(dump.filter(l => l.startsWith('head ')).map(l => /message=(\S+)/.exec(l)[1]));
for (const e of events)
	if (e.node && ['message', 'line', 'turn'].includes(nodes.get(e.node)?.kind) && !inTree.has(e.node))
		wrong(`event ${e.seq} (${e.type}): its message is not in the tree`);
const head = events.at(-1)?.data?.new_head;
if (!head || !heads.has(head))
	wrong(`the new head ${head} is no head of the tree`);
