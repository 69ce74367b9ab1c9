// What a ~/.claude means, as JSON lines: the golden descriptions Arbor's mirror must agree with.
//
//   golden.mjs FOLDER                 describe one folder
//   golden.mjs --all FIXTURES OUT     describe every scenario and version below FIXTURES into OUT/NAME.jsonl
//   golden.mjs --check FIXTURES OUT   compare instead of writing; ends with 1 where a file differs
//
// Written from the files alone; tree.mjs holds the rules, usage.mjs those for tokens. The kinds of line, in
// this order. A message is named by the uuid of its first line:
//
//   message   role (user, assistant, client), lines (uuids in order), blocks (their types), prev (message or null),
//             copies (first lines of copies with fresh uuids), agent (sub-agents), error (an API error)
//   continues from (line), to (line), inferred: a root that goes on after something without following it
//   turn      first (line), origin (human, notification, compaction); a boundary that nothing hangs on begins none
//   branch    at (message), successors
//   agent     agent (id; for an inline sidechain its root), toolUse, warmup, messages
//   head      file, message, line: where the client would resume the file; null for an empty conversation
//   usage     message (API id), input, output, cacheWrite, cacheRead, provisional
//   total     the sums of the usage lines
//
// The head of a main transcript, as the client chooses it: O is the last tree line that is no sidechain, L the leafUuid of
// the last last-prompt line that has one. L unknown: O. L explicit and no tree line after it: L (null: empty). Else O if it
// descends from L, else L. Then up to the nearest user or assistant line. In an agent's file O alone decides.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { blocksOf, chainTo, fileTree } from './lines.mjs';
import { branches, buildTree, canonicalMessages, prevOf, turnOrigin } from './tree.mjs';
import { totalsOf, usageOf } from './usage.mjs';

// ---- Heads ---------------------------------------------------------------------

const isTreeLine = line => typeof line.uuid === 'string';

function chosenLeaf(source) {
	const { lines } = source;
	const isInside = line => source.agent !== null || line.isSidechain !== true;
	const tree = fileTree(lines);
	const last = tree.inOrder.filter(isInside).at(-1) ?? null;
	const at = lines.findLastIndex(line => line.type === 'last-prompt' && line.leafUuid !== undefined);
	if (at < 0 || source.agent !== null)
		return { tree, leaf: last };
	const { leafUuid, explicit } = lines[at];
	const isFinal = explicit === true && !lines.slice(at + 1).some(isTreeLine);
	if (leafUuid === null)
		return { tree, leaf: isFinal ? null : last };
	const named = tree.byUuid.get(leafUuid);
	if (!named)
		return { tree, leaf: last };
	return { tree, leaf: !isFinal && last && chainTo(tree, last).includes(named) ? last : named };
}

function headLine(source) {
	const { tree, leaf } = chosenLeaf(source);
	if (!leaf)
		return null;
	return chainTo(tree, leaf).findLast(line => (line.type === 'user' || line.type === 'assistant')
		&& (source.agent !== null || line.isSidechain !== true)) ?? null;
}

function headOf(source) {
	const line = headLine(source);
	const node = line && source.nodes.get(line.uuid);
	const message = node?.message.canonical ?? null;
	return { kind: 'head', file: source.path, message: message?.id ?? null, line: node?.id ?? null };
}

// ---- The lines -----------------------------------------------------------------

function agentNames(tree) {
	return new Map(tree.agents.flatMap(agent => agent.messages.map(message => [message, agent.name])));
}

function blockTypes(message) {
	return message.nodes.flatMap(node => node.line.type === 'attachment'
		? [`attachment:${node.line.attachment?.type}`]
		: node.line.type === 'system' ? [`system:${node.line.subtype}`] : blocksOf(node.line).map(block => block.type));
}

function messageLine(message, agents) {
	return {
		kind: 'message', id: message.id, role: message.role, lines: message.nodes.map(node => node.id),
		blocks: blockTypes(message), prev: prevOf(message)?.id ?? null,
		...message.copies.length > 0 ? { copies: message.copies.map(copy => copy.id).sort() } : {},
		...agents.has(message) ? { agent: agents.get(message) } : {},
		...message.first.line.isApiErrorMessage ? { error: true } : {},
	};
}

function turnLines(tree) {
	const copied = tree.messages.filter(message => message.canonical !== message);
	// A boundary is no message; it is a copy when what comes behind it is one.
	const copies = new Set([...copied.flatMap(message => message.nodes),
		...copied.map(message => message.source.nodes.get(message.first.line.parentUuid)).filter(node => node && !node.message)]);
	const followed = new Set(tree.nodes.map(node => node.line.parentUuid));
	const seen = new Set();
	return tree.sources.flatMap(source => source.inOrder).flatMap(node => {
		const isNone = copies.has(node) || seen.has(node) || !node.message && !followed.has(node.uuid);
		const origin = isNone ? null : turnOrigin(tree, node);
		seen.add(node);
		return origin ? [{ kind: 'turn', first: node.id, origin }] : [];
	});
}

function agentLine(agent) {
	return {
		kind: 'agent', agent: agent.name, toolUse: agent.toolUse ?? null,
		...agent.isWarmup ? { warmup: true } : {}, messages: agent.messages.map(message => message.id),
	};
}

const isFile = source => !source.isEmbedded;

export function describe(folder) {
	const tree = buildTree(folder);
	const agents = agentNames(tree);
	const usage = usageOf(tree.sources.filter(isFile).map(source => source.lines));
	return [
		...canonicalMessages(tree).map(message => messageLine(message, agents)),
		...tree.continues.map(({ node, target, isInferred }) =>
			({ kind: 'continues', from: node.id, to: target.id, inferred: isInferred })),
		...turnLines(tree),
		...branches(tree).map(({ message, successors }) =>
			({ kind: 'branch', at: message.id, successors: successors.map(one => one.id) })),
		...tree.agents.map(agentLine),
		...tree.sources.filter(source => isFile(source) && source.inOrder.length > 0).map(headOf),
		...[...usage].map(([message, { isProvisional, ...counts }]) =>
			({ kind: 'usage', message, ...counts, provisional: isProvisional })),
		{ kind: 'total', ...totalsOf(usage) },
	];
}

const toText = lines => lines.map(line => `${JSON.stringify(line)}\n`).join('');

// ---- The command ---------------------------------------------------------------

// FIXTURES/<set>/<name>[/dot-claude]/projects -> [[name, folder]…]; versions get their set's short name.
function foldersBelow(fixtures) {
	return readdirSync(fixtures).filter(set => set.startsWith('claude-')).sort().flatMap(set =>
		readdirSync(join(fixtures, set)).sort().flatMap(name => {
			const folder = [join(fixtures, set, name, 'dot-claude'), join(fixtures, set, name)]
				.find(path => existsSync(join(path, 'projects')));
			return folder ? [[set === 'claude-versions' ? `version-${name}` : name, folder]] : [];
		}));
}

function writeAll(fixtures, out) {
	mkdirSync(out, { recursive: true });
	for (const [name, folder] of foldersBelow(fixtures))
		writeFileSync(join(out, `${name}.jsonl`), toText(describe(folder)));
	return 0;
}

function checkAll(fixtures, out) {
	const differing = foldersBelow(fixtures).filter(([name, folder]) => {
		const path = join(out, `${name}.jsonl`);
		return !existsSync(path) || readFileSync(path, 'utf8') !== toText(describe(folder));
	});
	for (const [name] of differing)
		console.log(`${name}: differs from its golden description`);
	return differing.length > 0 ? 1 : 0;
}

function main(args) {
	if (args[0] === '--all' && args.length === 3)
		return writeAll(args[1], args[2]);
	if (args[0] === '--check' && args.length === 3)
		return checkAll(args[1], args[2]);
	if (args.length !== 1) {
		console.error('usage: golden.mjs FOLDER | --all FIXTURES OUT | --check FIXTURES OUT');
		return 2;
	}
	process.stdout.write(toText(describe(args[0])));
	return 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href)
	process.exitCode = main(process.argv.slice(2));
