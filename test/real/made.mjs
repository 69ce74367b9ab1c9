// Conversations of shapes that the captures have not got, or not in full size, for forks.mjs.
//
//   made.mjs OUT > list      writes OUT/NAME.jsonl, and prints each path
//
// The hand-written ones of test/oracle/resume-cases.mjs are among them, each in a file of its own.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cases } from '../oracle/resume-cases.mjs';

const BEGIN = Date.parse('2026-11-15T10:00:00.000Z');
const [out] = process.argv.slice(2);
mkdirSync(out, { recursive: true });

let files = 0;
const id = (file, n) => `${file.toString(16).padStart(8, '0')}-${n.toString(16).padStart(4, '0')}-4000-8000-000000000000`;

function write(name, lines) {
	const file = ++files, session = id(file, 0xffff);
	const own = uuid => uuid && id(file, Number.parseInt(uuid.slice(0, 8), 16));
	// A uuid stands for the same line everywhere, and these are different conversations.
	const text = lines.map(line => JSON.stringify({ ...line, sessionId: session, cwd: '/home/dev/made', version: '2.1.197' })
		.replace(/[0-9a-f]{8}-0000-4000-8000-000000000000/g, own)).join('\n');
	const path = join(out, `${session}.jsonl`);
	writeFileSync(path, `${text}\n`);
	console.log(path);
	return name;
}

const uuid = n => `${n.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
const at = (n, parent) => ({ parentUuid: parent ? uuid(parent) : null, isSidechain: false, uuid: uuid(n),
	timestamp: new Date(BEGIN + n * 1000).toISOString() });
const user = (n, parent, content) => ({ ...at(n, parent), type: 'user', message: { role: 'user', content } });
const answer = (n, parent, message, block, stop = 'end_turn') => ({ ...at(n, parent), type: 'assistant', message: {
	id: `msg_${message}`, type: 'message', role: 'assistant', model: 'claude-opus-4-8', content: [block], stop_reason: stop,
	stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } });
const text = words => ({ type: 'text', text: words });
const call = name => ({ type: 'tool_use', id: `toolu_${name}`, name: 'Bash', input: { command: `echo ${name}` } });
const result = name => [{ type: 'tool_result', tool_use_id: `toolu_${name}`, content: `out ${name}` }];

// More than the five MiB above which the older client mends nothing; calls side by side in both shapes, and a branch.
function large() {
	const filler = 'All work and no play makes Jack a dull boy. '.repeat(6000);
	const lines = [];
	let n = 0, last = 0;
	const add = line => { lines.push(line); last = n; };
	for (let turn = 0; turn < 12; turn++) {
		add(user(++n, last, `Question ${turn}`));
		add(answer(++n, last, `${turn}a`, text(`${turn} ${filler}`), 'tool_use'));
		const first = ++n, second = ++n;
		if (turn % 2) {
			add(answer(first, first - 1, `${turn}a`, call(`${turn}x`), 'tool_use'));
			add(answer(second, first, `${turn}a`, call(`${turn}y`), 'tool_use'));
			add(user(++n, second, result(`${turn}y`)));
			add(user(++n, first, result(`${turn}x`)));
		} else {
			add(answer(first, first - 1, `${turn}a`, call(`${turn}x`), 'tool_use'));
			add(user(second, first, result(`${turn}x`)));
			const third = ++n;
			add(answer(third, second, `${turn}a`, call(`${turn}y`), 'tool_use'));
			add(user(++n, third, result(`${turn}y`)));
		}
		add(answer(++n, last, `${turn}b`, text(`${turn} ${filler}`)));
		if (turn === 5)
			lines.push(user(1000, last, 'Another way'), answer(1001, 1000, 'other', text('So be it')));
	}
	return lines;
}

for (const [name, lines] of Object.entries(cases))
	write(name, lines);
write('large', large());
