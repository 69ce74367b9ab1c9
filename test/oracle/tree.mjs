// A ~/.claude as one tree of API messages, built the plain way: a second opinion on Arbor's mirror.
// JSON.parse, maps and loops; nothing of Arbor, no care for speed.
//
//   buildTree(folder) -> { sources, messages, agents }      all in a fixed order
//
// A source is one *.jsonl below projects/. A node is a tree line (one with a uuid); the same uuid with
// the same content in several sources is one node, with several copies. Content is the same when
// type, role and blocks are (a string is one text block); a uuid with several contents gives several
// nodes, named uuid, uuid#2, uuid#3 … in canonical order.
//
// Messages
//   - assistant lines of one source with the same message.id are one message, and so are those of several sources that
//     share one of them; without an id each is its own
//   - all tool results that answer one assistant message are one message, whose prev is that message
//   - an isMeta line, an attachment and a system/local_command line are messages of role client: the
//     model reads them, but the client wrote them. A queued prompt (attachment) is of role user.
//   - other system lines, progress and unknown tree lines are events: no messages, looked through
//   - a message's lines are in the order of the source that has most of them, of several the canonical one
//
// prev comes from a message's first line: its parentUuid in the canonical source (the last line with
// that uuid counts), else in any source, looked through events but never past a compact_boundary. A
// parent inside a result group means the group. A parent that is nowhere is replaced as the client does it
// (lines.mjs); if that finds nothing, and for a compact_boundary, there is no prev but `continues`:
// logicalParentUuid, else the tree line before in the source (inferred). A sidechain never follows what is
// not one.
//
// Copies with fresh uuids are joined (same as): by forkedFrom; assistants by message.id when one holds all
// blocks of the other; result groups when their assistants are joined; a run of other messages, in different
// sources and equal one by one in role and content, when it lies between two joined ones, or between a
// joined one and the beginning or the end of both.
//
// Canonical, of copies of a line and of joined messages: has a requestId; then earliest timestamp; then
// a source whose first message does not say where it was forked from; then the source whose earliest record that is in
// no other source is earliest; then a file before what progress lines tell; then the smallest source path. Where
// messages would follow one another in a circle, the earliest follows none.
//
// Messages inside agent_progress lines belong to that agent: each follows the one before it of the same
// agent in the source; those the agent's own file has (by uuid, else by message.id and block) are left out.
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { blocksOf, isToolResult, nearestInTime, readLines, transcripts } from './lines.mjs';

function sorted(value) {
	if (Array.isArray(value))
		return value.map(sorted);
	if (value === null || typeof value !== 'object')
		return value;
	return Object.fromEntries(Object.keys(value).sort().map(name => [name, sorted(value[name])]));
}

const canonicalJson = value => JSON.stringify(sorted(value));

function contentOf(line) {
	if (line.type === 'attachment')
		return canonicalJson([line.type, line.attachment]);
	if (line.message)
		return canonicalJson([line.type, line.message.role ?? line.type, blocksOf(line)]);
	return canonicalJson([line.type, line.subtype ?? null, line.content ?? null]);
}

// ---- Sources and nodes ---------------------------------------------------------

const agentOfPath = path => /^agent-(.+)\.jsonl$/.exec(basename(path))?.[1] ?? null;

function readSources(folder) {
	return transcripts(folder).map(path => ({ path, agent: agentOfPath(path), lines: readLines(join(folder, path)) }));
}

// What agent_progress lines embed, as lines of their agent, in sources of their own.
function embeddedSources(sources) {
	const ownLines = new Map();
	for (const source of sources.filter(one => one.agent))
		for (const line of source.lines) {
			const known = ownLines.get(source.agent) ?? new Set();
			ownLines.set(source.agent, known.add(line.uuid).add(`${line.message?.id} ${contentOf(line)}`));
		}
	return sources.flatMap(source => {
		const byAgent = new Map();
		for (const line of source.lines) {
			const inner = line.type === 'progress' && line.data?.type === 'agent_progress' ? line.data.message : null;
			const agent = line.data?.agentId;
			if (!inner?.uuid || !inner.message || !agent)
				continue;
			const known = ownLines.get(agent);
			if (known?.has(inner.uuid) || inner.message.id && known?.has(`${inner.message.id} ${contentOf(inner)}`))
				continue;
			const lines = byAgent.get(agent) ?? [];
			byAgent.set(agent, lines);
			if (!lines.some(other => other.uuid === inner.uuid))
				lines.push({ ...inner, parentUuid: lines.at(-1)?.uuid ?? null, isSidechain: true,
					timestamp: inner.timestamp ?? line.timestamp, spawnedBy: line.parentToolUseID });
		}
		return [...byAgent].map(([agent, lines]) => ({ path: `${source.path}#${agent}`, agent, lines, isEmbedded: true }));
	});
}

function addNodes(sources) {
	const byUuid = new Map();
	for (const source of sources) {
		source.nodes = new Map();
		source.inOrder = [];
		source.orders = []; // of their lines
		source.lines.forEach((line, order) => {
			if (typeof line.uuid !== 'string')
				return;
			const variants = byUuid.get(line.uuid) ?? new Map();
			byUuid.set(line.uuid, variants);
			const content = contentOf(line);
			const node = variants.get(content) ?? { uuid: line.uuid, content, copies: [] };
			variants.set(content, node);
			node.copies.push({ source, line, order });
			source.nodes.set(line.uuid, node);
			source.inOrder.push(node);
			source.orders.push(order);
		});
	}
	return byUuid;
}

// The earliest time of a record that stands in this source only.
function addFirstOwnTimes(sources) {
	const keyOf = line => line.uuid ?? JSON.stringify(line);
	const counts = new Map();
	for (const source of sources)
		for (const key of new Set(source.lines.map(keyOf)))
			counts.set(key, (counts.get(key) ?? 0) + 1);
	for (const source of sources) {
		const own = source.lines.filter(line => line.timestamp && counts.get(keyOf(line)) === 1);
		source.firstOwn = own.reduce((first, line) => line.timestamp < first ? line.timestamp : first, '~');
	}
}

function addForked(sources) {
	for (const source of sources) {
		const first = source.lines.find(line => typeof line.uuid === 'string' && (line.type === 'user' || line.type === 'assistant'));
		source.isForked = !source.agent && typeof first?.forkedFrom?.messageUuid === 'string';
	}
}

const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;

// What progress lines tell of an agent comes behind all files: its own file wins.
const bySource = (a, b) => compare(a.isEmbedded ? 1 : 0, b.isEmbedded ? 1 : 0) || compare(a.path, b.path);

function byCanon(a, b) {
	return compare(a.line.requestId ? 0 : 1, b.line.requestId ? 0 : 1)
		|| compare(a.line.timestamp ?? '~', b.line.timestamp ?? '~')
		|| compare(a.source.isForked ? 1 : 0, b.source.isForked ? 1 : 0)
		|| compare(a.source.firstOwn, b.source.firstOwn)
		|| bySource(a.source, b.source)
		|| b.order - a.order;
}

function nameNodes(byUuid) {
	const nodes = [];
	for (const [uuid, variants] of byUuid) {
		for (const node of variants.values()) {
			[node.canon] = [...node.copies].sort(byCanon);
			node.line = node.canon.line;
		}
		[...variants.values()].sort((a, b) => byCanon(a.canon, b.canon)).forEach((node, index) => {
			node.id = index === 0 ? uuid : `${uuid}#${index + 1}`;
			nodes.push(node);
		});
	}
	return nodes;
}

// ---- From line to parent -------------------------------------------------------

// Of lines that stand twice the last counts.
function nearestNode(node) {
	const { source, line } = node.canon;
	const others = [...source.nodes.values()].filter(other => other !== node)
		.map(other => other.copies.findLast(copy => copy.source === source)).sort((a, b) => a.order - b.order);
	const nearest = nearestInTime(others.map(copy => copy.line), line);
	return nearest && source.nodes.get(nearest.uuid);
}

function parentOfNode(tree, node) {
	const uuid = node.line.parentUuid;
	if (typeof uuid !== 'string')
		return null;
	const here = node.canon.source.nodes.get(uuid);
	if (here)
		return here === node ? null : here;
	const anywhere = [...tree.byUuid.get(uuid)?.values() ?? []].sort((a, b) => byCanon(a.canon, b.canon))[0];
	return anywhere ?? nearestNode(node);
}

// ---- Messages ------------------------------------------------------------------

const isSynthetic = line => line.message?.model === '<synthetic>';

function roleOf(line) {
	if (line.type === 'assistant')
		return 'assistant';
	if (line.type === 'attachment')
		return line.attachment?.type === 'queued_command' ? 'user' : 'client';
	if (line.type === 'user')
		return line.isMeta && !isToolResult(line) ? 'client' : 'user';
	return line.type === 'system' && line.subtype === 'local_command' ? 'client' : null;
}

// A part that is in several sources makes one of what they hold.
function groupAssistants(tree) {
	const up = new Map();
	const topOf = node => {
		let top = node;
		while (up.has(top))
			top = up.get(top);
		return top;
	};
	for (const source of tree.sources) {
		const open = new Map();
		for (const node of source.inOrder.filter(one => one.line.type === 'assistant' && one.line.message?.id)) {
			const key = node.line.message.id, first = open.get(key) ?? node;
			open.set(key, first);
			if (topOf(node) !== topOf(first))
				up.set(topOf(node), topOf(first));
		}
	}
	for (const node of tree.sources.flatMap(source => source.inOrder).filter(one => one.line.type === 'assistant')) {
		const top = topOf(node);
		addToMessage(top.message ?? newMessage(tree, 'assistant'), top);
		addToMessage(top.message, node);
	}
}

function newMessage(tree, role) {
	const message = { role, nodes: [], owner: null };
	tree.messages.push(message);
	return message;
}

function addToMessage(message, node) {
	if (node.message)
		return;
	node.message = message;
	message.nodes.push(node);
}

function ownersOfToolUses(tree) {
	const owners = new Map();
	for (const message of tree.messages)
		for (const node of message.nodes)
			for (const block of blocksOf(node.line).filter(one => one.type === 'tool_use'))
				for (const copy of node.copies) {
					owners.set(`${copy.source.path} ${block.id}`, message);
					if (!owners.has(block.id))
						owners.set(block.id, message);
				}
	return owners;
}

function ownerOfResult(owners, node) {
	const id = blocksOf(node.line).find(block => block.type === 'tool_result').tool_use_id;
	return owners.get(`${node.canon.source.path} ${id}`) ?? owners.get(id) ?? null;
}

function groupOthers(tree) {
	const owners = ownersOfToolUses(tree);
	for (const source of tree.sources)
		for (const node of source.inOrder) {
			const role = roleOf(node.line);
			if (!role || node.message)
				continue;
			const owner = isToolResult(node.line) ? ownerOfResult(owners, node) : null;
			const message = owner?.results ?? newMessage(tree, role);
			if (owner) {
				owner.results = message;
				message.owner = owner;
			}
			addToMessage(message, node);
		}
}

const orderIn = (source, node) => node.copies.find(copy => copy.source === source)?.order ?? Infinity;

// The source that has most lines of a message; of several the one with the original.
function fullestSource(message) {
	const copies = message.nodes.flatMap(node => node.copies);
	const counts = new Map();
	for (const node of message.nodes)
		for (const source of new Set(node.copies.map(copy => copy.source)))
			counts.set(source, (counts.get(source) ?? 0) + 1);
	const most = Math.max(...counts.values());
	return copies.filter(copy => counts.get(copy.source) === most).sort(byCanon)[0].source;
}

function orderLines(message) {
	const source = fullestSource(message);
	message.source = source;
	message.nodes.sort((a, b) => orderIn(source, a) - orderIn(source, b) || byCanon(a.canon, b.canon));
	[message.first] = message.nodes;
	message.id = message.first.id;
	message.isSidechain = message.first.line.isSidechain === true;
}

const isBoundary = line => line.type === 'system' && line.subtype === 'compact_boundary';

function messageAbove(tree, node, self) {
	const seen = new Set([node]);
	for (let at = parentOfNode(tree, node); at && !seen.has(at) && !isBoundary(at.line); at = parentOfNode(tree, at)) {
		seen.add(at);
		if (at.message && at.message !== self)
			return at.message;
	}
	return null;
}

function linkMessages(tree) {
	for (const message of tree.messages) {
		const above = message.owner ?? messageAbove(tree, message.first, message);
		message.prev = above && above.isSidechain === message.isSidechain ? above : null;
	}
	breakCycles(tree.messages);
}

const byBeginning = (a, b) => compare(a.first.line.timestamp ?? '~', b.first.line.timestamp ?? '~')
	|| bySource(a.first.canon.source, b.first.canon.source) || a.first.canon.order - b.first.canon.order;

// Where messages follow one another in a circle, the earliest follows none.
function breakCycles(messages) {
	const done = new Set();
	for (const message of messages) {
		const path = new Set();
		let at = message;
		for (; at && !done.has(at) && !path.has(at); at = at.prev)
			path.add(at);
		if (at && path.has(at)) {
			const cycle = [at];
			for (let one = at.prev; one !== at; one = one.prev)
				cycle.push(one);
			cycle.sort(byBeginning)[0].prev = null;
		}
		path.forEach(one => done.add(one));
	}
}

// Where a new root goes on from: [line, whether that is a guess].
function addContinuations(tree) {
	for (const source of tree.sources)
		source.inOrder.forEach((node, index) => {
			const { line } = node;
			const isLost = typeof line.parentUuid === 'string' && !parentOfNode(tree, node);
			const isCanonical = node.canon.source === source && node.canon.order === source.orders[index];
			if (!isCanonical || !isBoundary(line) && !isLost)
				return;
			const named = [...tree.byUuid.get(line.logicalParentUuid)?.values() ?? []][0];
			const isInferred = !named || named === node;
			// A line that is repeated at once does not stand before itself.
			const target = isInferred ? source.inOrder.slice(0, index).findLast(other => other !== node) : named;
			if (target)
				tree.continues.push({ node, target, isInferred });
		});
}

// ---- Joining copies with fresh uuids -------------------------------------------

function classOf(message) {
	let root = message;
	while (root.joined)
		root = root.joined;
	return root;
}

const isJoined = (a, b) => classOf(a) === classOf(b);

function joinMessages(a, b) {
	if (isJoined(a, b) || a.isSidechain !== b.isSidechain)
		return false;
	classOf(a).joined = classOf(b);
	return true;
}

const sourcesOf = message => new Set(message.nodes.flatMap(node => node.copies.map(copy => copy.source)));

function areApart(a, b) {
	const sources = sourcesOf(a);
	return [...sourcesOf(b)].every(source => !sources.has(source));
}

const blockTexts = message => message.nodes.map(node => canonicalJson(blocksOf(node.line)));

function holdsBlocksOf(a, b) {
	const blocks = new Set(blockTexts(a));
	return blockTexts(b).every(block => blocks.has(block));
}

function groupBy(items, keyOf) {
	const groups = new Map();
	for (const item of items) {
		const key = keyOf(item);
		if (key !== undefined)
			groups.set(key, [...groups.get(key) ?? [], item]);
	}
	return [...groups.values()].filter(group => group.length > 1);
}

const pairsOf = group => group.flatMap((a, index) => group.slice(index + 1).map(b => [a, b]));

function joinByForkedFrom(tree) {
	for (const node of tree.nodes) {
		const origin = node.line.forkedFrom?.messageUuid;
		const other = origin && origin !== node.uuid ? [...tree.byUuid.get(origin)?.values() ?? []][0] : null;
		if (other?.message && node.message)
			joinMessages(node.message, other.message);
	}
}

function joinAssistants(tree) {
	const assistants = tree.messages.filter(message => message.role === 'assistant');
	for (const group of groupBy(assistants, message => message.first.line.message?.id))
		for (const [a, b] of pairsOf(group))
			if (areApart(a, b) && (holdsBlocksOf(a, b) || holdsBlocksOf(b, a)))
				joinMessages(a, b);
}

function joinResults(tree) {
	for (const group of groupBy(tree.messages.filter(one => one.owner), message => classOf(message.owner)))
		for (const [a, b] of pairsOf(group))
			joinMessages(a, b);
}

function successorsOf(messages) {
	const successors = new Map(messages.map(message => [message, []]));
	for (const message of messages)
		if (message.prev)
			successors.get(message.prev).push(message);
	return successors;
}

const isPlain = message => message.role !== 'assistant' && !message.owner;
const isEqual = (a, b) => a.role === b.role && a.isSidechain === b.isSidechain && a.first.content === b.first.content && areApart(a, b);

// The pairs of plain messages above a and b, as long as they are equal, and the pair where that ends.
function runAbove(a, b) {
	const run = [];
	let above = [a, b];
	while (above[0] && above[1] && !isJoined(...above) && above.every(isPlain) && isEqual(...above)) {
		run.push(above);
		above = above.map(message => message.prev);
	}
	return { run, end: above };
}

const areBothNothing = ([a, b]) => a === null && b === null;
const areJoined = ([a, b]) => a !== null && b !== null && isJoined(a, b);

function joinRun(run) {
	for (const pair of run)
		joinMessages(...pair);
	return run.length > 0;
}

// Above two joined messages: up to two others, or to both roots.
function joinAboveJoined(tree) {
	let isChanged = false;
	for (const group of groupBy(tree.messages, classOf))
		for (const [a, b] of pairsOf(group)) {
			const { run, end } = runAbove(a.prev, b.prev);
			if (areBothNothing(end) || areJoined(end))
				isChanged = joinRun(run) || isChanged;
		}
	return isChanged;
}

// Below two joined messages, at the end of both.
function joinEnds(tree) {
	const successors = successorsOf(tree.messages);
	const ends = tree.messages.filter(message => isPlain(message) && successors.get(message).length === 0);
	for (const group of groupBy(ends, message => `${message.role} ${message.first.content}`))
		for (const [a, b] of pairsOf(group)) {
			const { run, end } = runAbove(a, b);
			if (areJoined(end))
				joinRun(run);
		}
}

function addCanonicals(tree) {
	const classes = new Map();
	for (const message of tree.messages)
		classes.set(classOf(message), [...classes.get(classOf(message)) ?? [], message]);
	for (const members of classes.values()) {
		members.sort((a, b) => byCanon(a.first.canon, b.first.canon));
		for (const member of members) {
			member.canonical = members[0];
			member.copies = members.slice(1);
		}
	}
}

// ---- Sub-agents ----------------------------------------------------------------

function metaOf(folder, path) {
	const file = join(folder, path.replace(/\.jsonl$/, '.meta.json'));
	try {
		return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
	} catch {
		return {};
	}
}

function toolUseOfResult(tree, agent) {
	for (const node of tree.nodes)
		if (node.line.toolUseResult?.agentId === agent)
			return blocksOf(node.line).find(block => block.type === 'tool_result')?.tool_use_id;
	return undefined;
}

function toolUseOfProgress(tree, agent) {
	return tree.sources.find(source => source.isEmbedded && source.agent === agent && source.lines.length > 0)?.lines[0].spawnedBy;
}

// An inline sidechain names no agent: the tool_use with its prompt spawned it.
function toolUseOfPrompt(root, taken) {
	const prompt = blocksOf(root.first.line)[0]?.text;
	if (prompt === undefined)
		return undefined;
	for (const node of root.first.copies.flatMap(copy => copy.source.inOrder))
		for (const block of blocksOf(node.line))
			if (block.type === 'tool_use' && block.input?.prompt === prompt && !taken.has(block.id)) {
				taken.add(block.id);
				return block.id;
			}
	return undefined;
}

function rootOf(message) {
	let root = message;
	while (root.prev)
		root = root.prev;
	return root;
}

function findAgents(tree, folder) {
	const agents = new Map();
	for (const message of tree.messages.filter(one => one.isSidechain && one.canonical === one)) {
		const root = rootOf(message);
		const name = message.source.agent ?? root.id;
		const agent = agents.get(name) ?? { name, isInline: !message.source.agent, root, messages: [], sources: new Set() };
		agents.set(name, agent);
		agent.messages.push(message);
		message.nodes.forEach(node => node.copies.forEach(copy => agent.sources.add(copy.source)));
	}
	const taken = new Set();
	for (const agent of agents.values()) {
		const paths = [...agent.sources].filter(source => !source.isEmbedded).map(source => source.path).sort();
		agent.isWarmup = blocksOf(agent.root.first.line)[0]?.text === 'Warmup';
		agent.toolUse = agent.isInline
			? toolUseOfPrompt(agent.root, taken)
			: paths.map(path => metaOf(folder, path).toolUseId).find(Boolean)
				?? toolUseOfResult(tree, agent.name) ?? toolUseOfProgress(tree, agent.name);
	}
	return [...agents.values()].sort((a, b) => compare(a.name, b.name));
}

// ---- All of it -----------------------------------------------------------------

const byPlace = (a, b) => compare(a.source.path, b.source.path) || orderIn(a.source, a.first) - orderIn(b.source, b.first);

export function buildTree(folder) {
	const own = readSources(folder);
	const sources = [...own, ...embeddedSources(own)];
	addFirstOwnTimes(sources);
	addForked(sources);
	const byUuid = addNodes(sources);
	const tree = { sources, byUuid, nodes: nameNodes(byUuid), messages: [], continues: [] };
	groupAssistants(tree);
	groupOthers(tree);
	tree.messages.forEach(orderLines);
	linkMessages(tree);
	addContinuations(tree);

	joinByForkedFrom(tree);
	joinAssistants(tree);
	joinResults(tree);
	while (joinAboveJoined(tree))
		;
	joinEnds(tree);
	addCanonicals(tree);
	for (const message of tree.messages)
		message.prev = message.prev?.canonical ?? null;
	breakCycles(tree.messages); // joining may close what was open
	tree.messages.sort(byPlace);
	tree.agents = findAgents(tree, folder);
	return tree;
}

// The messages that count: one of each set of copies, with the canonical one before it.
export function canonicalMessages(tree) {
	return tree.messages.filter(message => message.canonical === message);
}

export const prevOf = message => message.prev?.canonical ?? null;

// ---- Turns ---------------------------------------------------------------------

const ENVELOPE = /^\s*<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat|bash-input|bash-stdout|bash-stderr)>/;
const NOTIFICATION = /^\s*<task-notification>/;
const INTERRUPTION = /^\[Request interrupted by user/;

const textOf = line => blocksOf(line).filter(block => block.type === 'text').map(block => block.text).join('\n');

// human, notification, compaction, or null where no turn starts. A compaction starts at its boundary;
// at the summary only where there is no boundary above it.
export function turnOrigin(tree, node) {
	const { line } = node;
	if (isBoundary(line))
		return 'compaction';
	if (line.isCompactSummary)
		return isBoundary(parentOfNode(tree, node)?.line ?? {}) ? null : 'compaction';
	if (line.type !== 'user' || line.isMeta || isToolResult(line) || ENVELOPE.test(textOf(line)) || INTERRUPTION.test(textOf(line)))
		return null;
	return NOTIFICATION.test(textOf(line)) || line.origin?.kind === 'task-notification' ? 'notification' : 'human';
}

// ---- Branches ------------------------------------------------------------------

const isNoResponse = message => message.role === 'assistant' && isSynthetic(message.first.line)
	&& message.first.line.isApiErrorMessage !== true;

const isLookedThrough = message => message.role === 'client' || isNoResponse(message);

// Whether a message says something of its own: a prompt, a result, a text of the model.
function isSaying(tree, message) {
	if (isLookedThrough(message) || message.first.line.isApiErrorMessage)
		return false;
	if (message.role === 'assistant')
		return message.nodes.some(node => blocksOf(node.line).some(block => block.type === 'text' && block.text.trim() !== ''));
	return message.owner !== null || message.first.line.type === 'attachment' || message.first.line.isCompactSummary === true
		|| turnOrigin(tree, message.first) !== null;
}

// Each message with two or more live successors. Client messages and "No response requested." are looked
// through; live is what says something, or is followed by something that does. What a client left behind when it
// was stopped (a dangling tool_use, thinking alone, an /exit) is not.
export function branches(tree) {
	const messages = canonicalMessages(tree);
	const live = new Set();
	for (const message of messages)
		if (isSaying(tree, message))
			for (let at = message; at && !live.has(at); at = prevOf(at))
				live.add(at);
	const followers = new Map();
	for (const message of messages.filter(one => live.has(one) && !isLookedThrough(one))) {
		let at = prevOf(message);
		while (at && isLookedThrough(at))
			at = prevOf(at);
		if (at)
			followers.set(at, [...followers.get(at) ?? [], message]);
	}
	return [...followers].filter(([, after]) => after.length > 1)
		.sort(([a], [b]) => byPlace(a, b))
		.map(([message, after]) => ({ message, successors: after.sort(byPlace) }));
}
