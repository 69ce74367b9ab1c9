// A ~/.claude told in plain lines that can be compared: once as golden.mjs describes it, once as Arbor does.
//
//   describedByGolden(lines)       lines: what golden.mjs's describe() gives
//   askArbor(run, store)           what arbor says of all sessions; run(arguments) -> what it prints
//   describedByArbor(answers)      the same as lines
//
// Messages with their lines, roles, prev and copies, continuations, turns, branches, heads, sub-agents and tokens.

export const parse = text => text.split('\n').filter(Boolean).map(line => JSON.parse(line));

// A uuid with several contents: Arbor names it as it stands in the file.
const plain = id => id?.replace(/#\d+$/, '') ?? null;

export function describedByGolden(lines) {
	const branches = new Set(lines.filter(line => line.kind === 'branch').map(line => line.at));
	// What the client puts in for the model is no message of either side.
	const client = new Set(lines.filter(line => line.kind === 'message' && line.role === 'client').map(line => line.id));
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
			return [`agent ${plain(line.agent)} ${line.toolUse} warmup=${line.warmup === true} messages=${line.messages.filter(id => !client.has(id)).length}`];
		case 'total':
			return [`total ${line.messages} ${line.provisional} ${line.input} ${line.output} ${line.cacheWrite} ${line.cacheRead}`];
		default:
			return [];
		}
	});
}

const nameOf = session => `${session.root}:${session.path}`;

export function askArbor(run, store) {
	// Nothing found is an answer, too.
	const listed = args => {
		try {
			return parse(run([...args, '--json', '--store', store]));
		} catch (error) {
			if (error.status === 1)
				return [];
			throw error;
		}
	};
	const sessions = listed(['list', '-n', '0']);
	return {
		items: sessions.flatMap(session => listed(['tree', nameOf(session), '--messages', '--agents'])),
		agents: sessions.flatMap(session => listed(['agents', nameOf(session), '--all'])),
		total: listed(['usage']).find(item => item.kind === 'total')
			?? { answers: 0, provisional: 0, input: 0, output: 0, cache_write: 0, cache_read: 0 },
	};
}

export function describedByArbor({ items, agents, total }) {
	const out = new Set();
	for (const item of items)
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
	for (const item of agents)
		out.add(`agent ${item.agent} ${item.tool_id ?? null} warmup=${item.warmup} messages=${item.messages}`);
	out.add(`total ${total.answers} ${total.provisional} ${total.input} ${total.output} ${total.cache_write} ${total.cache_read}`);
	return [...out];
}

// What each lacks of the other, as lines of a diff.
export function difference(want, got) {
	const wanted = new Set(want), found = new Set(got);
	return [...want.filter(line => !found.has(line)).sort().map(line => `- ${line}`),
		...got.filter(line => !wanted.has(line)).sort().map(line => `+ ${line}`)];
}
