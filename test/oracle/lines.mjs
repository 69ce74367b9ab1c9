// Reading transcripts, for the oracles: lines, and the way from a line up to its root.
// JSON.parse and plain loops; nothing of Arbor.
//
//   - A line is what stands between two line feeds. One that is not JSON may be two objects with
//     no line feed between them (a client that continued a file without a final one): both count.
//     Anything else that is not a JSON object is left out.
//   - A tree line has a uuid. Where a uuid stands twice in a file, the last one counts.
//   - A parent that is not in the file is replaced by the line nearest before in time, wherever it stands,
//     if that is at most five seconds older (5,000 ms, not 5,001); otherwise the chain ends there.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MISSING_PARENT_MS = 5000;

function parseObject(text) {
	try {
		const value = JSON.parse(text);
		return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : null;
	} catch {
		return null;
	}
}

function objectsOf(text) {
	const whole = parseObject(text);
	if (whole)
		return [whole];
	for (let at = text.indexOf('}{'); at >= 0; at = text.indexOf('}{', at + 1)) {
		const first = parseObject(text.slice(0, at + 1)), second = first && parseObject(text.slice(at + 1));
		if (second)
			return [first, second];
	}
	return [];
}

export function readLines(path) {
	return readFileSync(path, 'utf8').split('\n').flatMap(objectsOf);
}

// The *.jsonl below projects/, in order of their names.
export function transcripts(folder) {
	if (!existsSync(join(folder, 'projects')))
		return [];
	return readdirSync(join(folder, 'projects'), { recursive: true })
		.map(path => `projects/${path}`)
		.filter(path => path.endsWith('.jsonl') && statSync(join(folder, path)).isFile())
		.sort();
}

// ---- A file as a tree ----------------------------------------------------------

export function fileTree(lines) {
	const byUuid = new Map();
	lines.forEach((line, order) => {
		if (typeof line.uuid === 'string')
			byUuid.set(line.uuid, { line, order });
	});
	const inOrder = [...byUuid.values()].sort((a, b) => a.order - b.order).map(entry => entry.line);
	return { inOrder, byUuid: new Map(inOrder.map(line => [line.uuid, line])) };
}

const timeOf = line => Date.parse(line.timestamp);

// What the client takes for a parent that it does not find.
export function nearestInTime(lines, line) {
	let nearest = null;
	for (const other of lines) {
		const age = timeOf(line) - timeOf(other);
		if (other !== line && age >= 0 && age <= MISSING_PARENT_MS && (!nearest || timeOf(other) >= timeOf(nearest)))
			nearest = other;
	}
	return nearest;
}

export function parentOf(tree, line) {
	if (typeof line.parentUuid !== 'string')
		return null;
	return tree.byUuid.get(line.parentUuid) ?? nearestInTime(tree.inOrder, line);
}

// From the root down to the line, both included. A cycle ends where it would begin again.
export function chainTo(tree, line) {
	const chain = [], seen = new Set();
	for (let at = line; at && !seen.has(at); at = parentOf(tree, at)) {
		seen.add(at);
		chain.push(at);
	}
	return chain.reverse();
}

// ---- What a line says ----------------------------------------------------------

export function blocksOf(line) {
	const content = line.message?.content;
	if (typeof content === 'string')
		return [{ type: 'text', text: content }];
	return Array.isArray(content) ? content : [];
}

export const isToolResult = line => line.type === 'user' && blocksOf(line).some(block => block.type === 'tool_result');

// The lines of one API message share this. A line without an id is a message of its own.
export const messageKey = line => line.message?.id ?? line.uuid;
