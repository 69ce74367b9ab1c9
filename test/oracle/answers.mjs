// Which transcript line answered which request: the table the context oracle stands on.
//
//   answers.mjs FIXTURES > answers.tsv
//
// FIXTURES holds one folder per captured scenario, with requests.jsonl (what the API
// received) and dot-claude/ (what the client left behind). Columns:
//
//   scenario  n  session  file  uuid  reason
//
// file is below dot-claude; uuid is the first line of the message that answered request n of
// the session. Where nothing in the files answered it, file and uuid are `-` and the last
// column says why; else that column says how the pair was found:
//
//   answered   the server gave the line's requestId to this request
//   retried    the request failed and was sent again, word for word; this is the later answer
//   failed     the client gave up and wrote this API error line
//
// How a pair is found, without looking at what was said: the scripted server draws every id
// from sha-256("SCENARIO:COUNTER"), one for the request, one for each tool_use, one for the
// message. So a requestId or message id tells its counter, and walking through the requests
// in order tells which counter each of them had. Requests that requests.jsonl leaves out
// (a HEAD at each start of the client) draw one id.
//
// Nothing of Arbor is used here.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readLines, transcripts } from './lines.mjs';

const DIGITS = '0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const COUNTERS_MOST = 1000;

function serverId(seed, counter) {
	const hash = createHash('sha256').update(`${seed}:${counter}`).digest();
	return '01' + [...hash.subarray(0, 22)].map(byte => DIGITS[byte % DIGITS.length]).join('');
}

// id without its prefix -> counter
function countersOf(seed) {
	const counters = new Map();
	for (let counter = 1; counter <= COUNTERS_MOST; counter++)
		counters.set(serverId(seed, counter), counter);
	return id => counters.get(String(id).replace(/^(msg|req)_/, ''));
}

// Every assistant message of the transcripts: where its first line is, and the counters of its ids.
function assistantMessages(folder, counterOf) {
	const found = new Map();
	for (const file of transcripts(folder))
		for (const line of readLines(join(folder, file))) {
			if (line.type !== 'assistant' || !line.message)
				continue;
			const key = `${file} ${line.message.id ?? line.uuid}`;
			if (!found.has(key))
				found.set(key, {
					file, uuid: line.uuid, isError: line.isApiErrorMessage === true,
					request: counterOf(line.requestId), last: counterOf(line.message.id),
				});
		}
	return [...found.values()];
}

// request counter -> the last counter the answer drew
function drawnByAnswers(messages) {
	return new Map(messages.filter(message => message.request !== undefined)
		.map(message => [message.request, message.last ?? message.request]));
}

// The counter of every listed request, by trying for those without an answer how many ids
// they drew (one: an error; two and more: an answer nobody wrote down), so that every answer
// that was written down meets a request.
function countersOfRequests(requests, drawn) {
	const listed = new Set(requests.map(request => request.n));
	const final = Math.max(...listed);
	const wanted = [...drawn.keys()].sort((a, b) => a - b);
	const walk = (n, counter, met) => {
		if (n > final)
			return met.size === wanted.length ? new Map() : null;
		if (wanted.some(request => request <= counter && !met.has(request)))
			return null;
		const own = counter + 1;
		const choices = drawn.has(own) ? [drawn.get(own)] : listed.has(n) ? [own, own + 1, own + 2, own + 3] : [own];
		if (drawn.has(own) && !listed.has(n))
			return null;
		const metNow = drawn.has(own) ? new Set([...met, own]) : met;
		for (const next of choices) {
			const rest = walk(n + 1, next, metNow);
			if (rest)
				return listed.has(n) ? rest.set(n, own) : rest;
		}
		return null;
	};
	const found = walk(1, 0, new Set());
	if (!found)
		throw new Error('the ids in the transcripts fit no order of requests');
	return found;
}

const isOfSession = (file, session) => file.includes(`/${session}.jsonl`) || file.includes(`/${session}/`);

// A fork copies lines, so one requestId may stand in several files: the request's own session has it.
function answerIn(messages, session, matches) {
	const matching = messages.filter(matches);
	return matching.find(message => isOfSession(message.file, session)) ?? matching[0];
}

const sameWords = (a, b) => a.session === b.session && JSON.stringify(a.messages) === JSON.stringify(b.messages);

function lastTextOf(request) {
	const content = request.messages.filter(message => message.role !== 'system').at(-1)?.content;
	const blocks = typeof content === 'string' ? [{ text: content }] : content ?? [];
	return blocks.at(-1)?.text ?? '';
}

function whyUnanswered(request, folder) {
	const text = lastTextOf(request);
	if (request.tools === 0 && text.startsWith('<session>'))
		return 'the client asked for a title';
	if (text.startsWith('CRITICAL: Respond with TEXT ONLY'))
		return "the client's own compaction prompt";
	if (!transcripts(folder).some(file => isOfSession(file, request.session)))
		return 'no transcript of this session';
	return 'no line was written';
}

// The rows of one scenario, in the order of its requests.
function rowsOf(scenario, path) {
	const folder = join(path, 'dot-claude');
	const requests = readLines(join(path, 'requests.jsonl'));
	const messages = assistantMessages(folder, countersOf(scenario));
	const counters = countersOfRequests(requests, drawnByAnswers(messages));
	const givenUp = messages.filter(message => message.isError && message.request === undefined);

	const rows = [];
	for (const [index, request] of [...requests.entries()].reverse()) {
		const own = answerIn(messages, request.session, message => message.request === counters.get(request.n));
		const retry = requests.slice(index + 1).findIndex(later => sameWords(request, later));
		const later = retry >= 0 ? rows.find(row => row.n === requests[index + 1 + retry].n) : undefined;
		const error = givenUp.find(message => isOfSession(message.file, request.session) && !message.taken);
		const row = { scenario, n: request.n, session: request.session };
		if (own)
			rows.unshift({ ...row, file: own.file, uuid: own.uuid, reason: own.isError ? 'failed' : 'answered' });
		else if (later)
			rows.unshift({ ...later, n: request.n, reason: later.uuid === '-' ? later.reason : 'retried' });
		else if (error && !requests.slice(index + 1).some(next => next.session === request.session)) {
			error.taken = true;
			rows.unshift({ ...row, file: error.file, uuid: error.uuid, reason: 'failed' });
		} else
			rows.unshift({ ...row, file: '-', uuid: '-', reason: whyUnanswered(request, folder) });
	}
	return rows;
}

export function answers(fixtures) {
	return readdirSync(fixtures).sort()
		.filter(scenario => existsSync(join(fixtures, scenario, 'requests.jsonl')))
		.flatMap(scenario => rowsOf(scenario, join(fixtures, scenario)));
}

function main(fixtures) {
	if (!fixtures) {
		console.error('usage: answers.mjs FIXTURES > answers.tsv');
		return 2;
	}
	console.log('scenario\tn\tsession\tfile\tuuid\treason');
	for (const row of answers(fixtures))
		console.log([row.scenario, row.n, row.session, row.file, row.uuid, row.reason].join('\t'));
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(process.argv[2]);
