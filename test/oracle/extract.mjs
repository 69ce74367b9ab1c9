// An independent opinion on what a search must find: reads transcripts with
// nothing of Arbor's (JSON.parse, regular expressions) and says which lines hold
// a word. Slow and plain on purpose; where it and Arbor disagree, one is wrong.
//
//   extract.mjs draw FOLDER [SEED [COUNT]]   what to ask for, KIND <tab> QUERY: COUNT words (500 unless
//                                       given; rare: in one or two lines; medium; common; foreign: with letters
//                                       that are not ASCII; and from prompts), a fifth as many identifiers (camel, snake,
//                                       camel typed in lower case), two fifths as many phrases (of plain words,
//                                       and cited with all that stands between them); fewer where there are not as many
//   extract.mjs expect FOLDER QUERIES   the lines that hold each query of that list, as
//                                       JSON lines {number, query, session, path, line, offset, uuid}
//   extract.mjs queries FOLDER [SEED]   200 queries for the bench, of all kinds:
//                                       KIND <tab> QUERY <tab> PATTERN for ripgrep
//
// FOLDER is a ~/.claude; every projects/**/*.jsonl below it is read.
//
// What is searchable in a line:
//   user, assistant    message.content: a string, or of its blocks text, thinking (not its
//                      signature), tool_use (the tool's name, every string in the input) and
//                      tool_result (a string, or its text blocks; without the numbers that stand, with an arrow
//                      behind them, in front of lines of files)
//   summary, custom-title, ai-title, system     summary, customTitle, aiTitle, content
//   attachment         every string in it, but not what says its type, not images, not the
//                      system prompt (prompt_snapshot); of a queued prompt (queued_command) the prompt alone
//   queue-operation    a prompt that was queued and that no later line of the file says
//   Of commands that were typed (<command-name>, <bash-input>) what was typed, if there is more than their name.
//   progress           of a sub-agent (agent_progress): the message in it
// Not toolUseResult, which repeats tool_result; not base64; no other progress.
//
// A line that is not JSON may be two objects with no line feed between them (a client that
// continued a torn file); both count, at that line. Anything else broken is left out.
//
// Each block of a message is a text of its own, and so is each other line: a phrase does not go on from one
// to the next. words.mjs says what a word is and where a query is found.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { matcher, positions } from './words.mjs';

const LINE_MOST = 64 << 20; // longer ones are kept, but nobody promises to search them
const ASCII = /^[\x00-\x7f]*$/;
const SNAKE = /(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![A-Za-z0-9_])/g;
const CAMEL = /(?<![A-Za-z0-9_])[a-z]+(?:[A-Z][a-z0-9]+)+(?![A-Za-z0-9_])/g;

// ---- Lines and their text ------------------------------------------------------

// Transcripts, projects/PROJECT/SESSION.jsonl, and those of their sub-agents.
const ID = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const TRANSCRIPT = new RegExp(`^projects/[^/]+/(${ID}|(.+/subagents/(.+/)?)?agent-[^/]+)\\.jsonl$`, 'i');

export function transcripts(folder, below = 'projects') {
	return readdirSync(join(folder, below), { withFileTypes: true })
		.sort((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap(entry => {
			const path = `${below}/${entry.name}`;
			if (entry.isDirectory())
				return transcripts(folder, path);
			return entry.isFile() && TRANSCRIPT.test(path) ? [path] : [];
		});
}

function parse(text) {
	try {
		const value = JSON.parse(text);
		return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
	} catch {
		return null;
	}
}

// The objects of a line.
function objects(text) {
	const whole = parse(text);
	if (whole)
		return [whole];
	for (let at = text.indexOf('}{'); at >= 0; at = text.indexOf('}{', at + 1)) {
		const first = parse(text.slice(0, at + 1)), second = first && parse(text.slice(at + 1));
		if (second)
			return [first, second];
	}
	return [];
}

function* strings(value, unwanted = () => false) {
	if (typeof value === 'string')
		yield value;
	else if (value !== null && typeof value === 'object' && !unwanted(value))
		for (const [key, inner] of Object.entries(value))
			if (!(typeof inner === 'string' && unwanted(value, key)))
				yield* strings(inner, unwanted);
}

const typeOrImage = (object, key) => key === 'type' || ['image', 'base64'].includes(object.type);

const unnumbered = text => text.split('\n').map(line => line.replace(/^ *[0-9]+→/, '')).join('\n');

function* ofBlock(block) {
	if (block?.type === 'text' && typeof block.text === 'string')
		yield block.text;
	else if (block?.type === 'thinking' && typeof block.thinking === 'string')
		yield block.thinking;
	else if (block?.type === 'tool_use')
		yield* [String(block.name ?? ''), ...strings(block.input)];
	else if (block?.type === 'tool_result' && Array.isArray(block.content))
		for (const inner of block.content.filter(b => b?.type === 'text'))
			yield* [...ofBlock(inner)].map(unnumbered);
	else if (block?.type === 'tool_result' && typeof block.content === 'string')
		yield unnumbered(block.content);
}

// A command as it was typed, and whether anything stands behind its name.
function command(text) {
	const shell = /^<bash-input>(.*)<\/bash-input>/s.exec(text);
	if (shell)
		return { typed: `!${shell[1].trim()}`, words: shell[1].trim() !== '' };
	const name = text.startsWith('<command-') && /<command-name>(.*?)<\/command-name>/s.exec(text)?.[1].trim();
	const args = /<command-args>(.*)<\/command-args>/s.exec(text)?.[1].trim() ?? '';
	return name ? { typed: `${name} ${args}`.trim(), words: args !== '' } : null;
}

// What somebody typed, in whatever a line says.
function* typedIn(object) {
	const content = object.type === 'user' ? object.message?.content
		: object.attachment?.type === 'queued_command' ? object.attachment.prompt : undefined;
	for (const block of [content].flat()) {
		const text = typeof block === 'string' ? block : block?.type === 'text' ? block.text : undefined;
		if (typeof text === 'string')
			yield (command(text)?.typed ?? text).trim();
	}
}

// Where the queued prompts of a file stand that it says nowhere else.
function unsaid(bytes) {
	const open = [];
	for (const [start, raw] of bytes.includes('"queue-operation"') ? split(bytes) : [])
		for (const object of objects(raw))
			if (object.type === 'queue-operation' && object.operation === 'enqueue') {
				if (typeof object.content === 'string' && !object.content.startsWith('<task-notification>'))
					open.push({ start, text: object.content.trim() });
			} else if (!object.isSidechain) {
				for (const text of typedIn(object)) {
					const at = open.findIndex(queued => queued.text === text);
					if (at >= 0)
						open.splice(at, 1);
				}
			}
	return new Set(open.map(({ start }) => start));
}

function* embedded(message) {
	const content = message?.message?.content;
	if (['user', 'assistant'].includes(message?.type))
		yield* searchable({ type: message.type, message: { content } }, true);
}

// The texts of a line, each the strings that it is made of.
function* searchable(object, inside = false) {
	const own = { summary: 'summary', 'custom-title': 'customTitle', 'ai-title': 'aiTitle', system: 'content' };
	const content = object.message?.content;
	const wrapped = object.type === 'user' && !object.isMeta && !object.isSidechain && !inside &&
		command(typeof content === 'string' ? content : content?.length === 1 ? content[0]?.text ?? '' : '');
	if (wrapped?.words)
		yield [wrapped.typed];
	else if (object.type === 'user' || object.type === 'assistant')
		for (const block of typeof content === 'string' ? [{ type: 'text', text: content }] : [content].flat())
			yield [...ofBlock(block)];
	else if (object.type === 'attachment' && object.attachment?.type === 'queued_command')
		yield [object.attachment.prompt].flat().map(b => b?.type === 'text' ? b.text : b).filter(b => typeof b === 'string');
	else if (object.type === 'progress' && object.data?.type === 'agent_progress')
		yield* embedded(object.data.message);
	else if (object.type === 'attachment' && object.attachment?.type !== 'prompt_snapshot')
		yield [...strings(object.attachment, typeOrImage)];
	else if (Object.hasOwn(own, object.type) && typeof object[own[object.type]] === 'string')
		yield [object[own[object.type]]];
}

function isPrompt(object) {
	const content = object.message?.content;
	return object.type === 'user' && !object.isMeta &&
		(typeof content === 'string' || (Array.isArray(content) && content.every(b => b?.type === 'text')));
}

// The lines of a file, each with where it begins.
function* split(bytes) {
	for (let start = 0; start < bytes.length;) {
		const feed = bytes.indexOf(10, start), end = feed < 0 ? bytes.length : feed;
		yield [start, end - start > LINE_MOST ? '' : bytes.toString('utf8', start, end)];
		start = end + 1;
	}
}

// Every line with something to search: where it is, and its texts.
export function* records(folder) {
	for (const path of transcripts(folder)) {
		const bytes = readFileSync(join(folder, path));
		const queued = unsaid(bytes);
		let line = 0;
		for (const [start, raw] of split(bytes)) {
			line++;
			for (const object of objects(raw)) {
				const own = queued.has(start) ? [[object.content]] : [];
				const texts = [...searchable(object), ...own].map(parts => parts.join('\n')).filter(Boolean);
				if (texts.length)
					yield {
						path, line, texts, uuid: object.uuid ?? null, prompt: isPrompt(object),
						session: basename(path, '.jsonl'), offset: start,
					};
			}
		}
	}
}

// ---- Queries -------------------------------------------------------------------

export function readQueries(path) {
	return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(row => {
		const [kind, query] = row.split('\t');
		return { kind, query };
	});
}

// The indices of the queries that a line holds.
export function matcherOfLines(queries) {
	const matches = matcher(queries);
	return record => new Set(record.texts.flatMap(text => [...matches(text)]));
}

// All copies of a line (a fork copies lines with their uuids) have one of these.
export const copyOf = record =>
	record.uuid && createHash('sha1').update(`${record.uuid}\n${record.texts.join('\n')}`).digest('base64');

// ---- Drawing -------------------------------------------------------------------

function randomFrom(seed) { // xorshift32
	let state = seed >>> 0 || 1;
	return below => {
		state ^= state << 13;
		state ^= state >>> 17;
		state ^= state << 5;
		return (state >>> 0) % below;
	};
}

// So many of the list without repetition, in an order that only the seed decides.
function pick(list, count, random) {
	const left = [...list].sort();
	return Array.from({ length: Math.min(count, left.length) }, () => left.splice(random(left.length), 1)[0]);
}

const bump = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);

// Cut at words, with at most three other characters between two of them.
const WORD = '[\\p{L}\\p{N}\\p{M}]', OTHER = '[^\\p{L}\\p{N}\\p{M}\\n\\r\\t"]';
const CITED = new RegExp(`(?<!${WORD})${WORD}+(?:${OTHER}{1,3}${WORD}+){1,4}(?!${WORD})`, 'gu');
const PLAIN = /(?<![^ ])[a-z]{3,12}(?: [a-z]{3,12}){1,2}(?![^ ])/g;

// `plain` counts the lines of every word; `simple` has those that somewhere stand in one case, as
// people write words: `sessionid` is drawn only where it is not always `sessionID`. Of some lines, which
// `random` chooses, a phrase each.
function survey(folder, random) {
	const found = { lines: 0, simple: new Set(), phrase: new Set(), cited: new Set() };
	for (const kind of ['plain', 'snake', 'camel', 'prompt', 'foreign'])
		found[kind] = new Map();
	for (const { texts, prompt } of records(folder)) {
		const text = texts.join('\n'), { word, whole } = positions(text);
		found.lines++;
		for (const token of new Set(text.match(/[A-Za-z0-9]+/g) ?? []))
			if (!/[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(token))
				found.simple.add(token.toLowerCase());
		for (const token of new Set([...word, ...whole]))
			if (/^[a-z][a-z0-9]{1,23}$/.test(token)) {
				bump(found.plain, token);
				if (prompt)
					bump(found.prompt, token);
			}
		for (const token of ASCII.test(text) ? [] : new Set(text.match(/[\p{L}\p{N}\p{M}]+/gu)))
			if (!ASCII.test(token) && /^\p{L}[\p{L}\p{M}]{1,23}$/u.test(token))
				bump(found.foreign, token);
		for (const [kind, pattern] of [['snake', SNAKE], ['camel', CAMEL]])
			for (const token of new Set(text.match(pattern) ?? []))
				if (token.length <= 40)
					bump(found[kind], token);
		for (const [kind, pattern] of [['phrase', PLAIN], ['cited', CITED]])
			if (random(7) === 0)
				for (const phrase of pick(texts[0].slice(0, 20000).match(pattern) ?? [], 1, random))
					found[kind].add(`"${phrase}"`);
	}
	return found;
}

// Common: the 200 words in most lines. Medium: in one line of 2,000 or more.
function classes(found) {
	const byCount = [...found.plain].filter(([word]) => found.simple.has(word))
		.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
	const common = byCount.slice(0, 200), rest = byCount.slice(200);
	const least = Math.max(3, found.lines / 2000), words = list => list.map(([word]) => word);
	return {
		common: words(common),
		medium: words(rest.filter(([, lines]) => lines >= least)),
		rare: words(rest.filter(([, lines]) => lines <= 2)),
	};
}

function draw(folder, seed, count) {
	const random = randomFrom(seed), found = survey(folder, random), { rare, medium, common } = classes(found);
	const part = (list, of) => pick(list, Math.round(count * of), random);
	const foreign = part(found.foreign.keys(), 0.06);
	const prompt = [...found.prompt.keys()].filter(word => found.simple.has(word));
	const rows = [
		['rare', part(rare, 0.3)],
		['medium', part(medium, 0.3)],
		['common', part(common, 0.24)],
		['foreign', foreign],
		['prompt', pick(prompt, count, random)],
		['camel', part(found.camel.keys(), 0.08)],
		['snake', part(found.snake.keys(), 0.08)],
		['lowered', part(found.camel.keys(), 0.04).map(word => word.toLowerCase())],
		['phrase', part(found.phrase, 0.2)],
		['cited', part(found.cited, 0.2)],
	];
	return distinct(rows, count);
}

// Each once, and of words so many: those from prompts make up what is missing of the others.
function distinct(rows, count) {
	const seen = new Set(), out = [];
	for (const [kind, queries] of rows)
		for (const query of queries)
			if (!seen.has(query) && (kind !== 'prompt' || out.length < count)) {
				seen.add(query);
				out.push(`${kind}\t${query}`);
			}
	return out;
}

// Two words that stand in one text, from lines that the seed chooses.
function pairs(folder, found, count, random) {
	const good = word => found.simple.has(word) && (found.plain.get(word) ?? 0) >= 3 && word.length > 3;
	const list = new Set();
	for (const { texts } of records(folder)) {
		if (random(31))
			continue;
		const [a, b] = pick(new Set(positions(texts[0].slice(0, 20000)).word.filter(good)), 2, random);
		if (b)
			list.add(`${a} ${b}`);
	}
	return pick(list, count, random).map(pair => pair.split(' '));
}

// What ripgrep is given is its cheapest way to the same lines: of two words the rarer one, of an OR either,
// of a prefix the prefix, of a filter the word alone.
function queries(folder, seed) {
	const random = randomFrom(seed), found = survey(folder, random), { rare, medium, common } = classes(found);
	const often = map => [...map].filter(([, lines]) => lines >= 2).map(([word]) => word);
	const rarer = (a, b) => found.plain.get(a) < found.plain.get(b) ? a : b;
	const long = [...medium, ...common].filter(word => word.length >= 6);
	const filters = ['role:user', 'role:assistant', 'tool:Bash', 'tool:Edit', 'after:2026-02-01', 'before:2026-02-01'];
	const row = kind => word => [kind, word, word];
	return [
		...pick(rare, 30, random).map(row('rare')),
		...pick(medium, 30, random).map(row('medium')),
		...pick(common, 30, random).map(row('common')),
		...[found.camel, found.snake].flatMap(map => pick(often(map), 5, random)).map(row('identifier')),
		...pairs(folder, found, 25, random).map(([a, b]) => ['and', `${a} ${b}`, rarer(a, b)]),
		...pick(found.phrase, 25, random).map(phrase => ['phrase', phrase, phrase.slice(1, -1)]),
		...pick(long, 20, random).map((word, i) => word.slice(0, 3 + i % 3)).map(word => ['prefix', `${word}*`, word]),
		...pairs(folder, found, 15, random).map(([a, b]) => ['or', `${a} OR ${b}`, `${a}|${b}`]),
		...pick(common, 15, random).map((word, i) => ['filtered', `${filters[i % filters.length]} ${word}`, word]),
	].map(columns => columns.join('\t'));
}

function* expect(folder, list) {
	const matches = matcherOfLines(list);
	for (const record of records(folder))
		for (const index of matches(record)) {
			const { session, path, line, offset, uuid } = record;
			yield JSON.stringify({ number: index + 1, query: list[index], session, path, line, offset, uuid });
		}
}

// ---- Called by hand ------------------------------------------------------------

function print(rows) {
	let out = '';
	for (const row of rows)
		out += `${row}\n`;
	process.stdout.write(out);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const [mode, folder, more, count] = process.argv.slice(2);
	if (mode === 'draw' && folder)
		print(draw(folder, Number(more ?? 1), Number(count ?? 500)));
	else if (mode === 'queries' && folder)
		print(queries(folder, Number(more ?? 1)));
	else if (mode === 'expect' && folder && more)
		print(expect(folder, readQueries(more).map(({ query }) => query)));
	else {
		process.stderr.write('usage: extract.mjs draw FOLDER [SEED [COUNT]] | queries FOLDER [SEED] | expect FOLDER QUERIES\n');
		process.exitCode = 2;
	}
}
