// Whether Arbor's tree of generated lineages (lineage.mjs) is what golden.mjs says, and has exactly the branches that
// were made.
//
//   lineage-check.mjs ARBOR DIR FIRST LAST
//
// A file without tree lines has no head for golden.mjs, and an empty one for Arbor: that is no difference.
// Ends with 1 where something differs; the first lines of each difference are printed.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askArbor, describedByArbor, describedByGolden, difference } from './described.mjs';
import { describe } from './golden.mjs';

const MOST_SHOWN = 12;
const [arbor, dir, first, last] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'arbor-lineage-'));
const run = args => execFileSync(arbor, args, { env: { ...process.env, HOME: work }, encoding: 'utf8', maxBuffer: 1 << 30,
	stdio: ['ignore', 'pipe', 'pipe'] });

// A message that ways part at: their number, and the uuids it has; Arbor names it by any of them.
function branchDifference(path, items) {
	const made = readFileSync(path, 'utf8').split('\n').filter(Boolean).map(line => line.split(' '));
	const found = items.filter(item => item.kind === 'message' && item.branches !== undefined);
	const isThat = ([ways, ...uuids], item) => Number(ways) === item.branches && uuids.includes(item.uuid);
	return [...made.filter(one => !found.some(item => isThat(one, item))).map(one => `- branch ${one.join(' ')}`),
		...found.filter(item => !made.some(one => isThat(one, item))).map(item => `+ branch ${item.branches} ${item.uuid}`)];
}

function differenceOf(seed) {
	const folder = join(dir, String(seed), 'final'), store = join(work, 'store.db'), branches = join(dir, String(seed), 'branches');
	run(['sync', '--json', '--source', folder, '--store', store]);
	const answers = askArbor(run, store);
	const differing = difference(describedByGolden(describe(folder)), describedByArbor(answers));
	for (const end of ['', '-wal', '-shm', '-bell'])
		rmSync(store + end, { force: true });
	return [...differing.filter(line => !/^\+ head .* null$/.test(line)), ...existsSync(branches) ? branchDifference(branches, answers.items) : []];
}

let differing = 0, known = 0;
try {
	for (let seed = Number(first); seed <= Number(last); seed++) {
		const found = differenceOf(seed);
		known += existsSync(join(dir, String(seed), 'branches')) ? 1 : 0;
		if (found.length > 0) {
			differing++;
			console.log(`seed ${seed}:\n${found.slice(0, MOST_SHOWN).join('\n')}`);
		}
	}
} finally {
	rmSync(work, { recursive: true });
}
console.log(`${Number(last) - Number(first) + 1} lineages compared, ${known} of them with known branches, ${differing} differ`);
process.exitCode = differing > 0 ? 1 : 0;
