// recall.mjs FOLDER WORDS FOUND: compares what Arbor found with what there is.
//
// FOUND/N holds what `arbor search --json --limit 0` printed for the Nth word of WORDS (from 1): JSON
// lines with `path` (below ~/.claude) and `offset` (of the line, in bytes). Recall is the part of
// the expected lines (extract.mjs) that is among them, and has to be all of it. Hits that were not
// expected are counted, not judged: Arbor may search more than this oracle reads.
//
// A fork copies lines with their uuids, and Arbor keeps such a line once. So a line counts as
// found when a copy of it, with the same uuid and the same text, was found in another place. Of two
// objects glued together in one line the second may be given by its own offset.
//
// Prints a table by kind of word and the misses (the first MISSES_SHOWN); fails when there is one.
import { existsSync, readFileSync } from 'node:fs';
import { copyOf, fold, matcher, readWords, records } from './extract.mjs';

const MISSES_SHOWN = 50;

function readHits(file) {
	if (!existsSync(file))
		return new Set();
	return new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean).map(row => {
		const { path, offset } = JSON.parse(row);
		if (typeof path !== 'string' || !Number.isInteger(offset))
			throw new Error(`${file}: a hit without path or offset: ${row.slice(0, 200)}`);
		return `${path}:${offset}`;
	}));
}

// What each word has: lines expected, of these found, found as a copy; hits beyond.
function compare(folder, words, hits) {
	const tally = words.map(() => ({ expected: 0, direct: 0, copies: 0, known: new Set() }));
	const matches = matcher(words.map(({ word }) => word)), foundCopies = new Set(), open = [];
	for (const record of records(folder)) {
		const places = [`${record.path}:${record.offset}`, `${record.path}:${record.own_offset}`];
		let copy;
		for (const { index, context } of matches(fold(record.text))) {
			const place = places.find(p => hits[index].has(p));
			copy ??= copyOf(record);
			tally[index].expected++;
			if (place) {
				tally[index].direct++;
				tally[index].known.add(place);
				foundCopies.add(`${index} ${copy}`);
			} else
				open.push({ index, copy, context, path: record.path, line: record.line, uuid: record.uuid });
		}
	}
	const misses = open.filter(({ index, copy }) => !copy || !foundCopies.has(`${index} ${copy}`));
	for (const { index } of open)
		tally[index].copies++;
	for (const { index } of misses)
		tally[index].copies--;
	return { tally, misses };
}

function table(words, tally, hits) {
	const kinds = new Map();
	const add = (kind, index) => {
		const sum = kinds.get(kind) ?? { words: 0, expected: 0, found: 0, copies: 0, beyond: 0 };
		const { expected, direct, copies, known } = tally[index];
		sum.words++;
		sum.expected += expected;
		sum.found += direct + copies;
		sum.copies += copies;
		sum.beyond += hits[index].size - known.size;
		kinds.set(kind, sum);
	};
	words.forEach(({ kind }, index) => add(kind, index));
	words.forEach((_, index) => add('all', index));
	const row = (...cells) => console.log(cells.map((c, i) => (i ? String(c).padStart(10) : c.padEnd(10))).join(''));
	row('', 'words', 'lines', 'found', 'recall', 'by copy', 'beyond');
	for (const [kind, sum] of kinds)
		row(kind, sum.words, sum.expected, sum.found, percent(sum.found, sum.expected), sum.copies, sum.beyond);
}

// Never 100 % by rounding.
function percent(part, whole) {
	return part === whole ? '100 %' : `${(Math.floor((part / whole) * 10000) / 100).toFixed(2)} %`;
}

const printable = text => text.replace(/[^\x20-\x7e\u00a1-\uffff]+/g, ' ');

const [folder, wordsFile, foundFolder] = process.argv.slice(2);
if (!foundFolder) {
	process.stderr.write('usage: recall.mjs FOLDER WORDS FOUND\n');
	process.exit(2);
}
const words = readWords(wordsFile), hits = words.map((_, index) => readHits(`${foundFolder}/${index + 1}`));
const { tally, misses } = compare(folder, words, hits);
const silent = words.filter((_, index) => !tally[index].expected);
table(words, tally, hits);
for (const { index, path, line, uuid, context } of misses.slice(0, MISSES_SHOWN))
	console.log(`missed: ${words[index].word} (${words[index].kind}) in ${path} line ${line}, ${uuid}: ` +
		`...${printable(context)}...`);
if (misses.length > MISSES_SHOWN)
	console.log(`and ${misses.length - MISSES_SHOWN} more`);
// A word that was drawn from these files and stands nowhere is an error of ours.
for (const { word, kind } of silent)
	console.log(`nothing was expected for: ${word} (${kind})`);
process.exitCode = misses.length || silent.length || !words.length ? 1 : 0;
