// The contexts once more, this time from the tree of the whole folder (tree.mjs) instead of one file's chain:
// whether prev, grouping and roles there are those by which the client really sends.
//
//   tree-context.mjs FIXTURES [ANSWERS] > COMPUTED     for context.mjs
//
// The path of the answering message is its prev chain, and the results of every message on it, also where the path
// goes on beside them. Of each message only the lines count that are in the answering line's own file: a fork
// may hold fewer results of a message than its origin. Blocks come in file order, which in files written by hand
// is not always the client's (reference-context.mjs); in the captures it is.
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readAnswers } from './context.mjs';
import { rendered } from './reference-context.mjs';
import { buildTree } from './tree.mjs';

function pathTo(message) {
	const path = [];
	for (let at = message; at; at = at.prev) {
		const isBeside = at.results && path[0] !== at.results;
		path.unshift(at, ...isBeside ? [at.results] : []);
	}
	return path;
}

function linesIn(source, message) {
	return message.nodes
		.flatMap(node => node.copies.filter(copy => copy.source === source))
		.sort((a, b) => a.order - b.order)
		.map(copy => copy.line);
}

// The summary stands first on a path after a compaction; the boundary above it says what was kept.
function preservedAt(source, line) {
	const boundary = line.isCompactSummary ? source.nodes.get(line.parentUuid)?.line : undefined;
	const kept = boundary?.compactMetadata?.preservedMessages;
	return kept?.anchorUuid === line.uuid ? kept.uuids.flatMap(uuid => source.nodes.get(uuid)?.line ?? []) : [];
}

function contextOf(tree, row) {
	const source = tree.sources.find(one => one.path === row.file);
	const answer = source.nodes.get(row.uuid);
	const lines = pathTo(answer.message.prev).flatMap(message => linesIn(source, message));
	return rendered(lines.flatMap(line => [line, ...preservedAt(source, line)]), answer.line);
}

function main([fixtures, table]) {
	if (!fixtures) {
		console.error('usage: tree-context.mjs FIXTURES [ANSWERS] > COMPUTED');
		return 2;
	}
	const trees = new Map();
	for (const row of readAnswers(table ?? join(dirname(fileURLToPath(import.meta.url)), 'answers.tsv'))) {
		if (row.uuid === '-')
			continue;
		if (!trees.has(row.scenario))
			trees.set(row.scenario, buildTree(join(fixtures, row.scenario, 'dot-claude')));
		const messages = contextOf(trees.get(row.scenario), row);
		console.log(JSON.stringify({ scenario: row.scenario, n: row.n, messages }));
	}
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(process.argv.slice(2));
