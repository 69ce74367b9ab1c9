// The real branches of a ~/.claude, and every line that only looks like one.
//
//   branches.mjs FOLDER > branches.tsv
//
// Columns: verdict, file (below its project), line, children, reason. `branch` rows name a message by its first line and the first
// lines of its live successors; tree.mjs says what counts. `no` rows are lines with several children that remain when
// parallel tools and progress are taken away: candidates, each with the reason why it is no branch. The last
// rows (`lines`) count what was looked at, so that a check sees when something was missed.
import { pathToFileURL } from 'node:url';
import { blocksOf, isToolResult, messageKey } from './lines.mjs';
import { branches, buildTree } from './tree.mjs';

const shortPath = source => source.path.replace(/^projects\/[^/]*\//, '');
const lineIn = (source, node) => node.copies.find(copy => copy.source === source).line;

// parent line -> child lines, of one source
function childrenIn(source) {
	const children = new Map();
	for (const node of new Set(source.inOrder)) {
		const parent = source.nodes.get(lineIn(source, node).parentUuid);
		if (parent)
			children.set(parent, [...children.get(parent) ?? [], node]);
	}
	return children;
}

const isMate = (parent, child) => parent.line.type === 'assistant' && child.line.type === 'assistant'
	&& messageKey(parent.line) === messageKey(child.line);

// Children that parallel tools and progress explain.
function isOrdinary(parent, child) {
	return child.line.type === 'progress' || isMate(parent, child) || isToolResult(child.line);
}

const isCandidate = (parent, children) => children.filter(child => !isOrdinary(parent, child)).length > 1;

const isSynthetic = node => node.line.message?.model === '<synthetic>';
const textOf = node => blocksOf(node.line).map(block => block.text ?? '').join('');

function whatIsLeft(node) {
	if (textOf(node).startsWith('<command-name>/exit'))
		return 'the record of /exit';
	const types = blocksOf(node.line).map(block => block.type);
	if (types.every(type => type === 'thinking' || type === 'redacted_thinking'))
		return 'a turn stopped while thinking';
	if (types.every(type => type === 'tool_use'))
		return 'a tool that never answered';
	return textOf(node).trim() === '' ? 'a turn interrupted before it said anything' : 'something';
}

// Beside the client's own "No response requested.", which every resume of an unanswered end writes.
function whyNone(children) {
	const rest = children.filter(child => !isSynthetic(child) && child.line.type !== 'progress');
	return children.some(isSynthetic)
		? `resumed beside ${rest.map(whatIsLeft).join(', ')}` : 'nothing live on one side';
}

function candidateRows(source, branchNodes) {
	return [...childrenIn(source)]
		.filter(([parent, children]) => isCandidate(parent, children) && !branchNodes.has(parent))
		.map(([parent, children]) => ['no', shortPath(source), parent.id, children.map(child => child.id).join(' '), whyNone(children)]);
}

// Why there is a branch, as far as the lines tell.
function whyBranch({ message, successors }) {
	const filesOf = one => new Set(one.nodes.flatMap(node => node.copies.map(copy => copy.source.path)));
	const shared = successors.map(filesOf);
	if (shared.some((files, index) => shared.slice(index + 1).every(other => ![...files].some(file => other.has(file)))))
		return 'fork into another file';
	return successors.every(one => one.role === 'user' && !one.owner)
		? 'another prompt at the same point (rewind, edit, or two processes)' : `another way on from ${message.role}`;
}

function branchRow(branch) {
	return ['branch', shortPath(branch.message.source), branch.message.id,
		branch.successors.map(one => one.id).join(' '), whyBranch(branch)];
}

export function rows(folder) {
	const tree = buildTree(folder);
	const found = branches(tree);
	const branchNodes = new Set(found.flatMap(({ message }) => message.nodes));
	const files = tree.sources.filter(source => !source.isEmbedded);
	const several = files.reduce((sum, source) => sum + [...childrenIn(source).values()].filter(list => list.length > 1).length, 0);
	return [
		...found.map(branchRow),
		...files.flatMap(source => candidateRows(source, branchNodes)),
		['lines', '-', '-', String(several), 'lines with several children in their file'],
	];
}

function main(folder) {
	if (!folder) {
		console.error('usage: branches.mjs FOLDER > branches.tsv');
		return 2;
	}
	console.log('verdict\tfile\tline\tchildren\treason');
	for (const row of rows(folder))
		console.log(row.join('\t'));
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(process.argv[2]);
