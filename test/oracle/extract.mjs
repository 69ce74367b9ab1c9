// An independent opinion on what a search must find: reads transcripts with
// nothing of Arbor's (JSON.parse, regular expressions) and says which lines hold
// a word. Slow and plain on purpose; where it and Arbor disagree, one is wrong.
//
//   extract.mjs draw FOLDER [SEED]      words to ask for, 200 where there are as many:
//                                       KIND <tab> WORD. 50 rare (in one or two lines), 50
//                                       medium, 50 common, 25 identifiers (camel, snake, and
//                                       camel typed in lower case), 25 with letters that are not
//                                       ASCII (foreign, where there are any) or from prompts
//   extract.mjs expect FOLDER WORDS     the lines that hold each word of that list, as
//                                       JSON lines {word, session, path, line, offset, uuid}
//   extract.mjs queries FOLDER [SEED]   50 queries for the bench:
//                                       KIND <tab> QUERY <tab> PATTERN for ripgrep
//
// FOLDER is a ~/.claude; every projects/**/*.jsonl below it is read.
//
// What is searchable in a line:
//   user, assistant    message.content: a string, or of its blocks text, thinking (not its
//                      signature), tool_use (the tool's name, every string in the input) and
//                      tool_result (a string, or its text blocks)
//   summary, custom-title, ai-title, system     summary, customTitle, aiTitle, content
//   attachment         every string in it, but not what says its type, not images, not the
//                      system prompt (prompt_snapshot)
// Not toolUseResult, which repeats tool_result; not base64; not progress.
//
// A line that is not JSON may be two objects with no line feed between them (a client that
// continued a torn file); both count, at that line. Anything else broken is left out.
//
// A word is found where it is not preceded or followed by a letter or digit, without regard to
// case and accents. `_` separates: `bar` is found in `foo_bar`, `foo_bar` in `foo_bar_baz`.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const LINE_MOST = 64 << 20; // longer ones are kept, but nobody promises to search them
const ASCII = /^[\x00-\x7f]*$/;
const TOKEN = /[\p{L}\p{N}\p{M}]+/gu;
const SNAKE = /(?<![A-Za-z0-9_])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![A-Za-z0-9_])/g;
const CAMEL = /(?<![A-Za-z0-9_])[a-z]+(?:[A-Z][a-z0-9]+)+(?![A-Za-z0-9_])/g;

// ---- Lines and their text ------------------------------------------------------

// Main transcripts: projects/PROJECT/SESSION.jsonl. What sub-agents said is not
// searched yet.
const MAIN = /^projects\/[^/]+\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/i;

export function transcripts(folder, below = 'projects') {
	return readdirSync(join(folder, below), { withFileTypes: true })
		.sort((a, b) => (a.name < b.name ? -1 : 1))
		.flatMap(entry => {
			const path = `${below}/${entry.name}`;
			if (entry.isDirectory())
				return transcripts(folder, path);
			return entry.isFile() && MAIN.test(path) ? [path] : [];
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

// The objects of a line and where each begins, in characters.
function objects(text) {
	const whole = parse(text);
	if (whole)
		return [[0, whole]];
	for (let at = text.indexOf('}{'); at >= 0; at = text.indexOf('}{', at + 1)) {
		const first = parse(text.slice(0, at + 1)), second = first && parse(text.slice(at + 1));
		if (second)
			return [[0, first], [at + 1, second]];
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

function* ofBlocks(content) {
	if (typeof content === 'string')
		yield content;
	for (const block of Array.isArray(content) ? content : []) {
		if (block?.type === 'text' && typeof block.text === 'string')
			yield block.text;
		else if (block?.type === 'thinking' && typeof block.thinking === 'string')
			yield block.thinking;
		else if (block?.type === 'tool_use')
			yield* [String(block.name ?? ''), ...strings(block.input)];
		else if (block?.type === 'tool_result')
			yield* ofBlocks(typeof block.content === 'string' ? block.content :
				(Array.isArray(block.content) ? block.content : []).filter(b => b?.type === 'text'));
	}
}

function* searchable(object) {
	const own = { summary: 'summary', 'custom-title': 'customTitle', 'ai-title': 'aiTitle', system: 'content' };
	if (object.type === 'user' || object.type === 'assistant')
		yield* ofBlocks(object.message?.content);
	else if (object.type === 'attachment' && object.attachment?.type !== 'prompt_snapshot')
		yield* strings(object.attachment, typeOrImage);
	else if (Object.hasOwn(own, object.type) && typeof object[own[object.type]] === 'string')
		yield object[own[object.type]];
}

function isPrompt(object) {
	const content = object.message?.content;
	return object.type === 'user' && !object.isMeta &&
		(typeof content === 'string' || (Array.isArray(content) && content.every(b => b?.type === 'text')));
}

// Every line with something to search: where it is, and its text.
export function* records(folder) {
	for (const path of transcripts(folder)) {
		const bytes = readFileSync(join(folder, path));
		for (let start = 0, line = 1; start < bytes.length; line++) {
			const feed = bytes.indexOf(10, start), end = feed < 0 ? bytes.length : feed;
			const raw = end - start > LINE_MOST ? '' : bytes.toString('utf8', start, end);
			for (const [at, object] of objects(raw)) {
				const text = [...searchable(object)].join('\n');
				if (text)
					yield {
						path, line, text, uuid: object.uuid ?? null, prompt: isPrompt(object),
						session: basename(path, '.jsonl'), offset: start,
						own_offset: start + Buffer.byteLength(raw.slice(0, at)),
					};
			}
			start = end + 1;
		}
	}
}

// ---- Words ---------------------------------------------------------------------

export function fold(text) {
	return (ASCII.test(text) ? text : text.normalize('NFD').replace(/[\u0300-\u036f]/g, '')).toLowerCase();
}

export const tokens = text => new Set(text.match(TOKEN) ?? []);

// For a list of words: a function that says which of them (by index) a text holds. A text that
// holds a word holds the word's first token too, which most texts do not: they are passed over.
export function matcher(words) {
	const byToken = new Map();
	words.forEach((word, index) => {
		const folded = fold(word), first = folded.match(TOKEN)[0];
		const literal = folded.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
		const exact = new RegExp(`(?<![\\p{L}\\p{N}\\p{M}])${literal}(?![\\p{L}\\p{N}\\p{M}])`, 'u');
		byToken.set(first, [...(byToken.get(first) ?? []), { index, exact }]);
	});
	return function* (folded) {
		for (const token of tokens(folded))
			for (const { index, exact } of byToken.get(token) ?? []) {
				const hit = exact.exec(folded);
				if (hit)
					yield { index, context: folded.slice(Math.max(0, hit.index - 40), hit.index + 60) };
			}
	};
}

export function readWords(path) {
	return readFileSync(path, 'utf8').split('\n').filter(Boolean).map(row => {
		const [kind, word] = row.split('\t');
		return { kind, word };
	});
}

// All copies of a line (a fork copies lines with their uuids) have one of these.
export const copyOf = record =>
	record.uuid && createHash('sha1').update(`${record.uuid}\n${record.text}`).digest('base64');

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

// `plain` counts the lines of every word; `simple` has those that somewhere stand in one case, as
// people write words: `sessionid` is drawn only where it is not always `sessionID`.
function survey(folder) {
	const found = { lines: 0, simple: new Set() };
	for (const kind of ['plain', 'snake', 'camel', 'prompt', 'foreign'])
		found[kind] = new Map();
	for (const { text, prompt } of records(folder)) {
		found.lines++;
		for (const token of new Set(text.match(/[A-Za-z0-9]+/g) ?? []))
			if (!/[a-z0-9][A-Z]|[A-Z]{2}[a-z]/.test(token))
				found.simple.add(token.toLowerCase());
		for (const token of tokens(fold(text)))
			if (/^[a-z][a-z0-9]{1,23}$/.test(token)) {
				bump(found.plain, token);
				if (prompt)
					bump(found.prompt, token);
			}
		for (const token of ASCII.test(text) ? [] : tokens(text))
			if (!ASCII.test(token) && /^\p{L}[\p{L}\p{M}]{1,23}$/u.test(token))
				bump(found.foreign, token);
		for (const [kind, pattern] of [['snake', SNAKE], ['camel', CAMEL]])
			for (const token of new Set(text.match(pattern) ?? []))
				if (token.length <= 40)
					bump(found[kind], token);
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

function draw(folder, seed) {
	const random = randomFrom(seed), found = survey(folder), { rare, medium, common } = classes(found);
	const foreign = pick(found.foreign.keys(), 12, random);
	const prompt = [...found.prompt.keys()].filter(word => found.simple.has(word));
	const rows = [
		['rare', pick(rare, 50, random)],
		['medium', pick(medium, 50, random)],
		['common', pick(common, 50, random)],
		['camel', pick(found.camel.keys(), 10, random)],
		['snake', pick(found.snake.keys(), 10, random)],
		['lowered', pick(found.camel.keys(), 5, random).map(word => word.toLowerCase())],
		['foreign', foreign],
		['prompt', pick(prompt, 25 - foreign.length, random)],
	];
	const seen = new Set();
	return rows.flatMap(([kind, words]) =>
		words.filter(word => !seen.has(word) && seen.add(word)).map(word => `${kind}\t${word}`));
}

// Pairs of words that stand in one line, and phrases that stand in one, from lines that the seed
// chooses. For a pair ripgrep is given the rarer word only: its cheapest way to begin.
function pairsAndPhrases(folder, found, random) {
	const good = word => found.simple.has(word) && (found.plain.get(word) ?? 0) >= 3 && word.length > 3;
	const texts = [];
	for (const { text } of records(folder))
		if (random(97) === 0)
			texts.push(fold(text.slice(0, 20000)));
	const pairs = [], phrases = [];
	for (const text of texts) {
		const [a, b] = pick([...tokens(text)].filter(good), 2, random);
		const phrase = pick(text.match(/(?<![^ ])[a-z]{3,12} [a-z]{3,12}(?![^ ])/g) ?? [], 1, random)[0];
		if (b)
			pairs.push(['pair', `${a} ${b}`, found.plain.get(a) < found.plain.get(b) ? a : b].join('\t'));
		if (phrase)
			phrases.push(['phrase', `"${phrase}"`, phrase].join('\t'));
	}
	return [...pick(new Set(pairs), 8, random), ...pick(new Set(phrases), 6, random)];
}

function queries(folder, seed) {
	const random = randomFrom(seed), found = survey(folder), { rare, medium, common } = classes(found);
	const often = map => [...map].filter(([, lines]) => lines >= 2).map(([word]) => word);
	const row = kind => word => [kind, word, word].join('\t');
	return [
		...pick(rare, 10, random).map(row('rare')),
		...pick(medium, 10, random).map(row('medium')),
		...pick(common, 10, random).map(row('common')),
		...pick(often(found.camel), 3, random).map(row('identifier')),
		...pick(often(found.snake), 3, random).map(row('identifier')),
		...pairsAndPhrases(folder, found, random),
	];
}

function* expect(folder, words) {
	const matches = matcher(words);
	for (const record of records(folder))
		for (const { index } of matches(fold(record.text))) {
			const { session, path, line, offset, uuid } = record;
			yield JSON.stringify({ word: words[index], session, path, line, offset, uuid });
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
	const [mode, folder, more] = process.argv.slice(2);
	if (mode === 'draw' && folder)
		print(draw(folder, Number(more ?? 1)));
	else if (mode === 'queries' && folder)
		print(queries(folder, Number(more ?? 1)));
	else if (mode === 'expect' && folder && more)
		print(expect(folder, readWords(more).map(({ word }) => word)));
	else {
		process.stderr.write('usage: extract.mjs draw|queries FOLDER [SEED] | expect FOLDER WORDS\n');
		process.exitCode = 2;
	}
}
