// Whether the file of a fork is right by itself, read without any code of Arbor's.
//
//   readTranscripts(FOLDER) -> { byUuid: uuid -> lines with it, cutOff: uuids of lines that hang on one in another file }
//   hasCircle(TRANSCRIPTS) -> whether lines hang on each other in one
//   faultsOf(FORK, TRANSCRIPTS) -> lines that say what is wrong with the lines of a fork
//
// Each line hangs on the one before it. Each is one that the client has written, and says the same but for where it stands and what
// the client needs to read it. Whatever a line hung on is there, too: attachments and boundaries, of which a context says nothing.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

function parsed(text) {
	try {
		return [{ text, line: JSON.parse(text) }];
	} catch {
		return [];
	}
}

// A line; or two, where the first one was written without its end and the next client went on behind it.
function parsedLines(text) {
	const whole = parsed(text);
	for (let at = text.indexOf('}{'); !whole.length && at >= 0; at = text.indexOf('}{', at + 1))
		whole.push(...parsed(text.slice(0, at + 1)));
	return whole;
}

export function readTranscripts(folder) {
	const byUuid = new Map(), cutOff = new Set();
	for (const name of readdirSync(folder, { recursive: true }).filter(name => name.endsWith('.jsonl'))) {
		const lines = readFileSync(join(folder, name), 'utf8').split('\n').flatMap(parsedLines);
		const uuids = new Set(lines.map(({ line }) => line.uuid));
		const isCut = line => Boolean(line.parentUuid) && !uuids.has(line.parentUuid);
		const add = (line, text) => line?.uuid && byUuid.set(line.uuid, [...byUuid.get(line.uuid) ?? [],
			{ text, type: line.type, parent: line.parentUuid ?? null, ends: line.subtype === 'compact_boundary' || isCut(line) }]);
		for (const { text, line } of lines) {
			if (isCut(line))
				cutOff.add(line.uuid);
			add(line, text);
			const told = line.data?.message; // of a sub-agent, in what older clients noted of its progress
			add(told, JSON.stringify(told));
		}
	}
	return { byUuid, cutOff };
}

export function hasCircle({ byUuid }) {
	const ends = from => {
		let uuid = from;
		for (let steps = 0; byUuid.has(uuid) && steps <= byUuid.size; steps++)
			uuid = byUuid.get(uuid)[0].parent;
		return !byUuid.has(uuid);
	};
	return ![...byUuid.keys()].every(ends);
}

// Where a line stands, and what older clients did not write or wrote otherwise.
function without({ parentUuid: _parent, sessionId: _session, cwd: _cwd, isSidechain: _aside, timestamp: _time, ...line }) {
	if (line.type !== 'assistant')
		return JSON.stringify(line);
	const { model: _model, content, ...message } = line.message;
	return JSON.stringify({ ...line, message: { ...message, content: typeof content === 'string' ? [{ type: 'text', text: content }] : content } });
}

function isAsWritten(line, { byUuid }) {
	return (byUuid.get(line.uuid) ?? []).map(({ text }) => JSON.parse(text)).some(written => without(written) === without(line)
		&& (written.timestamp ?? line.timestamp) === line.timestamp && (written.message?.model ?? line.message?.model) === line.message?.model);
}

// Lines above those of a fork that are not in it, up to what was compacted: to the boundary, or to a line that it has kept. What the client
// noted of progress is left behind. A conversation is read from one file: above a line that hangs on one in another, or is in two
// files, which hang it on different ones, nothing is looked at; nor above the later parts of an answer, which come with its first. A prompt in a
// circle of lines hangs on what follows it.
function lostAbove(lines, { byUuid }) {
	const seen = new Set(lines.map(line => line.uuid)), lost = [];
	const kept = lines[0]?.subtype === 'compact_boundary' ? JSON.stringify(lines[0].compactMetadata ?? '') : '';
	const ends = (uuid, [first, ...more] = byUuid.get(uuid)) => kept.includes(uuid) || first.ends && more.every(one => one.ends) ||
		more.some(one => one.parent !== first.parent);
	const place = new Map(lines.map((line, n) => [line.uuid, n]));
	const firsts = new Map(lines.map(line => [line.message?.id ?? line.uuid, line]).reverse());
	for (const { uuid: from } of firsts.values())
		for (let uuid = from; byUuid.has(uuid) && !ends(uuid);) {
			uuid = byUuid.get(uuid)[0].parent;
			if (seen.has(uuid))
				break;
			seen.add(uuid);
			if (byUuid.has(uuid) && byUuid.get(uuid)[0].type !== 'progress' && !(place.get(byUuid.get(uuid)[0].parent) >= place.get(from)))
				lost.push(uuid);
		}
	return lost;
}

export function faultsOf(fork, transcripts) {
	const lines = fork.filter(line => line.uuid), uuids = new Set(lines.map(line => line.uuid));
	return [
		...uuids.size < lines.length ? [`${lines.length - uuids.size} lines are there twice`] : [],
		...lines.filter((line, n) => line.parentUuid !== (n ? lines[n - 1].uuid : null)).map(line => `${line.uuid} does not hang on the line before it`),
		...lines.filter(line => !isAsWritten(line, transcripts)).map(line => `${line.uuid} is not as the client wrote it`),
		...lostAbove(lines, transcripts).map(uuid => `${uuid} is lost`),
	];
}
