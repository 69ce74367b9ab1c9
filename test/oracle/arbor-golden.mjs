// Whether Arbor's tree agrees with the golden descriptions.
//
//   arbor-golden.mjs ARBOR FIXTURES GOLDEN [NAME...]
//
// FIXTURES holds claude-2.1.197/ and claude-versions/, GOLDEN what golden.mjs says of them. Every folder is mirrored
// into a store of its own; messages with their lines, roles, prev and copies, continuations, turns, branches and
// heads, sub-agents and tokens must be the same. Ends with 1 where something differs.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const [arbor, fixtures, golden, ...wanted] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'arbor-golden-'));
const run = args => execFileSync(arbor, args, { env: { ...process.env, HOME: work }, encoding: 'utf8', maxBuffer: 1 << 30,
	stdio: ['ignore', 'pipe', 'pipe'] });
const parse = text => text.split('\n').filter(Boolean).map(line => JSON.parse(line));

const folderOf = name => [join(fixtures, 'claude-2.1.197', name, 'dot-claude'), join(fixtures, 'claude-2.1.197', name),
	join(fixtures, 'claude-versions', name.replace(/^version-/, ''))].find(path => existsSync(join(path, 'projects')));

// A uuid with several contents: Arbor names it as it stands in the file.
const plain = id => id?.replace(/#\d+$/, '') ?? null;

function describedByGolden(name) {
	const lines = parse(readFileSync(join(golden, `${name}.jsonl`), 'utf8'));
	const branches = new Set(lines.filter(line => line.kind === 'branch').map(line => line.at));
	return lines.flatMap(line => {
		switch (line.kind) {
		case 'message':
			return [`message ${plain(line.id)} ${line.role} prev=${plain(line.prev)} lines=${line.lines.map(plain)}`
				+ ` copies=${[...line.copies ?? []].sort().map(plain)} branch=${branches.has(line.id)} failed=${line.error === true}`];
		case 'continues':
			return [`continues ${plain(line.from)} ${plain(line.to)} ${line.inferred}`];
		case 'turn':
			return [`turn ${plain(line.first)} ${line.origin}`];
		case 'head':
			return [`head ${line.file} ${plain(line.line)}`];
		case 'agent':
			return [`agent ${plain(line.agent)} ${line.toolUse} warmup=${line.warmup === true} messages=${line.messages.length}`];
		case 'total':
			return [`total ${line.messages} ${line.provisional} ${line.input} ${line.output} ${line.cacheWrite} ${line.cacheRead}`];
		default:
			return [];
		}
	});
}

const nameOf = session => `${session.root}:${session.path}`;

// Nothing found is an answer, too.
function listed(args, store) {
	try {
		return parse(run([...args, '--json', '--store', store]));
	} catch (error) {
		if (error.status === 1)
			return [];
		throw error;
	}
}

function describedByArbor(name) {
	const store = join(work, `${name}.db`);
	run(['sync', '--json', '--source', folderOf(name), '--store', store]);
	const out = new Set();
	const sessions = listed(['list', '-n', '0'], store);
	for (const session of sessions)
		for (const item of listed(['tree', nameOf(session), '--messages', '--agents'], store))
			switch (item.kind) {
			case 'message':
				out.add(`message ${item.uuid} ${item.role === 'results' ? 'user' : item.role} prev=${item.prev ?? null} lines=${item.lines}`
					+ ` copies=${[...item.copies ?? []].sort()} branch=${item.branches !== undefined} failed=${item.failed === true}`);
				break;
			case 'continues':
				out.add(`continues ${item.uuid} ${item.to} ${item.inferred}`);
				break;
			case 'turn':
				if (item.origin !== 'none')
					out.add(`turn ${item.uuid} ${item.origin}`);
				break;
			case 'head':
				out.add(`head ${item.path} ${item.uuid ?? null}`);
				break;
			}
	for (const item of sessions.flatMap(session => listed(['agents', nameOf(session), '--all'], store)))
		out.add(`agent ${item.agent} ${item.tool_id ?? null} warmup=${item.warmup} messages=${item.messages}`);
	const total = listed(['usage'], store).find(item => item.kind === 'total')
		?? { answers: 0, provisional: 0, input: 0, output: 0, cache_write: 0, cache_read: 0 };
	out.add(`total ${total.answers} ${total.provisional} ${total.input} ${total.output} ${total.cache_write} ${total.cache_read}`);
	return [...out];
}

function difference(name) {
	const want = describedByGolden(name).sort();
	const got = describedByArbor(name).sort();
	const lacks = want.filter(line => !got.includes(line)), more = got.filter(line => !want.includes(line));
	return [...lacks.map(line => `- ${line}`), ...more.map(line => `+ ${line}`)];
}

let differing = 0, compared = 0;
try {
	for (const file of readdirSync(golden).filter(one => one.endsWith('.jsonl')).sort()) {
		const name = basename(file, '.jsonl');
		if (wanted.length > 0 && !wanted.includes(name))
			continue;
		let found;
		try {
			found = difference(name);
		} catch (error) {
			found = [String(error.stderr ?? error.stack ?? error)];
		}
		compared++;
		if (found.length > 0) {
			differing++;
			console.log(`${name}:\n${found.join('\n')}`);
		}
	}
} finally {
	rmSync(work, { recursive: true });
}
console.log(`${compared} descriptions compared, ${differing} differ`);
process.exitCode = differing > 0 || compared === 0 ? 1 : 0;
