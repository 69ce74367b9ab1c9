#!/usr/bin/env python3
"""notes: an activation for Arbor. It keeps notes, hands out handles of them and resolves these.

It speaks JSON-RPC 2.0 on its standard streams, a message a line; docs/EXTENDING.md explains every
part. Notes are lines of JSON in $NOTES_FILE (default ~/.local/share/arbor-notes.jsonl); the last line
about a note counts. Several of these programs may run, and be killed at any moment: the file is locked while
it is read or written, a note is on the disk before its call is answered, and a last line without its end is
one that nobody was told of.
"""

import contextlib
import fcntl
import json
import os
import sys
import uuid

FILE = os.environ.get("NOTES_FILE") or os.path.expanduser("~/.local/share/arbor-notes.jsonl")
NAME, VERSION = "notes", "1.0.0"
TEXT = {"type": "string"}
NOTE = {
    "type": "object",
    "properties": {"id": TEXT, "text": TEXT, "handle": TEXT},
    "required": ["id", "text", "handle"],
}


class Problem(Exception):
    """What is told to the caller: a status of Arbor's and a sentence."""

    CODES = {
        "usage": -32602, "not_found": -32001, "gone": -32016, "unsupported": -32018, "no_method": -32601, "io": -32010,
    }

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


@contextlib.contextmanager
def opened(lock):
    os.makedirs(os.path.dirname(os.path.abspath(FILE)), mode=0o700, exist_ok=True)
    with open(os.open(FILE, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as file:
        fcntl.flock(file, lock)  # until it is closed
        yield file


def read(file):
    """All notes by their ids, and where the last whole line ends."""
    notes, end = {}, 0
    for line in file:
        if line.endswith(b"\n"):
            note = json.loads(line)
            notes[note["id"]] = note
            end += len(line)
    return notes, end


def load():
    with opened(fcntl.LOCK_SH) as file:
        return read(file)[0]


def store(note, check=lambda notes: None):
    """Appends it, unless check() finds something against it in what is there."""
    with opened(fcntl.LOCK_EX) as file:
        notes, end = read(file)
        check(notes)
        file.truncate(end)
        file.seek(end)
        file.write(json.dumps(note).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def find(wanted, notes):
    note = notes.get(wanted)
    if note is None:
        raise Problem("not_found", f"there is no note {wanted}")
    if note.get("removed"):
        raise Problem("gone", f"the note {wanted} was removed")
    return note


def shown(note):
    handle = f"{NAME}@{VERSION}::note:{note['id']}"
    return {"id": note["id"], "text": note["text"], "handle": handle}


def add(text):
    note = {"id": str(uuid.uuid4()), "text": text}
    store(note)
    return shown(note)


def remove(id):
    store({"id": id, "removed": True}, check=lambda notes: find(id, notes))
    return {"id": id}


def list_notes():
    return (shown(note) for note in load().values() if not note.get("removed"))


def resolve(handle):
    kind, *meta = handle.partition("::")[2].split(":")  # ids of notes need no escapes
    if kind != "note" or not meta:
        raise Problem("unsupported", f"notes are the only handles here, not '{kind}'")
    note = shown(find(meta[0], load()))
    return {"plugin": NAME, "version": VERSION, "method": "note", "kind": "document", "data": note}


def info():
    return {"protocol": 1, "name": NAME, "version": VERSION, "plugins": [{"name": NAME, "version": VERSION}]}


def schema(method=None):
    for name, (_, summary, scope, streaming, params) in METHODS.items():
        if summary and method in (None, name):
            params = {"type": "object", "properties": {p: TEXT for p in params}, "required": params}
            yield {
                "name": name,
                "schema": {
                    "name": name, "summary": summary, "scope": scope, "streaming": streaming,
                    "params": params, "result": NOTE,
                },
            }


# name: function, summary, scope, whether it gives several results, parameters
METHODS = {
    "add": (add, "Keep a note", "write", False, ["text"]),
    "list": (list_notes, "List all notes", "read", True, []),
    "remove": (remove, "Remove a note for good", "write", False, ["id"]),
    "hub.info": (info, None, "read", False, []),
    "hub.schema": (schema, None, "read", True, []),
    "hub.resolve": (resolve, None, "read", False, ["handle"]),
}


def check(params, required, optional=()):
    """Nobody compared them with the schema: a caller may send anything."""
    for name in required:
        if name not in params:
            raise Problem("usage", f"'{name}' is missing")
    for name, value in params.items():
        if name not in required and name not in optional:
            raise Problem("usage", f"'{name}' is none of its parameters")
        if not isinstance(value, str):
            raise Problem("usage", f"'{name}' has to be a text")


def answer(id, method, params):
    if method not in METHODS:
        raise Problem("no_method", f"there is no method '{method}'")
    function, _, _, streaming, required = METHODS[method]
    check(params, required, optional=["method"] if method == "hub.schema" else [])
    result = function(**params)
    count = 0
    for item in result if streaming else ():
        send(method="$/item", params={"id": id, "item": item})
        count += 1
    send(id=id, result=count if streaming else result)


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue  # a notice, such as $/cancel: all answers here are quick
    try:
        try:
            answer(request["id"], request["method"], request.get("params", {}))
        except OSError as error:
            raise Problem("io", f"{FILE}: {error.strerror}") from error
    except Problem as problem:
        send(id=request["id"], error={"code": Problem.CODES[problem.status], "message": str(problem)})
