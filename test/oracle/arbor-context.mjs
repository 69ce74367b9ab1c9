// What Arbor says the model was sent before each answer of the captures, for context.mjs.
//
//   arbor-context.mjs ARBOR FIXTURES [ANSWERS] > COMPUTED
//
// Each scenario gets a store of its own, in a private folder. A line may stand in several files; the
// one in the conversation that was answered is meant.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAnswers } from './context.mjs';

const [arbor, fixtures, table] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), 'arbor-context-'));
const run = args => execFileSync(arbor, args, { env: { ...process.env, HOME: work }, encoding: 'utf8', maxBuffer: 1 << 30,
	stdio: ['ignore', 'pipe', 'inherit'] });

function storeOf(scenario) {
	const store = join(work, `${scenario}.db`);
	if (!existsSync(store))
		run(['sync', '--json', '--source', join(fixtures, scenario, 'dot-claude'), '--store', store]);
	return store;
}

try {
	for (const { scenario, n, session, file, uuid } of readAnswers(table ?? join(dirname(fileURLToPath(import.meta.url)), 'answers.tsv'))) {
		if (uuid === '-')
			continue;
		const id = file.includes('/subagents/') ? uuid : `${session}@${uuid}`;
		const items = run(['log', id, '--as-sent', '--json', '--store', storeOf(scenario)]).split('\n').filter(Boolean).map(text => JSON.parse(text));
		const messages = items.filter(item => item.kind === 'sent').map(({ role, content }) => ({ role, content }));
		console.log(JSON.stringify({ scenario, n, messages }));
	}
} finally {
	rmSync(work, { recursive: true });
}
