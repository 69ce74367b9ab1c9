// recall.mjs FOLDER QUERIES FOUND: compares what Arbor found with what there is.
//
// FOUND/N holds what `arbor search --json --limit 0` printed for the Nth query of QUERIES (from 1): JSON
// lines with `path` (below ~/.claude) and `offset` (of the record, in bytes; it is in the line meant). Recall is the part of
// the expected lines (extract.mjs) that is among them, precision the part of them that was expected; both
// have to be all.
//
// A fork copies lines with their uuids, and Arbor keeps such a line once. So a line counts as
// found when a copy of it, with the same uuid and the same text, was found in another place.
//
// Prints a table by kind of query, the misses and the wrong hits (the first SHOWN of each); fails when
// there is one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyOf, matcherOfLines, readQueries, records } from './extract.mjs';

const SHOWN = 50;

// Where the lines of a file begin.
const starts = new Map();
function startsOf(folder, path) {
	if (!starts.has(path)) {
		const bytes = readFileSync(join(folder, path)), list = [0];
		for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1))
			list.push(at + 1);
		starts.set(path, list);
	}
	return starts.get(path);
}

function lineOf(folder, path, offset) {
	const list = startsOf(folder, path);
	let low = 0;
	for (let high = list.length; high - low > 1;) {
		const middle = (low + high) >> 1;
		if (list[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return `${path}:${list[low]}`;
}

function readHits(folder, file) {
	if (!existsSync(file))
		return new Set();
	return new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean).flatMap(row => {
		const { path, offset, kind } = JSON.parse(row);
		if (typeof path !== 'string' || !Number.isInteger(offset))
			throw new Error(`${file}: a hit without path or offset: ${row.slice(0, 200)}`);
		// Only transcripts are read here: plans and the like are none of its lines.
		return kind === undefined ? [lineOf(folder, path, offset)] : [];
	}));
}

// What each query has: lines expected, of these found, found as a copy; hits that were expected.
function compare(folder, queries, hits) {
	const tally = queries.map(() => ({ expected: 0, direct: 0, copies: 0, known: new Set() }));
	const matches = matcherOfLines(queries.map(({ query }) => query)), foundCopies = new Set(), open = [];
	for (const record of records(folder)) {
		const place = `${record.path}:${record.offset}`;
		let copy;
		for (const index of matches(record)) {
			copy ??= copyOf(record);
			tally[index].expected++;
			if (hits[index].has(place)) {
				tally[index].direct++;
				tally[index].known.add(place);
				foundCopies.add(`${index} ${copy}`);
			} else
				open.push({ index, copy, path: record.path, line: record.line, uuid: record.uuid });
		}
	}
	const misses = open.filter(({ index, copy }) => !copy || !foundCopies.has(`${index} ${copy}`));
	for (const { index } of open)
		tally[index].copies++;
	for (const { index } of misses)
		tally[index].copies--;
	const wrong = tally.flatMap(({ known }, index) =>
		[...hits[index]].filter(place => !known.has(place)).map(place => ({ index, place })));
	return { tally, misses, wrong };
}

function table(queries, tally, hits) {
	const kinds = new Map();
	const add = (kind, index) => {
		const sum = kinds.get(kind) ?? { queries: 0, expected: 0, found: 0, copies: 0, hits: 0, right: 0 };
		const { expected, direct, copies, known } = tally[index];
		sum.queries++;
		sum.expected += expected;
		sum.found += direct + copies;
		sum.copies += copies;
		sum.hits += hits[index].size;
		sum.right += known.size;
		kinds.set(kind, sum);
	};
	queries.forEach(({ kind }, index) => add(kind, index));
	queries.forEach((_, index) => add('all', index));
	const row = (...cells) => console.log(cells.map((c, i) => (i ? String(c).padStart(10) : c.padEnd(10))).join(''));
	row('', 'queries', 'lines', 'found', 'recall', 'by copy', 'hits', 'precision');
	for (const [kind, sum] of kinds)
		row(kind, sum.queries, sum.expected, sum.found, percent(sum.found, sum.expected), sum.copies, sum.hits,
			percent(sum.right, sum.hits));
}

// Never 100 % by rounding.
function percent(part, whole) {
	return part === whole ? '100 %' : `${(Math.floor((part / whole) * 10000) / 100).toFixed(2)} %`;
}

function show(list, row) {
	for (const one of list.slice(0, SHOWN))
		console.log(row(one));
	if (list.length > SHOWN)
		console.log(`and ${list.length - SHOWN} more`);
}

const [folder, queriesFile, foundFolder] = process.argv.slice(2);
if (!foundFolder) {
	process.stderr.write('usage: recall.mjs FOLDER QUERIES FOUND\n');
	process.exit(2);
}
const queries = readQueries(queriesFile), hits = queries.map((_, index) => readHits(folder, `${foundFolder}/${index + 1}`));
const { tally, misses, wrong } = compare(folder, queries, hits);
const silent = queries.filter((_, index) => !tally[index].expected);
table(queries, tally, hits);
show(misses, ({ index, path, line, uuid }) =>
	`missed: ${queries[index].query} (${queries[index].kind}) in ${path} line ${line}, ${uuid}`);
show(wrong, ({ index, place }) => `wrong: ${queries[index].query} (${queries[index].kind}) at ${place}`);
// What was drawn from these files and stands nowhere is an error of ours.
show(silent, ({ query, kind }) => `nothing was expected for: ${query} (${kind})`);
process.exitCode = misses.length || wrong.length || silent.length || !queries.length ? 1 : 0;
