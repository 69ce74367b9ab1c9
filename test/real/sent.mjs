// What the client sends when it goes on with a fork, compared with what Arbor says is sent from there.
//
//   differencesOf({ expected, prompt, fork, added, request }) -> lines that say what differs; none when nothing does
//   tamperWith(MESSAGES, RANDOM) -> { what, messages }: the same with something lost, doubled, moved or changed, which has to differ
//
// EXPECTED is the context Arbor names for the point, FORK the lines of the file it wrote, ADDED the lines that the client has
// written behind them, REQUEST what the API received. The blocks have to be the same, one by one and in order (the rule of
// test/oracle/context.mjs). A client also says things on its own account. Of these each is let through in one form and at one
// place, so that nothing that was said can be lost, doubled, changed or moved behind it:
//
//   put in      Before the prompt the client may say that the last message was not answered, and what became of tasks that ran.
//               It writes that into the file, so it is expected to the letter, at the place where the file has it; and only that:
//               these two texts, and notices of tasks that the fork knows.
//   reminders   A text that is a <system-reminder> from its first to its last letter, and is not in the context. So is
//               role `system`. A prompt that was queued is sent in one of these; it has to be there. Where results stand in one
//               message with the prompt, 2.1.325 writes them behind the text of the last.
//   notices     2.1.325 puts a reminder around the notice of a task; what it is around counts.
//   calls       A call without a result is left out by 2.1.197, and by us. 2.1.325 sends it with a result that says so: in these
//               words, once, and only for a call of which the fork has no result. Thoughts alone, as then are left of the answer,
//               are not sent.
//   thoughts    Those of another model than the one that is asked now are not sent.
//   tools       Task is called Agent now, whoever calls (`caller`) is not sent again, and of a plan (ExitPlanMode) only what is
//               not in its own file.
//   nothing     A message of which nothing is left is called so, as the first one with other words. 2.1.197 need not say it where it
//               puts in something beside it.
//   newlines    How many a text ends with: one is added where it is merged.
import { differences, flatten } from '../oracle/context.mjs';

const asBlocks = content => typeof content === 'string' ? [{ type: 'text', text: content }] : content ?? [];
const flat = messages => messages.flatMap(({ role, content }, message) => asBlocks(content).map(block => ({ role, block, message })));
const isText = block => block.type === 'text';
const isThought = block => /thinking$/.test(block.type);

const INTERRUPTED = '[Tool call interrupted: the session ended before this call\'s result was recorded, so its outcome is unknown. '
	+ 'Check whether it took effect before relying on it or running it again.]';
export const isMadeUp = block => block.type === 'tool_result' && asBlocks(block.content).map(({ text }) => text).join('\n') === INTERRUPTED;

// ---- What the client put in ------------------------------------------------------

const GO_ON = 'Continue from where you left off.';
export const NO_ANSWER = 'No response requested.';
const NOTICE = /^<task-notification>\n<task-id>([^<]*)<\/task-id>\n[^]*<\/task-notification>$/;

const textOf = line => asBlocks(line.message.content).map(block => block.text).join('\n');
const isSaid = line => line.type === 'user' || line.type === 'assistant';

function isPutIn(line, fork) {
	const text = textOf(line);
	if (line.type === 'assistant')
		return text === NO_ANSWER && line.message.model === '<synthetic>';
	const [, task] = NOTICE.exec(text) ?? [];
	return line.isMeta ? text === GO_ON : task !== undefined && fork.some(one => JSON.stringify(one).includes(task));
}

// How many blocks of the end stand behind a line of the fork. Only what local commands printed can: the client looks
// through it for the message that was not answered.
function blocksBehind(fork, uuid) {
	const at = fork.findIndex(line => line.uuid === uuid);
	return at < 0 ? 0 : fork.slice(at + 1).filter(line => line.subtype === 'local_command').length;
}

// Ours, with what the client put in before the prompt; `wrong` gets what it had no reason to.
function withPutIn(ours, { prompt, fork, added }, wrong) {
	const end = added.findIndex(line => line.type === 'user' && textOf(line) === prompt);
	const lines = (end < 0 ? added : added.slice(0, end)).filter(isSaid).filter(line => !asBlocks(line.message.content).every(isMadeUp));
	for (const line of lines)
		if (!isPutIn(line, fork))
			wrong.push(`the client put in: ${line.type} ${textOf(line).slice(0, 200)}`);
	const pair = lines.filter(line => line.type === 'assistant' || line.isMeta);
	if (pair.filter(line => line.type === 'assistant').length !== (pair.length ? 1 : 0) || pair.length > 2)
		wrong.push(`the client put in ${pair.length} lines for one message that was not answered`);
	const place = ours.length - (pair.length ? blocksBehind(fork, pair[0].parentUuid) : 0);
	const asSaid = chosen => chosen.map(line => ({ role: line.type, block: { type: 'text', text: textOf(line) } }));
	return [...ours.slice(0, place), ...asSaid(pair), ...ours.slice(place),
		...asSaid(lines.filter(line => !pair.includes(line))), { role: 'user', block: { type: 'text', text: prompt } }];
}

// ---- What the client words itself -------------------------------------------------

const REMINDER = /^\s*<system-reminder>[^]*<\/system-reminder>\s*$/;
const NOTIFIED = /^<system-reminder>\n\[SYSTEM NOTIFICATION - NOT USER INPUT\]\n[^]*?\n\n(<task-notification>[^]*<\/task-notification>)\n<\/system-reminder>\n?$/;
const NO_CONTENT = '(no content)';
const NOTHING = '[Orphaned tool result removed due to conversation resume]';

// Newlines at the end are not compared, and neither is how the client calls nothing.
function reworded(block) {
	if (!isText(block))
		return block;
	const text = block.text === NOTHING ? NO_CONTENT : NOTIFIED.exec(block.text)?.[1] ?? block.text;
	return { ...block, text: text.replace(/\n+$/, '') };
}

function withoutReminders(theirs, ours) {
	const known = new Set(ours.map(({ block }) => block.text));
	return theirs.filter(({ block }) => !isText(block) || known.has(block.text) || !REMINDER.test(block.text));
}

const APPENDED = /^(\n\n<system-reminder>\n[^]*?\n<\/system-reminder>\n?)+$/;
function withoutAppended(theirs, ours) {
	const last = theirs.at(-1)?.message;
	return theirs.map(one => {
		const known = one.message === last && one.block.type === 'tool_result' &&
			ours.find(({ block }) => block.type === 'tool_result' && block.tool_use_id === one.block.tool_use_id)?.block;
		const [own, sent] = [known?.content, one.block.content].map(asBlocks);
		const rest = own.length && own.length === sent.length && isText(own.at(-1)) && isText(sent.at(-1)) &&
			sent.at(-1).text.startsWith(own.at(-1).text) && sent.at(-1).text.slice(own.at(-1).text.length);
		if (!rest || !APPENDED.test(rest))
			return one;
		return { ...one, block: { ...one.block, content: [...sent.slice(0, -1), own.at(-1)] } };
	});
}

// What says that nothing is left of a message may be absent where the client says something in the same one: a reminder, or behind it.
function withNothing(ours, messages) {
	const isReminded = asBlocks(messages[0]?.content).every(block => isText(block) && REMINDER.test(block.text));
	return ours.map((one, n) => one.block.text === NO_CONTENT && (n === 0 ? isReminded : ours[n + 1]?.role === 'user')
		? { ...one, block: { ...one.block, client: true } } : one);
}

// Prompts that were queued; other attachments are named by their kind in brackets.
const isQueued = ({ block }) => block.client === true && block.text !== NO_CONTENT && !/^\[[^\]\s]*\]$/.test(block.text);

function lostPrompts(ours, messages) {
	const texts = flat(messages).filter(({ block }) => isText(block)).map(({ block }) => block.text);
	return ours.filter(isQueued).filter(({ block }) => !texts.some(text => text.includes(block.text)))
		.map(({ block }) => `not received: the queued prompt ${block.text.slice(0, 200)}`);
}

// ---- Calls and thoughts -------------------------------------------------------------

const blocksOf = (fork, type) => fork.filter(line => line.type === type).flatMap(line => asBlocks(line.message.content));

function withoutMadeUp(theirs, fork, wrong) {
	const calls = theirs.map(({ block }) => block).filter(isMadeUp).map(block => block.tool_use_id);
	const answered = new Set(blocksOf(fork, 'user').map(block => block.tool_use_id));
	const asMade = blocksOf(fork, 'assistant').map(renamed);
	for (const call of calls) {
		const [made, result, ...more] = theirs.filter(({ block }) => block.id === call || block.tool_use_id === call);
		if (answered.has(call) || !result || more.length || !isMadeUp(result.block) || !asMade.some(block => isSameBlock(block, made.block)))
			wrong.push(`not a call without a result: ${call}`);
	}
	const isCall = ({ block }) => calls.includes(block.id), called = new Set(theirs.filter(isCall).map(({ message }) => message));
	const rest = theirs.filter(one => !isCall(one) && !calls.includes(one.block.tool_use_id));
	return rest.filter(({ message }) => !called.has(message) || !rest.every(one => one.message !== message || isThought(one.block)));
}

function isSameBlock(a, b) {
	const [[one], [other]] = [a, b].map(block => flatten([{ role: 'assistant', content: [block] }]));
	return one.key === other.key;
}

// Thoughts whose answers were all given by other models.
function withoutForeign(ours, fork, model) {
	const own = new Set(), any = new Set();
	for (const line of fork)
		for (const block of line.type === 'assistant' ? asBlocks(line.message.content).filter(isThought) : []) {
			any.add(JSON.stringify(block));
			if (line.message.model === model)
				own.add(JSON.stringify(block));
		}
	return ours.filter(({ block }) => !isThought(block) || !any.has(JSON.stringify(block)) || own.has(JSON.stringify(block)));
}

function renamed(block) {
	if (block.type !== 'tool_use')
		return block;
	const { caller: _caller, ...rest } = block;
	if (block.name === 'Task')
		return { ...rest, name: 'Agent' };
	if (block.name !== 'ExitPlanMode')
		return rest;
	const { plan: _plan, planFilePath: _path, ...input } = block.input;
	return { ...rest, input };
}

// ---- All of it ------------------------------------------------------------------------

const asMessages = blocks => blocks.map(({ role, block }) => ({ role, content: [block] }));

// Most of it is the same, and comparing the rest takes its square.
function differencesBehind(ours, theirs) {
	const [a, b] = [flatten(asMessages(ours)), flatten(asMessages(theirs))];
	let n = 0;
	while (n < a.length && n < b.length && a[n].role === b[n].role && a[n].key === b[n].key)
		n++;
	return differences(asMessages(a.slice(n)), asMessages(b.slice(n)));
}

export function differencesOf({ expected, prompt, fork, added, request }) {
	const wrong = [];
	const comparable = blocks => blocks.map(one => ({ ...one, block: renamed(reworded(one.block)) }));
	const known = withPutIn(withoutForeign(flat(expected), fork, request.model), { prompt, fork, added }, wrong);
	const ours = withNothing(comparable(known), request.messages);
	const received = comparable(flat(request.messages.filter(({ role }) => role !== 'system')));
	const theirs = withoutMadeUp(withoutAppended(withoutReminders(received, ours), ours), fork, wrong);
	return [...wrong, ...lostPrompts(ours, request.messages), ...differencesBehind(ours, theirs)];
}

// ---- Whether it would be noticed -------------------------------------------------------

function changed(block) {
	if (block.type === 'tool_use')
		return { ...block, name: `${block.name}.` };
	if (block.type === 'tool_result')
		return { ...block, content: [...asBlocks(block.content), { type: 'text', text: '.' }] };
	const key = ['text', 'thinking', 'data', 'source'].find(name => name in block);
	return { ...block, [key]: `.${JSON.stringify(block[key])}` };
}

const TAMPERING = {
	lost: blocks => blocks.slice(1),
	doubled: ([first, ...rest]) => [first, first, ...rest],
	moved: ([first, second, ...rest]) => [second, first, ...rest],
	changed: ([first, ...rest]) => [{ ...first, block: changed(first.block) }, ...rest],
};

// The last one cannot be moved, nor one before its like; and where a call without a result stands is not compared.
const callsMadeUp = blocks => blocks.filter(({ block }) => isMadeUp(block)).map(({ block }) => block.tool_use_id);
function isFixed(blocks, at) {
	const calls = callsMadeUp(blocks);
	const [one, other] = blocks.slice(at, at + 2);
	return !other || JSON.stringify(one.block) === JSON.stringify(other.block) ||
		[one, other].some(({ block }) => calls.includes(block.id) || calls.includes(block.tool_use_id));
}

// Nor are thoughts, where such calls are all else that was answered.
function isCompared(blocks, { block, message }) {
	const calls = callsMadeUp(blocks), answer = blocks.filter(one => one.message === message).map(one => one.block);
	return !isThought(block) || !answer.some(one => calls.includes(one.id)) || !answer.every(one => isThought(one) || calls.includes(one.id));
}

// RANDOM gives whole numbers. What the client says on its own account is not tampered with.
export function tamperWith(messages, random) {
	const blocks = flat(messages.filter(({ role }) => role !== 'system'))
		.filter(({ block }) => !isText(block) || block.text !== NO_CONTENT && (!REMINDER.test(block.text) || NOTIFIED.test(block.text)));
	const places = [...blocks.keys()].filter(n => isCompared(blocks, blocks[n]));
	const at = places[random() % places.length], names = Object.keys(TAMPERING).filter(name => name !== 'moved' || !isFixed(blocks, at));
	const what = names[random() % names.length];
	return { what: `${blocks[at].block.type} ${at} of ${blocks.length} is ${what}`,
		messages: asMessages([...blocks.slice(0, at), ...TAMPERING[what](blocks.slice(at))]) };
}
