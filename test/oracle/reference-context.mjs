// What the client sends before an assistant message, computed from its transcript: a plain second
// opinion on `arbor log --as-sent`. Every rule was found by looking at what the API received, in the
// captures and from files written by hand (resumes.jsonl), with client 2.1.197.
//
//   reference-context.mjs FIXTURES [ANSWERS] > COMPUTED     for context.mjs
//
// From the first line of the answering message:
//
//   1. Chain       up over parentUuid, without the line itself (lines.mjs has the gaps).
//   2. Compaction  the last compact_boundary on the chain cuts it. What the boundary preserved is put back behind
//                  its anchor (the summary): preservedMessages in the listed order, else the chain from
//                  head to tail of preservedSegment. A summary without a boundary cuts nothing.
//   3. Repair      behind the last line on the chain of each API message come its lines that are not on the chain,
//                  then the tool results not on the chain that hang on any of its lines (progress
//                  lines in between are looked through); both in order of time.
//   4. Lines       API error lines and assistant lines of blank text are left out, and system lines but
//                  local_command, which is sent as user text. isMeta lines and summaries are user messages
//                  like others. An attachment is rendered by the client; only a queued prompt is given here, marked.
//   5. Merging     lines of one message.id become one message, also across tool results, not across a prompt.
//                  Neighbouring user messages become one, tool results first.
//   6. Pairs       a tool_use without a result is left out, and a result without its tool_use; of several results for one
//                  tool_use the first counts. A user message left with nothing says "(no content)".
//   7. Thinking    a message of which only thinking is left is left out.
//   8. Changed     where the tool is offered, ExitPlanMode's input is sent without plan and planFilePath. An answer that
//                  continues a message cut off by max_tokens was asked for with a text that is in no file, and only then.
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readAnswers } from './context.mjs';
import { blocksOf, chainTo, fileTree, isToolResult, parentOf, readLines } from './lines.mjs';

const AFTER_MAX_TOKENS = 'Output token limit hit. Resume directly — no apology, no recap of what you were doing. '
	+ 'Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces.';

const isAssistant = line => line.type === 'assistant';
const isBoundary = line => line.type === 'system' && line.subtype === 'compact_boundary';

// ---- Which lines ---------------------------------------------------------------

function preservedLines(tree, metadata) {
	if (metadata?.preservedMessages)
		return metadata.preservedMessages.uuids.flatMap(uuid => tree.byUuid.get(uuid) ?? []);
	const tail = tree.byUuid.get(metadata?.preservedSegment?.tailUuid);
	const chain = tail ? chainTo(tree, tail) : [];
	const head = chain.findIndex(line => line.uuid === metadata.preservedSegment.headUuid);
	return head >= 0 ? chain.slice(head) : [];
}

function compacted(tree, chain) {
	const at = chain.findLastIndex(isBoundary);
	if (at < 0)
		return chain;
	const metadata = chain[at].compactMetadata;
	const anchor = (metadata?.preservedMessages ?? metadata?.preservedSegment)?.anchorUuid;
	return chain.slice(at).flatMap(line => line.uuid === anchor ? [line, ...preservedLines(tree, metadata)] : [line]);
}

function parentThroughProgress(tree, line) {
	let parent = tree.byUuid.get(line.parentUuid);
	while (parent?.type === 'progress')
		parent = tree.byUuid.get(parent.parentUuid);
	return parent;
}

const byTime = (a, b) => a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0;

function offChain(tree, chain, id) {
	const mates = tree.inOrder.filter(line => isAssistant(line) && line.message.id === id);
	const results = tree.inOrder.filter(line => isToolResult(line) && mates.includes(parentThroughProgress(tree, line)));
	return [mates, results].flatMap(lines => lines.filter(line => !chain.includes(line)).sort(byTime));
}

function repaired(tree, chain) {
	const lastOf = new Map(chain.filter(line => isAssistant(line) && line.message.id).map(line => [line.message.id, line]));
	return chain.flatMap(line => lastOf.get(line.message?.id) === line ? [line, ...offChain(tree, chain, line.message.id)] : [line]);
}

// ---- What they become ----------------------------------------------------------

const isBlank = block => block.type === 'text' && block.text.trim() === '';
const isThinking = block => block.type === 'thinking' || block.type === 'redacted_thinking';

function withoutPlan(block) {
	if (block.type !== 'tool_use' || block.name !== 'ExitPlanMode')
		return block;
	const { plan: _plan, planFilePath: _path, ...input } = block.input;
	return { ...block, input };
}

function messageOf(line) {
	if (isAssistant(line))
		return line.isApiErrorMessage || blocksOf(line).every(isBlank)
			? [] : [{ role: 'assistant', id: line.message.id, content: blocksOf(line).map(withoutPlan) }];
	if (line.type === 'user')
		return [{ role: 'user', content: blocksOf(line) }];
	if (line.type === 'system' && line.subtype === 'local_command')
		return [{ role: 'user', content: [{ type: 'text', text: line.content }] }];
	if (line.type === 'attachment' && line.attachment?.type === 'queued_command')
		return [{ role: 'user', content: [{ type: 'text', text: line.attachment.prompt, client: true }] }];
	return [];
}

const isOnlyResults = message => message.role === 'user' && message.content.every(block => block.type === 'tool_result');

// The message among those so far that this one belongs to.
function earlierPart(messages, message) {
	if (message.role !== 'assistant' || !message.id)
		return undefined;
	for (const before of messages.toReversed()) {
		if (before.role === 'assistant' && before.id === message.id)
			return before;
		if (before.role !== 'assistant' && !isOnlyResults(before))
			return undefined;
	}
	return undefined;
}

function withJoinedParts(messages) {
	const joined = [];
	for (const message of messages) {
		const earlier = earlierPart(joined, message);
		if (earlier)
			earlier.content.push(...message.content);
		else
			joined.push({ ...message, content: [...message.content] });
	}
	return joined;
}

function paired(messages) {
	const blocks = messages.flatMap(message => message.content);
	const used = new Set(blocks.filter(block => block.type === 'tool_use').map(block => block.id));
	const results = new Map();
	for (const block of blocks)
		if (block.type === 'tool_result' && !results.has(block.tool_use_id))
			results.set(block.tool_use_id, block);
	const isKept = block => block.type === 'tool_use' ? results.has(block.id)
		: block.type !== 'tool_result' || used.has(block.tool_use_id) && results.get(block.tool_use_id) === block;
	return messages.map(message => ({ ...message, content: message.content.filter(isKept) }));
}

const isSaid = message => message.role === 'user' || !message.content.every(isThinking);

function withMergedUsers(messages) {
	const merged = [];
	for (const message of messages) {
		const before = merged.at(-1);
		if (before?.role === 'user' && message.role === 'user')
			before.content.push(...message.content);
		else
			merged.push({ ...message, content: [...message.content] });
	}
	return merged;
}

function inSendingOrder(message) {
	if (message.role !== 'user')
		return message;
	const results = message.content.filter(block => block.type === 'tool_result');
	const others = message.content.filter(block => block.type !== 'tool_result');
	const content = [...results, ...others];
	return { ...message, content: content.length > 0 ? content : [{ type: 'text', text: '(no content)' }] };
}

// What asked for the answer, if that was not the last message.
function askedFor(lines, answer) {
	const last = lines.findLast(isAssistant);
	const isContinued = last && last === lines.at(-1) && last.message.stop_reason === 'max_tokens' && last.message.id !== answer.message.id;
	return isContinued ? [{ role: 'user', content: [{ type: 'text', text: AFTER_MAX_TOKENS }] }] : [];
}

// What the given lines, in order and repaired, become when they are sent before the answer.
export function rendered(lines, answer) {
	const messages = [...withJoinedParts(lines.flatMap(messageOf)), ...askedFor(lines, answer)];
	return withMergedUsers(paired(messages).filter(isSaid)).map(inSendingOrder)
		.map(({ role, content }) => ({ role, content }));
}

export function contextBefore(tree, answer) {
	const parent = parentOf(tree, answer);
	return rendered(repaired(tree, compacted(tree, parent ? chainTo(tree, parent) : [])), answer);
}

function main([fixtures, table]) {
	if (!fixtures) {
		console.error('usage: reference-context.mjs FIXTURES [ANSWERS] > COMPUTED');
		return 2;
	}
	for (const row of readAnswers(table ?? join(dirname(fileURLToPath(import.meta.url)), 'answers.tsv'))) {
		if (row.uuid === '-')
			continue;
		const tree = fileTree(readLines(join(fixtures, row.scenario, 'dot-claude', row.file)));
		const messages = contextBefore(tree, tree.byUuid.get(row.uuid));
		console.log(JSON.stringify({ scenario: row.scenario, n: row.n, messages }));
	}
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(process.argv.slice(2));
