// Transcripts written by hand, each asking the client one question about what it sends when it
// resumes them. resumes.mjs plays them to the real client and keeps the answers.
//
// A case is a list of lines. Line n has a uuid made of n and comes n seconds after the beginning, unless
// it says otherwise; the names say what is asked.
const BEGIN = Date.parse('2026-11-15T10:00:00.000Z');

export const uuid = n => `000000${n.toString(16).padStart(2, '0')}-0000-4000-8000-000000000000`;

const at = (n, parent, { time = n, ...more } = {}) => ({
	parentUuid: parent === null ? null : uuid(parent), isSidechain: false,
	uuid: uuid(n), timestamp: new Date(BEGIN + time * 1000).toISOString(), ...more,
});

const text = words => ({ type: 'text', text: words });
const thought = words => ({ type: 'thinking', thinking: words, signature: 'c2lnbmF0dXJl' });
const use = (id, name = 'Bash', input = { command: `echo ${id}` }) => ({ type: 'tool_use', id: `toolu_${id}`, name, input });
const result = (id, content = `out ${id}`) => ({ type: 'tool_result', tool_use_id: `toolu_${id}`, content });

const user = (n, parent, content, more) => ({ ...at(n, parent, more), type: 'user', message: { role: 'user', content } });

function assistant(n, parent, id, blocks, { stop = 'end_turn', model = 'claude-opus-4-8', ...more } = {}) {
	return { ...at(n, parent, more), type: 'assistant', message: {
		id, type: 'message', role: 'assistant', model, content: blocks, stop_reason: stop, stop_sequence: null,
		usage: { input_tokens: 1, output_tokens: 1 },
	} };
}

const tool = (n, parent, id, block, more) => assistant(n, parent, id, [block], { stop: 'tool_use', ...more });
const says = (n, parent, words, more) => assistant(n, parent, `msg_${n}`, [text(words)], more);
const synthetic = (n, parent, words, more) => says(n, parent, words, { model: '<synthetic>', stop: 'stop_sequence', ...more });
const apiError = (n, parent) => synthetic(n, parent, 'API Error: boom', { isApiErrorMessage: true, error: 'server_error' });
const system = (n, parent, subtype, more) => ({ ...at(n, parent, more), type: 'system', subtype, level: 'info', content: more?.content ?? `about ${subtype}` });
const progress = (n, parent, more) => ({ ...at(n, parent, more), type: 'progress', data: { type: 'hook_progress' }, toolUseID: 'x', parentToolUseID: 'y' });
const attached = (n, parent, attachment) => ({ ...at(n, parent), type: 'attachment', attachment });
const leaf = n => ({ type: 'last-prompt', leafUuid: uuid(n), explicit: true });
const boundary = (n, parent, after, metadata) => system(n, parent, 'compact_boundary',
	{ content: 'Conversation compacted', logicalParentUuid: uuid(after), compactMetadata: { trigger: 'manual', preTokens: 10, ...metadata } });
const summary = (n, parent, words) => user(n, parent, words, { isCompactSummary: true, isVisibleInTranscriptOnly: true });

// X says something and asks for two tools, in lines 2 and 3.
const twoTools = [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), tool(3, 2, 'X', use('b'))];
const twoTurns = [user(1, null, 'Q1'), says(2, 1, 'R2')];

export const cases = {
	// What is left out
	'api-error-inside': [user(1, null, 'Q1'), apiError(2, 1), user(3, 2, 'Q3'), says(4, 3, 'R4')],
	'api-error-at-the-end': [user(1, null, 'Q1'), apiError(2, 1)],
	'api-error-after-thinking': [user(1, null, 'Q1'), assistant(2, 1, 'X', [thought('t')], { stop: null }), apiError(3, 2), user(4, 3, 'Q4'), says(5, 4, 'R5')],
	'no-response-inside': [user(1, null, 'Q1'), synthetic(2, 1, 'No response requested.'), user(3, 2, 'Q3'), says(4, 3, 'R4')],
	'synthetic-text-inside': [user(1, null, 'Q1'), synthetic(2, 1, 'Something synthetic'), user(3, 2, 'Q3'), says(4, 3, 'R4')],
	'thinking-alone-inside': [user(1, null, 'Q1'), assistant(2, 1, 'X', [thought('t')]), user(3, 2, 'Q3'), says(4, 3, 'R4')],
	'thinking-alone-at-the-end': [...twoTurns, user(3, 2, 'Q3'), assistant(4, 3, 'X', [thought('t')])],
	'thinking-beside-a-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', thought('t')), tool(3, 2, 'X', use('a')), user(4, 3, [result('a')]),
		assistant(5, 4, 'Y', [thought('u')]), assistant(6, 5, 'Y', [text('R')])],
	'thinking-beside-a-dangling-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', thought('t')), tool(3, 2, 'X', use('a')), user(4, 3, 'Q4'), says(5, 4, 'R5')],
	'blank-text-inside': [user(1, null, 'Q1'), says(2, 1, '\n\n'), user(3, 2, 'Q3'), says(4, 3, 'R4')],
	'empty-text-inside': [user(1, null, 'Q1'), says(2, 1, ''), user(3, 2, 'Q3'), says(4, 3, 'R4')],
	'blank-text-beside-a-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', text('\n\n')), tool(3, 2, 'X', use('a')), user(4, 3, [result('a')]), says(5, 4, 'R5')],
	'empty-prompt-inside': [...twoTurns, user(3, 2, ''), says(4, 3, 'R4')],
	'system-lines-inside': [...twoTurns, system(3, 2, 'away_summary'), system(4, 3, 'api_error'), system(5, 4, 'microcompact_boundary'),
		system(6, 5, 'local_command', { content: '<local-command-stdout>LC</local-command-stdout>' }), user(7, 6, 'Q7'), says(8, 7, 'R8')],
	'visible-in-transcript-only': [...twoTurns, user(3, 2, 'only transcript', { isVisibleInTranscriptOnly: true }), user(4, 3, 'Q4'), says(5, 4, 'R5')],
	'meta-inside': [...twoTurns, user(3, 2, 'META', { isMeta: true }), user(4, 3, 'Q4'), says(5, 4, 'R5')],
	'queued-prompt-inside': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a')]),
		attached(4, 3, { type: 'queued_command', prompt: 'QUEUED', commandMode: 'prompt' }), says(5, 4, 'R5')],
	'hook-context-inside': [user(1, null, 'Q1'), attached(2, 1, { type: 'hook_additional_context', content: ['CTX'], hookName: 'UserPromptSubmit',
		toolUseID: 'x', hookEvent: 'UserPromptSubmit' }), says(3, 2, 'R3')],
	'line-without-uuid': [...twoTurns, { type: 'user', message: { role: 'user', content: 'no uuid' }, timestamp: at(3, 2).timestamp, parentUuid: uuid(2) },
		user(4, 2, 'Q4'), says(5, 4, 'R5')],

	// Tools and results
	'dangling-tool-inside': [user(1, null, 'Q1'), tool(2, 1, 'X', text('T')), tool(3, 2, 'X', use('a')), user(4, 3, 'Q4'), says(5, 4, 'R5')],
	'dangling-tool-at-the-end': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a'))],
	'dangling-tool-after-text-at-the-end': [user(1, null, 'Q1'), tool(2, 1, 'X', text('T')), tool(3, 2, 'X', use('a'))],
	'one-of-two-tools-answered': [...twoTools, user(4, 2, [result('a')]), user(6, 4, 'Q6'), says(7, 6, 'R7')],
	'result-without-tool': [...twoTurns, user(3, 2, [result('none')]), says(4, 3, 'R4')],
	'result-at-the-end': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a')])],
	'two-results-for-one-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a', 'first')]), user(4, 2, [result('a', 'second')]), says(5, 4, 'R5')],
	'two-results-on-two-branches': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a', 'first')]), says(4, 3, 'R4'),
		user(5, 2, [result('a', 'second')]), says(6, 5, 'R6')],
	'text-before-result': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, 'text between'), user(4, 3, [result('a')]), says(5, 4, 'R5')],
	'text-beside-result': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a'), text('beside')]), says(4, 3, 'R4')],
	'tool-hangs-on-result': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a')]), tool(4, 3, 'X', use('b')), user(5, 4, [result('b')]), says(6, 5, 'R6')],
	'results-in-a-row': [...twoTools, user(4, 3, [result('b')]), user(5, 4, [result('a')]), says(6, 5, 'R6')],
	'goes-on-from-the-later-result': [...twoTools, user(4, 2, [result('a')], { time: 9 }), user(5, 3, [result('b')], { time: 5 }), says(6, 4, 'R6', { time: 10 })],
	'goes-on-from-the-earlier-result': [...twoTools, user(4, 2, [result('a')]), says(5, 4, 'R5'), user(6, 3, [result('b')], { time: 4.5 }), leaf(5)],
	'three-results-out-of-time': [...twoTools, tool(4, 3, 'X', use('c')), user(5, 2, [result('a')], { time: 8 }), user(6, 3, [result('b')], { time: 7 }),
		user(7, 4, [result('c')], { time: 9 }), says(8, 7, 'R8', { time: 10 })],
	'tools-out-of-time': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), tool(3, 2, 'X', use('b'), { time: 9 }), tool(4, 3, 'X', use('c'), { time: 8 }),
		user(5, 3, [result('b')], { time: 10 }), user(6, 4, [result('c')], { time: 11 }), user(7, 2, [result('a')], { time: 12 }), says(8, 7, 'R8', { time: 13 })],
	'tools-as-siblings': [user(1, null, 'Q1'), tool(2, 1, 'X', text('T')), tool(3, 2, 'X', use('a')), tool(4, 2, 'X', use('b')),
		user(5, 3, [result('a')]), user(6, 4, [result('b')]), says(7, 6, 'R7')],
	'tools-as-siblings-the-other-way': [user(1, null, 'Q1'), tool(2, 1, 'X', text('T')), tool(3, 2, 'X', use('a')), tool(4, 2, 'X', use('b')),
		user(5, 4, [result('b')]), user(6, 3, [result('a')]), says(7, 6, 'R7')],
	'second-tool-after-first-result': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a')]), tool(4, 2, 'X', use('b')), user(5, 4, [result('b')]), says(6, 3, 'R6')],
	'result-below-progress': [...twoTools, progress(4, 3), user(5, 4, [result('b')]), user(6, 2, [result('a')]), says(7, 6, 'R7')],
	'cut-before-the-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', text('T')), tool(3, 2, 'X', use('a')), user(4, 3, [result('a')]), says(5, 4, 'R5'), user(6, 2, 'Q6'), says(7, 6, 'R7')],
	'cut-before-the-text': [user(1, null, 'Q1'), assistant(2, 1, 'X', [thought('t')]), assistant(3, 2, 'X', [text('T')]), user(4, 2, 'Q4'), says(5, 4, 'R5')],
	'cut-before-the-result': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, 'Q3'), says(4, 3, 'R4'), user(5, 2, [result('a')]), leaf(4)],
	'leaf-is-a-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', text('T')), tool(3, 2, 'X', use('a')), user(4, 3, [result('a')]), says(5, 4, 'R5'), leaf(3)],
	'last-line-is-a-late-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a')]), user(4, 3, 'Q4'), says(5, 4, 'R5'), tool(6, 2, 'X', use('b'))],
	'same-id-after-a-prompt': [user(1, null, 'Q1'), assistant(2, 1, 'X', [text('A')]), user(3, 2, 'Q3'), assistant(4, 3, 'X', [text('B')])],

	// What the client adds, or not
	'cut-off-by-max-tokens': [user(1, null, 'Q1'), says(2, 1, 'cut of', { stop: 'max_tokens' }), says(3, 2, 'f here')],
	'interrupted-at-the-end': [user(1, null, 'Q1'), says(2, 1, 'part', { stop: null }), user(3, 2, [text('[Request interrupted by user]')])],
	'attachment-at-the-end': [user(1, null, 'Q1'), attached(2, 1, { type: 'skill_listing', content: '- x: y', skillCount: 1, isInitial: true, names: ['x'] })],

	// Chains
	'parent-missing-far': [...twoTurns, user(9, 99, 'Q9'), says(10, 9, 'R10')],
	'parent-missing-five-seconds': [...twoTurns, user(9, 99, 'Q9', { time: 7 }), says(10, 9, 'R10')],
	'parent-missing-a-little-more': [...twoTurns, user(9, 99, 'Q9', { time: 7.001 }), says(10, 9, 'R10')],
	'parent-missing-time-not-order': [...twoTurns, user(3, 1, 'beside', { time: 1.5 }), user(9, 99, 'Q9', { time: 3 }), says(10, 9, 'R10')],
	'parent-missing-nearest-is-below': [user(1, null, 'Q1'), user(9, 99, 'Q9', { time: 3 }), says(10, 9, 'R10', { time: 4 }), says(2, 1, 'R2'), leaf(10)],
	'progress-in-the-chain': [...twoTurns, progress(3, 2, { time: 60 }), user(4, 3, 'Q4', { time: 61 }), says(5, 4, 'R5', { time: 62 })],
	'unknown-line-in-the-chain': [...twoTurns, { ...at(3, 2), type: 'frobnicate' }, user(4, 3, 'Q4'), says(5, 4, 'R5')],
	'cycle': [user(1, 5, 'Q1'), says(2, 1, 'R2'), user(4, 2, 'Q4'), says(5, 4, 'R5')],
	'uuid-twice-with-another-parent': [...twoTurns, user(3, 2, 'Q3'), says(4, 3, 'R4'), user(3, 1, 'Q3 again'), says(6, 3, 'R6')],

	// Compaction
	'boundary': [...twoTurns, boundary(3, null, 2), summary(4, 3, 'SUMMARY'), user(5, 4, 'Q5'), says(6, 5, 'R6')],
	'boundary-twice': [...twoTurns, boundary(3, null, 2), summary(4, 3, 'SUMMARY 1'), user(5, 4, 'Q5'), says(6, 5, 'R6'),
		boundary(7, null, 6), summary(8, 7, 'SUMMARY 2'), user(9, 8, 'Q9'), says(10, 9, 'R10')],
	'boundary-with-a-parent': [...twoTurns, boundary(3, 2, 2), summary(4, 3, 'SUMMARY'), user(5, 4, 'Q5'), says(6, 5, 'R6')],
	'boundary-on-another-branch': [...twoTurns, boundary(3, null, 2), summary(4, 3, 'SUMMARY'), user(5, 2, 'Q5'), says(6, 5, 'R6')],
	'summary-without-boundary': [...twoTurns, summary(4, 2, 'SUMMARY'), user(5, 4, 'Q5'), says(6, 5, 'R6')],
	'preserved-segment': [...twoTurns, user(7, 2, 'Q7'), says(8, 7, 'R8'),
		boundary(13, null, 8, { preservedSegment: { headUuid: uuid(7), anchorUuid: uuid(14), tailUuid: uuid(8) } }),
		summary(14, 13, 'SUMMARY'), user(15, 14, 'Q15'), says(16, 15, 'R16')],
	'preserved-messages-in-their-order': [...twoTurns, user(7, 2, 'Q7'), says(8, 7, 'R8'),
		boundary(13, null, 8, { preservedMessages: { anchorUuid: uuid(14), uuids: [uuid(8), uuid(7)], allUuids: [uuid(8), uuid(7)] } }),
		summary(14, 13, 'SUMMARY'), user(15, 14, 'Q15'), says(16, 15, 'R16')],
	'preserved-result-without-its-tool': [user(1, null, 'Q1'), tool(2, 1, 'X', use('a')), user(3, 2, [result('a')]), says(4, 3, 'R4'),
		boundary(13, null, 4, { preservedMessages: { anchorUuid: uuid(14), uuids: [uuid(3), uuid(4)], allUuids: [uuid(3), uuid(4)] } }),
		summary(14, 13, 'SUMMARY'), user(15, 14, 'Q15'), says(16, 15, 'R16')],
};
