#!/usr/bin/env python3
"""How good the first ten hits of a search are, against stock FTS5 over the same documents.

  quality.py STORE            nDCG@10 of both, over all queries; -v: of each query
  quality.py STORE --pool     what both give and nobody has judged yet, to be read; a query for which
                              neither gives anything has no place in the list

STORE is a store into which the corpus was synced that the judgements are about; ARBOR is the program
(build/release/arbor unless given). queries.tsv has: id, query, what the asker wants to know. judged.tsv has:
query, node, grade, reason. Grades were given by reading excerpts of the documents (docs/PERFORMANCE.md says how):

  3  answers what was asked, or is where it was asked, decided or done
  2  a good part of the answer; one would read on from here
  1  touches it
  0  has the words, and nothing of what was meant

Ids of nodes follow from the mirrored bytes and are the same in every store. What says the same as a document
that stands above it is a copy: it takes a place in the list and gains nothing. What was not judged counts as 0,
and how many of these there were is printed.

The other ranker is what SQLite offers by itself: FTS5 with `porter unicode61`, bm25, and the words of the query
as FTS5 takes them, all of which have to occur. Its documents are Arbor's: blocks of messages, and lines that are
not messages.
"""
import hashlib
import json
import math
import os
import sqlite3
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ARBOR = os.environ.get("ARBOR", os.path.join(HERE, "../../build/release/arbor"))
DEPTH = 10


def rows(name):
	with open(os.path.join(HERE, name), encoding="utf-8") as file:
		return [line.rstrip("\n").split("\t") for line in file if line.strip()]


def ask(store, *words):
	"""What arbor prints as JSON lines. 1 is "nothing found"."""
	run = subprocess.run([ARBOR, *words, "--store", store, "--json"], capture_output=True, check=False)
	if run.returncode > 1:
		sys.exit(f"quality: arbor {words[0]} ended with {run.returncode}: {run.stderr.decode()}")
	return [json.loads(line) for line in run.stdout.splitlines()]


def key_of(text):
	"""The same for all copies of a text."""
	return hashlib.sha1(" ".join(text.split()).encode()).hexdigest()


def documents(store):
	"""Texts by id of their node."""
	sql = ("SELECT id, content FROM nodes WHERE content IS NOT NULL AND"
	       " (node_type = 'block' OR node_type = 'line' AND parent_id IS NULL)")
	return {row["id"]: row["content"] for row in ask(store, "sql", sql)}


class Arbor:
	name = "arbor search"

	def __init__(self, store):
		self.store = store

	def top(self, query):
		return [hit["id"] for hit in ask(self.store, "search", query, "--limit", str(DEPTH)) if "snippet" in hit]


class Stock:
	name = "FTS5 bm25, porter"

	def __init__(self, docs):
		self.db = sqlite3.connect(":memory:")
		self.db.execute("CREATE VIRTUAL TABLE doc USING fts5(id UNINDEXED, text, tokenize = 'porter unicode61')")
		self.db.executemany("INSERT INTO doc VALUES (?, ?)", docs.items())

	def top(self, query):
		match = " ".join('"' + word.replace('"', '""') + '"' for word in query.split())
		sql = "SELECT id FROM doc WHERE doc MATCH ? ORDER BY bm25(doc), rowid LIMIT ?"
		return [row[0] for row in self.db.execute(sql, (match, DEPTH))]


def gain(grades):
	return sum((2**grade - 1) / math.log2(place + 2) for place, grade in enumerate(grades[:DEPTH]))


def grades_of(found, judged, keys):
	"""Grades of a list, and how many of it nobody has judged."""
	grades, seen, unjudged = [], set(), 0
	for node in found:
		key = keys.get(node, node)
		unjudged += key not in judged
		grades.append(0 if key in seen else judged.get(key, 0))
		seen.add(key)
	return grades, unjudged


def read_judged(keys):
	"""Grades by query and text. Ids that are not in the store are another corpus's."""
	judged, missing = {}, 0
	for query, node, grade, _ in rows("judged.tsv"):
		missing += node not in keys
		if node in keys:
			judged.setdefault(query, {})[keys[node]] = int(grade)
	return judged, missing


def excerpt(text, query, width=260):
	"""Where most of the query's words stand close together."""
	text = " ".join(text.split())
	low, words = text.lower(), [word.lower() for word in query.replace("-", " ").replace(".", " ").split()]
	starts = sorted({at for word in words for at in range(0, len(low), width // 2) if word[:5] in low[at:at + width]})
	best = max(starts, default=0, key=lambda at: (sum(word[:5] in low[at:at + width] for word in words), -at))
	head = text[:90] + " ... " if best > 90 else ""
	return head + text[best if head else 0:best + width]


def pool(rankers, docs, keys, judged):
	"""In the order of ids, so that whoever judges does not see who found what, and how high."""
	for number, query, intent in rows("queries.tsv"):
		shown = set(judged.get(number, {}))
		print(f"\n== {number} {query} -- {intent}")
		for node in sorted({node for ranker in rankers for node in ranker.top(query)}):
			if keys.get(node) not in shown:
				shown.add(keys.get(node))
				text = docs.get(node, "")
				print(f"{node} [{len(text)}] {excerpt(text, query)}")


def scores_of(ranker, judged, keys):
	"""nDCG@10 by query, and how many hits nobody has judged."""
	scores, unjudged = {}, 0
	for number, query, _ in rows("queries.tsv"):
		known = judged.get(number, {})
		ideal = gain(sorted(known.values(), reverse=True))
		grades, more = grades_of(ranker.top(query), known, keys)
		scores[number] = gain(grades) / ideal if ideal else 0.0
		unjudged += more
	return scores, unjudged


def measure(rankers, keys, judged, verbose):
	results = [scores_of(ranker, judged, keys) for ranker in rankers]
	ours, stock = (scores for scores, _ in results)
	if verbose:
		for number, query, _ in rows("queries.tsv"):
			print(f"{number}\t{ours[number]:.3f}\t{stock[number]:.3f}\t{query}")
	for ranker, (scores, unjudged), other in zip(rankers, results, (stock, ours)):
		better = sum(scores[number] > other[number] for number in scores)
		print(f"{ranker.name}\t{sum(scores.values()) / len(scores):.3f}\t"
		      f"better in {better} of {len(scores)} queries; {unjudged} of its hits not judged")


def main():
	if len(sys.argv) < 2:
		sys.exit(__doc__)
	store = sys.argv[1]
	docs = documents(store)
	keys = {node: key_of(text) for node, text in docs.items()}
	judged, missing = read_judged(keys)
	if missing:
		print(f"{missing} judged documents are not in this store: another corpus?", file=sys.stderr)
	rankers = [Arbor(store), Stock(docs)]
	if "--pool" in sys.argv:
		pool(rankers, docs, keys, judged)
	else:
		measure(rankers, keys, judged, "-v" in sys.argv)


main()
