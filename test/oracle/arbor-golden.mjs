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
import { askArbor, describedByArbor, describedByGolden, difference, parse } from './described.mjs';

const [arbor, fixtures, golden, ...wanted] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'arbor-golden-'));
const run = args => execFileSync(arbor, args, { env: { ...process.env, HOME: work }, encoding: 'utf8', maxBuffer: 1 << 30,
	stdio: ['ignore', 'pipe', 'pipe'] });

const folderOf = name => [join(fixtures, 'claude-2.1.197', name, 'dot-claude'), join(fixtures, 'claude-2.1.197', name),
	join(fixtures, 'claude-versions', name.replace(/^version-/, ''))].find(path => existsSync(join(path, 'projects')));

function differenceOf(name) {
	const store = join(work, `${name}.db`);
	run(['sync', '--json', '--source', folderOf(name), '--store', store]);
	return difference(describedByGolden(parse(readFileSync(join(golden, `${name}.jsonl`), 'utf8'))),
		describedByArbor(askArbor(run, store)));
}

let differing = 0, compared = 0;
try {
	for (const file of readdirSync(golden).filter(one => one.endsWith('.jsonl')).sort()) {
		const name = basename(file, '.jsonl');
		if (wanted.length > 0 && !wanted.includes(name))
			continue;
		let found;
		try {
			found = differenceOf(name);
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
