// letters.mjs TEXTS FOLDER: makes a ~/.claude of one conversation in FOLDER, and prints queries for it.
//
// Each line of TEXTS is something said, and so is each of its words. Queries are all of these as they are, and the
// words in capitals, in small letters, decomposed, and with typographic forms as what they stand for: spellings of
// one word have to find each other, and nothing else.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const [file, folder] = process.argv.slice(2);
const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
const texts = [...new Set(lines.flatMap(line => [line, ...line.split(' ')]))];
const forms = text => [text, text.toUpperCase(), text.toLowerCase(), text.normalize('NFD'), text.normalize('NFKC')];

mkdirSync(`${folder}/projects/p`, { recursive: true });
writeFileSync(`${folder}/projects/p/00000000-0000-4000-8000-000000000002.jsonl`, texts.map((text, i) =>
	`${JSON.stringify({ type: 'user', uuid: `u${i}`, message: { content: text } })}\n`).join(''));
for (const query of new Set(texts.flatMap(text => (text.includes(' ') ? [text] : forms(text)))))
	console.log(`letters\t"${query}"`);
