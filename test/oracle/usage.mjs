// Tokens of a ~/.claude, counted once: the oracle for usage.
//
//   usage.mjs FOLDER                     the totals: name <tab> number
//
//   - once per message.id over all files (its uuid where it has none): forks, resumes and sub-agent
//     files repeat messages, and so do agent_progress lines
//   - of its lines the largest value of each field: early lines hold placeholders
//   - not <synthetic>, not API errors, not what a tool result sums up (toolUseResult)
//   - cache write is the sum of the two ephemeral_* fields where they exist, else cache_creation_input_tokens
//   - provisional: no line of the message had a stop_reason, so output may be too small
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readLines, transcripts } from './lines.mjs';

const FIELDS = ['input', 'output', 'cacheWrite', 'cacheRead'];

function cacheWriteOf(usage) {
	const parts = usage.cache_creation;
	return parts && (parts.ephemeral_5m_input_tokens !== undefined || parts.ephemeral_1h_input_tokens !== undefined)
		? (parts.ephemeral_5m_input_tokens ?? 0) + (parts.ephemeral_1h_input_tokens ?? 0)
		: usage.cache_creation_input_tokens ?? 0;
}

function countsOf(usage) {
	return {
		input: usage.input_tokens ?? 0, output: usage.output_tokens ?? 0,
		cacheWrite: cacheWriteOf(usage), cacheRead: usage.cache_read_input_tokens ?? 0,
	};
}

// The assistant line in a line: itself, or the one an agent_progress line embeds.
function assistantIn(line) {
	const inner = line.type === 'progress' && line.data?.type === 'agent_progress' ? line.data.message : line;
	return inner?.type === 'assistant' && inner.message ? inner : null;
}

// message id -> {input, output, cacheWrite, cacheRead, isProvisional}, in order of the ids
export function usageOf(lineLists) {
	const found = new Map();
	for (const lines of lineLists)
		for (const line of lines.map(assistantIn)) {
			const message = line?.message;
			if (!message?.usage || message.model === '<synthetic>' || line.isApiErrorMessage)
				continue;
			const key = message.id ?? line.uuid;
			const before = found.get(key) ?? { input: 0, output: 0, cacheWrite: 0, cacheRead: 0, isProvisional: true };
			const counts = countsOf(message.usage);
			for (const field of FIELDS)
				before[field] = Math.max(before[field], counts[field]);
			before.isProvisional &&= !message.stop_reason;
			found.set(key, before);
		}
	return new Map([...found].sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0));
}

export function totalsOf(usage) {
	const totals = { messages: usage.size, provisional: 0, input: 0, output: 0, cacheWrite: 0, cacheRead: 0 };
	for (const one of usage.values()) {
		totals.provisional += one.isProvisional ? 1 : 0;
		for (const field of FIELDS)
			totals[field] += one[field];
	}
	return totals;
}

// One file in memory at a time.
function* linesOfAll(folder) {
	for (const path of transcripts(folder))
		yield readLines(join(folder, path));
}

function main(folder) {
	if (!folder) {
		console.error('usage: usage.mjs FOLDER');
		return 2;
	}
	for (const [name, number] of Object.entries(totalsOf(usageOf(linesOfAll(folder)))))
		console.log(`${name}\t${number}`);
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(process.argv[2]);
