// What the client sends before an assistant message, computed from its transcript: a plain second
// opinion on `arbor log --as-sent`. The rules were found by comparing with what the API received.
//
//   reference-context.mjs FIXTURES [ANSWERS] > COMPUTED     for context.mjs
//
// From the first line of the answering message:
//
//   1. Chain       up over parentUuid, without the line itself (lines.mjs has the gaps).
//   2. Compaction  a chain that begins with a compact_boundary gets the boundary's preserved
//                  messages put back behind their anchor (the summary), in the listed order.
//   3. Repair      where the first line of an API message stands come all its lines, in file order
//                  (message.id), then all tool results that hang on one of them, in file order.
//   4. Leave out   API error lines; system lines but local_command, which is sent as user text;
//                  tool_use without a result in this context, and results without their tool_use;
//                  an assistant message of which only thinking is left, at the very end.
//   5. Change      the input of ExitPlanMode is sent without plan and planFilePath. Between a message
//                  cut off by max_tokens and the one that continues it stands a text of the client.
//   6. Render      isMeta lines and summaries are user messages like others. An attachment is
//                  rendered by the client; only a queued prompt is given here, marked.
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readAnswers } from './context.mjs';
import { blocksOf, chainTo, fileTree, isToolResult, messageKey, parentOf, readLines } from './lines.mjs';

const AFTER_MAX_TOKENS = 'Output token limit hit. Resume directly — no apology, no recap of what you were doing. '
	+ 'Pick up mid-thought if that is where the cut happened. Break remaining work into smaller pieces.';

const isAssistant = line => line.type === 'assistant';
const isApiError = line => isAssistant(line) && line.isApiErrorMessage === true;

// ---- Which lines ---------------------------------------------------------------

function withPreserved(tree, chain) {
	const kept = chain[0]?.subtype === 'compact_boundary' ? chain[0].compactMetadata?.preservedMessages : undefined;
	if (!kept)
		return chain;
	const lines = kept.uuids.map(uuid => tree.byUuid.get(uuid)).filter(line => line && !chain.includes(line));
	return chain.flatMap(line => line.uuid === kept.anchorUuid ? [line, ...lines] : [line]);
}

function linesOfMessage(tree, line) {
	const mates = tree.inOrder.filter(other => isAssistant(other) && messageKey(other) === messageKey(line));
	const uuids = new Set(mates.map(mate => mate.uuid));
	const results = tree.inOrder.filter(other => isToolResult(other) && uuids.has(other.parentUuid));
	return [...mates, ...results];
}

function repaired(tree, chain) {
	const all = new Set();
	for (const line of chain)
		for (const one of isAssistant(line) && !all.has(line) ? linesOfMessage(tree, line) : [line])
			all.add(one);
	return [...all];
}

// ---- What they become ----------------------------------------------------------

function contentOfAssistant(line) {
	return blocksOf(line).map(block => {
		if (block.type !== 'tool_use' || block.name !== 'ExitPlanMode')
			return block;
		const { plan: _plan, planFilePath: _path, ...input } = block.input;
		return { ...block, input };
	});
}

function messageOf(line) {
	if (isApiError(line))
		return [];
	if (isAssistant(line))
		return [{ role: 'assistant', content: contentOfAssistant(line), cut: line.message.stop_reason === 'max_tokens', id: messageKey(line) }];
	if (line.type === 'user')
		return [{ role: 'user', content: blocksOf(line) }];
	if (line.type === 'system' && line.subtype === 'local_command')
		return [{ role: 'user', content: [{ type: 'text', text: line.content }] }];
	if (line.type === 'attachment' && line.attachment?.type === 'queued_command')
		return [{ role: 'user', content: line.attachment.prompt, client: true }];
	return [];
}

// The answer itself continues too, so it counts as the message after the last.
function withContinuations(messages, answer) {
	const isContinued = (message, next) => message.cut && next.role === 'assistant' && next.id !== message.id;
	return messages.flatMap((message, index) =>
		isContinued(message, messages[index + 1] ?? { role: 'assistant', id: messageKey(answer) })
			? [message, { role: 'user', content: AFTER_MAX_TOKENS }] : [message]);
}

function withoutDangling(messages) {
	const blocks = messages.flatMap(message => Array.isArray(message.content) ? message.content : []);
	const used = new Set(blocks.filter(block => block.type === 'tool_use').map(block => block.id));
	const answered = new Set(blocks.filter(block => block.type === 'tool_result').map(block => block.tool_use_id));
	const isPaired = block => block.type === 'tool_use' ? answered.has(block.id)
		: block.type === 'tool_result' ? used.has(block.tool_use_id) : true;
	return messages
		.map(message => Array.isArray(message.content) ? { ...message, content: message.content.filter(isPaired) } : message)
		.filter(message => message.content.length > 0);
}

const isThinking = block => block.type === 'thinking' || block.type === 'redacted_thinking';

function withoutThinkingTail(messages) {
	const tail = messages.at(-1);
	const same = messages.filter(message => message.role === 'assistant' && message.id === tail?.id);
	return tail?.role === 'assistant' && same.every(message => message.content.every(isThinking))
		? messages.filter(message => !same.includes(message)) : messages;
}

// What the given lines, in order and repaired, become when they are sent before the answer.
export function rendered(lines, answer) {
	const messages = withoutThinkingTail(withoutDangling(withContinuations(lines.flatMap(messageOf), answer)));
	return messages.map(({ role, content, client }) => client ? { role, content, client } : { role, content });
}

export function contextBefore(tree, answer) {
	const parent = parentOf(tree, answer);
	return rendered(repaired(tree, withPreserved(tree, parent ? chainTo(tree, parent) : [])), answer);
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
