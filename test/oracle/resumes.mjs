// What the real client sent when it resumed the transcripts of resume-cases.mjs.
//
//   resumes.mjs record CLAUDE API > resumes.jsonl    play every case to the program CLAUDE, against the scripted API
//                                                    (fake_anthropic.mjs); loopback only, with a HOME of its own
//   resumes.mjs unpack OUT                           write resumes.jsonl as captures: OUT/CASE/dot-claude/…,
//                                                    OUT/CASE/requests.jsonl and OUT/answers.tsv, for context.mjs
//
// A line of resumes.jsonl is {case, version, transcript (lines, after the run), answer (uuid), messages (what the API
// received)}. The client's own long texts are left out of both, as in the captures.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cases } from './resume-cases.mjs';

const VERSION = '2.1.197';
const PROMPT = 'SCRIPT:text(x)';
const SESSION = 'abcdef00-0000-4000-8000-000000000001';
const HERE = dirname(fileURLToPath(import.meta.url));
const RUN_MS = 60000;

const toLines = values => values.map(value => `${JSON.stringify(value)}\n`).join('');
const fromLines = content => content.split('\n').filter(Boolean).map(line => JSON.parse(line));

// ---- Recording -----------------------------------------------------------------

function startApi(script, log) {
	const api = spawn('node', [script, '--log', log, '--seed', 'resumes'], { stdio: ['ignore', 'pipe', 'inherit'] });
	return new Promise(resolve => api.stdout.on('data', data => {
		const port = /:(\d+)\s/.exec(String(data))?.[1];
		if (port)
			resolve({ api, port });
	}));
}

function runClient(claude, home, cwd, port) {
	const child = spawn(claude, ['-p', PROMPT, '--output-format', 'json', '--resume', SESSION], {
		cwd, stdio: 'ignore',
		env: { HOME: home, PATH: '/usr/bin:/bin', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'none',
			DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_MAX_RETRIES: '1' },
	});
	const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
	return new Promise(resolve => child.on('exit', () => resolve(clearTimeout(timer))));
}

function completed(line, cwd) {
	return line.uuid ? { ...line, userType: 'external', cwd, sessionId: SESSION, version: VERSION, gitBranch: 'HEAD' } : { ...line, sessionId: SESSION };
}

const ELIDED = { elided: 'client text' };
const isClientText = block => block.type === 'text' && block.text.startsWith('<system-reminder>');

function shownMessage({ role, content }) {
	if (role === 'system')
		return { role, content: ELIDED };
	return { role, content: typeof content === 'string' ? content : content.map(({ cache_control: _cache, ...block }) =>
		isClientText(block) ? { type: 'text', ...ELIDED } : block) };
}

function shownLine(line) {
	const { attachment } = line;
	if (attachment?.type === 'agent_listing_delta')
		return { ...line, attachment: { ...attachment, addedLines: attachment.addedTypes.map(type => `- ${type}: elided`) } };
	if (attachment?.type === 'skill_listing' && attachment.names?.[0] !== 'x')
		return { ...line, attachment: { ...attachment, content: '- example: elided', names: ['example'], skillCount: 1 } };
	return line;
}

async function recordCase(name, lines, { claude, port, log, base }) {
	const home = join(base, name), cwd = join(home, 'work');
	mkdirSync(cwd, { recursive: true });
	const project = join(home, '.claude/projects', realpathSync(cwd).replace(/[^a-zA-Z0-9]/g, '-'));
	const file = join(project, `${SESSION}.jsonl`);
	mkdirSync(project, { recursive: true });
	writeFileSync(file, toLines(lines.map(line => completed(line, cwd))));
	writeFileSync(log, '');
	await runClient(claude, home, cwd, port);

	const requests = fromLines(readFileSync(log, 'utf8')).filter(entry => entry.dir === 'req' && entry.body?.messages);
	const transcript = fromLines(readFileSync(file, 'utf8').replaceAll(cwd, `/home/dev/work/${name}`));
	const answer = transcript.findLast(line => line.type === 'assistant' && !lines.some(one => one.uuid === line.uuid));
	if (requests.length !== 1 || !answer)
		throw new Error(`${name}: ${requests.length} requests, ${answer ? 'an' : 'no'} answer`);
	return { case: name, version: VERSION, transcript: transcript.map(shownLine), answer: answer.uuid,
		messages: requests[0].body.messages.map(shownMessage) };
}

async function record(claude, script) {
	const base = mkdtempSync(join(tmpdir(), 'arbor-resumes-'));
	const log = join(base, 'log.jsonl');
	writeFileSync(log, '');
	const { api, port } = await startApi(script, log);
	try {
		for (const [name, lines] of Object.entries(cases))
			process.stdout.write(toLines([await recordCase(name, lines, { claude, port, log, base })]));
	} finally {
		api.kill();
		rmSync(base, { recursive: true, force: true });
	}
	return 0;
}

// ---- Unpacking -----------------------------------------------------------------

function unpack(out) {
	const rows = ['scenario\tn\tsession\tfile\tuuid\treason'];
	for (const one of fromLines(readFileSync(join(HERE, 'resumes.jsonl'), 'utf8'))) {
		const file = `projects/-home-dev-work-${one.case}/${SESSION}.jsonl`;
		const path = join(out, one.case, 'dot-claude', file);
		mkdirSync(dirname(path), { recursive: true });
		writeFileSync(path, toLines(one.transcript));
		writeFileSync(join(out, one.case, 'requests.jsonl'), toLines([{ n: 1, session: SESSION, messages: one.messages }]));
		rows.push([one.case, 1, SESSION, file, one.answer, 'answered'].join('\t'));
	}
	writeFileSync(join(out, 'answers.tsv'), `${rows.join('\n')}\n`);
	return 0;
}

function main([verb, ...args]) {
	if (verb === 'record' && args.length === 2)
		return record(...args);
	if (verb === 'unpack' && args.length === 1)
		return unpack(args[0]);
	console.error('usage: resumes.mjs record CLAUDE API > resumes.jsonl | unpack OUT');
	return 2;
}

process.exitCode = await main(process.argv.slice(2));
