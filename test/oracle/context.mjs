// The comparison of computed contexts with what the API really received. Written once, here.
//
//   context.mjs FIXTURES COMPUTED [ANSWERS]
//
// FIXTURES   one folder per captured scenario, each with requests.jsonl
// COMPUTED   JSON lines {scenario, n, messages: [{role, content}]}: what somebody would send
// ANSWERS    the table of answers.mjs, default answers.tsv beside this file; every request
//            that has an answering line there must be in COMPUTED, once, and no other
//
// Two contexts are equal when their blocks are, one by one and in order, after this:
//
//   - a string is one text block, as a message's content and as a tool_result's
//   - role `system` entries are removed, and every item that holds "elided" (a text the
//     capture left out because it is the client's own)
//   - neighbouring messages of one role are merged; so only the role of each block counts
//   - one newline at the end of a text is ignored (the client adds it when it merges)
//   - fields that say how to cache, not what to read (cache_control), are ignored
//   - a message or block marked "client": true was rendered by the client (attachments, isMeta
//     lines). It may be absent from what the API received, because it was elided or never
//     sent; where an equal block is there, it stands for it
//
// Ends with 0 when all are equal, 1 when any differs or is missing, 2 when it could not compare.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export function readJsonLines(path) {
	return readFileSync(path, 'utf8').split('\n').filter(text => text.trim() !== '').map(text => JSON.parse(text));
}

export function readAnswers(path) {
	const [head, ...rows] = readFileSync(path, 'utf8').trimEnd().split('\n').map(row => row.split('\t'));
	return rows.map(row => Object.fromEntries(head.map((name, column) => [name, row[column]])))
		.map(row => ({ ...row, n: Number(row.n) }));
}

export function readRequests(fixtures, scenario) {
	return new Map(readJsonLines(join(fixtures, scenario, 'requests.jsonl')).map(request => [request.n, request.messages]));
}

// ---- What is compared ----------------------------------------------------------

const isElided = value => value !== null && typeof value === 'object' && 'elided' in value;

function asBlocks(content) {
	if (typeof content === 'string')
		return [{ type: 'text', text: content }];
	return Array.isArray(content) ? content.map(block => typeof block === 'string' ? { type: 'text', text: block } : block) : [];
}

function sorted(value) {
	if (Array.isArray(value))
		return value.map(sorted);
	if (value === null || typeof value !== 'object')
		return value;
	return Object.fromEntries(Object.keys(value).sort().map(name => [name, sorted(value[name])]));
}

// A block as a text that is equal for equal blocks.
function blockKey(block) {
	const { cache_control: _cache, client: _client, ...rest } = block;
	if (rest.type === 'text')
		rest.text = String(rest.text).replace(/\n$/, '');
	if (rest.type === 'tool_result')
		rest.content = isElided(rest.content) ? 'elided' : asBlocks(rest.content ?? '').filter(part => !isElided(part));
	return JSON.stringify(sorted(rest));
}

// The comparable blocks of a message list: [{role, key, client}].
export function flatten(messages) {
	return messages
		.filter(message => message.role !== 'system' && !isElided(message.content))
		.flatMap(message => asBlocks(message.content)
			.filter(block => !isElided(block))
			.map(block => ({
				role: message.role, key: blockKey(block), block,
				client: message.client === true || block.client === true,
			})));
}

const isSame = (a, b) => a.role === b.role && (a.key === b.key || isSameButElided(a, b));

// A tool_result whose content was left out of the capture is equal to any for the same tool_use.
function isSameButElided(a, b) {
	return a.block.type === 'tool_result' && b.block.type === 'tool_result'
		&& (isElided(a.block.content) || isElided(b.block.content))
		&& a.block.tool_use_id === b.block.tool_use_id;
}

// The longest way to pair equal blocks in order: [[computed or null, received or null]…].
function align(computed, received) {
	const most = Array.from({ length: computed.length + 1 }, () => new Int32Array(received.length + 1));
	for (let i = computed.length - 1; i >= 0; i--)
		for (let j = received.length - 1; j >= 0; j--)
			most[i][j] = isSame(computed[i], received[j])
				? most[i + 1][j + 1] + 1 : Math.max(most[i + 1][j], most[i][j + 1]);
	const pairs = [];
	let i = 0, j = 0;
	while (i < computed.length || j < received.length)
		if (i < computed.length && j < received.length && isSame(computed[i], received[j]))
			pairs.push([computed[i++], received[j++]]);
		else if (j === received.length || (i < computed.length && most[i + 1][j] >= most[i][j + 1]))
			pairs.push([computed[i++], null]);
		else
			pairs.push([null, received[j++]]);
	return pairs;
}

// What differs, as readable lines; none when the contexts are equal.
export function differences(computedMessages, receivedMessages) {
	return align(flatten(computedMessages), flatten(receivedMessages)).flatMap(([ours, theirs], index) => {
		if (ours && theirs || ours?.client)
			return [];
		const [who, one] = ours ? ['only computed', ours] : ['only received', theirs];
		return [`block ${index}: ${who}: ${one.role} ${shorten(one.key)}`];
	});
}

const shorten = text => text.length <= 300 ? text : `${text.slice(0, 200)} … ${text.slice(-80)}`;

// ---- The command ---------------------------------------------------------------

// Compares everything the table wants; `say` gets each difference. Returns {compared, differing}.
export function compareAll(fixtures, computed, answers, say) {
	const wanted = answers.filter(row => row.uuid !== '-');
	const byPoint = new Map();
	let differing = 0;
	for (const line of computed) {
		const point = `${line.scenario} n=${line.n}`;
		if (byPoint.has(point) || !wanted.some(row => row.scenario === line.scenario && row.n === line.n)) {
			say(`${point}: ${byPoint.has(point) ? 'computed twice' : 'nobody asked for it'}`);
			differing++;
		}
		byPoint.set(point, line);
	}
	for (const row of wanted) {
		const point = `${row.scenario} n=${row.n}`;
		const line = byPoint.get(point);
		const found = line
			? differences(line.messages, readRequests(fixtures, row.scenario).get(row.n))
			: ['not computed'];
		for (const difference of found)
			say(`${point}: ${difference}`);
		differing += found.length > 0 ? 1 : 0;
	}
	return { compared: wanted.length, differing };
}

function main([fixtures, computed, table]) {
	if (!computed) {
		console.error('usage: context.mjs FIXTURES COMPUTED [ANSWERS]');
		return 2;
	}
	const answers = readAnswers(table ?? join(dirname(fileURLToPath(import.meta.url)), 'answers.tsv'));
	const { compared, differing } = compareAll(fixtures, readJsonLines(computed), answers, text => console.log(text));
	console.log(`${compared} contexts compared, ${differing} differ`);
	return differing > 0 ? 1 : 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	try {
		process.exitCode = main(process.argv.slice(2));
	} catch (error) {
		console.error(`context: ${error.message}`);
		process.exitCode = 2;
	}
