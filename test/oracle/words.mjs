// What the words of a text are, told once more: by the rules that src/base/words.c states, with nothing of
// Arbor's (JavaScript's own Unicode tables and regular expressions). Slow and plain on purpose.
//
// A text becomes positions. At each there is a word, and where an identifier of several parts begins or ends,
// the whole of it too: "on GitHub" is on | git, github | hub, github. A query is found where its words stand
// at positions that follow each other; an identifier in it is asked for by its parts, or as a whole.
const ASCII = /^[\x00-\x7f]*$/;
const RUN = /[\p{L}\p{N}\p{M}]+|\p{So}/gu; // letters, digits and marks that stand together; or a picture
const PICTURES = 0x2600; // symbols below are no words
const ACCENT = /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\u{e0100}-\u{e01ef}]/gu;
const UNSPACED = /^[\p{scx=Thai}\p{scx=Lao}\p{scx=Mymr}\p{scx=Khmr}\p{scx=Hira}\p{scx=Kana}\p{scx=Hani}\p{scx=Hang}]$/u;
const CASES = /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/;
const CASE_CHANGE = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;
const COLOUR = /\x1b\[[0-9;:]*[mK]/g; // what colours output, or clears a line: no word
const PARTS_MOST = 16, ENCODED = 48, WORD_MOST = 64;

function lower(text) {
	return text === 'ı' ? text : text.toUpperCase().toLowerCase();
}

// A word of at most WORD_MOST bytes, cut behind a character.
function short(word) {
	if (word.length <= WORD_MOST && ASCII.test(word))
		return word;
	let bytes = 0, out = '';
	for (const c of word) {
		bytes += Buffer.byteLength(c);
		if (bytes > WORD_MOST)
			break;
		out += c;
	}
	return out;
}

// ---- Runs -----------------------------------------------------------------------

// The parts of a run, as it is written, and its folded form: several words, or one.
function addParts(out, parts, cases) {
	const whole = parts.join(''), bytes = Buffer.byteLength(whole);
	if (parts.length === 1 || parts.length > PARTS_MOST || (bytes > ENCODED && cases.every(Boolean))) {
		out.word.push(short(whole));
		out.whole.push(null);
		return;
	}
	parts.forEach((part, i) => {
		out.word.push(short(part));
		out.whole.push(i === 0 || i === parts.length - 1 ? short(whole) : null);
	});
}

function addAscii(out, run) {
	if (CASES.test(run))
		addParts(out, run.split(CASE_CHANGE).map(part => part.toLowerCase()),
			[/[A-Z]/, /[a-z]/, /[0-9]/].map(kind => kind.test(run)));
	else
		addParts(out, [run.toLowerCase()], []);
}

const kindOf = c => /\p{Lu}|\p{Lt}/u.test(c) ? 'upper' : /\p{Ll}/u.test(c) ? 'lower' :
	/\p{N}/u.test(c) ? 'digit' : /\p{M}/u.test(c) ? 'mark' : UNSPACED.test(c) ? 'unspaced' :
	/\p{L}/u.test(c) ? 'letter' : 'break';

// Characters with what they are: a letter and its marks are one.
function characters(run) {
	const list = [];
	for (const composed of run.normalize('NFC')) // Hangul in syllables
		for (const c of /\p{scx=Hang}/u.test(composed) ? [composed] : composed.normalize('NFD')) {
			const kind = kindOf(c), folded = lower(c.replace(ACCENT, '').normalize('NFKD')).replace(ACCENT, '');
			if (folded && kind === 'mark' && list.length)
				list.at(-1).text += folded;
			else if (folded && kind === 'unspaced')
				list.push({ kind, text: folded.normalize('NFC') });
			else if (folded && [...folded].every(part => kindOf(part) !== 'break'))
				list.push({ kind, text: folded });
			else
				for (const part of folded) // one half is 1 and 2
					list.push({ kind: kindOf(part), text: part });
		}
	return list;
}

function addLetters(out, list) {
	const parts = [];
	list.forEach(({ kind, text }, i) => {
		const before = list[i - 1]?.kind, next = list[i + 1]?.kind;
		const splits = kind === 'upper' &&
			(before === 'lower' || before === 'digit' || (before === 'upper' && next === 'lower'));
		if (i === 0 || splits)
			parts.push(text);
		else
			parts[parts.length - 1] += text;
	});
	addParts(out, parts, ['upper', 'lower', 'digit'].map(kind => list.some(c => c.kind === kind)));
}

// Characters c1 c2 c3 give c1c2, c2c3, c3.
function addUnspaced(out, list) {
	list.forEach(({ text }, i) => {
		out.word.push(short(text + (list[i + 1]?.text ?? '')));
		out.whole.push(null);
	});
}

function addForeign(out, run) {
	const list = characters(run);
	for (let from = 0, to; from < list.length; from = to) {
		const unspaced = list[from].kind === 'unspaced';
		for (to = from + 1; to < list.length && list[to].kind !== 'break' && list[from].kind !== 'break'; to++)
			if ((list[to].kind === 'unspaced') !== unspaced)
				break;
		if (list[from].kind === 'break')
			continue;
		(unspaced ? addUnspaced : addLetters)(out, list.slice(from, to));
	}
}

// ---- Texts and queries ------------------------------------------------------------

// {word, whole}: for each position the word, and the identifier it begins or ends, or null.
export function positions(text) {
	const out = { word: [], whole: [] };
	text = text.replace(COLOUR, '\x1b');
	for (const run of text.match(ASCII.test(text) ? /[A-Za-z0-9]+/g : RUN) ?? [])
		if (ASCII.test(run))
			addAscii(out, run);
		else if (!/^\p{So}$/u.test(run))
			addForeign(out, run);
		else if (run.codePointAt(0) >= PICTURES) {
			out.word.push(run);
			out.whole.push(null);
		}
	return out;
}

// The lists of words a query stands for. A single character of a script without blanks, at the end, is the
// beginning of a word.
export function spellings(query) {
	const { word, whole } = positions(query), wholes = [];
	for (let i = 0; i < word.length; i++) {
		wholes.push(whole[i] ?? word[i]);
		if (whole[i])
			for (i++; !whole[i]; i++);
	}
	const lists = whole.some(Boolean) ? [word, wholes] : [word];
	return lists.map(list => ({ list, begins: [...list.at(-1)].length === 1 && UNSPACED.test(list.at(-1)) }));
}

// For a list of queries: a function that gives the indices of those that a text holds.
export function matcher(queries) {
	const byFirst = new Map(), begins = [];
	queries.forEach((query, index) => {
		for (const spelling of spellings(query))
			if (spelling.begins && spelling.list.length === 1)
				begins.push({ index, ...spelling });
			else
				byFirst.set(spelling.list[0], [...(byFirst.get(spelling.list[0]) ?? []), { index, ...spelling }]);
	});
	return text => {
		const at = positions(text), found = new Set();
		const fits = (word, i, more) => at.word[i] === word || at.whole[i] === word || (more && at.word[i]?.startsWith(word));
		const stands = ({ list, begins: more }, i) =>
			list.every((word, k) => fits(word, i + k, more && k === list.length - 1));
		for (let i = 0; i < at.word.length; i++)
			for (const first of [at.word[i], at.whole[i]])
				for (const spelling of (first && byFirst.get(first)) ?? [])
					if (!found.has(spelling.index) && stands(spelling, i))
						found.add(spelling.index);
		for (const spelling of begins)
			if (at.word.some((_, i) => stands(spelling, i)))
				found.add(spelling.index);
		return found;
	};
}
