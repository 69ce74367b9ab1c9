#!/usr/bin/env python3
"""notes: an activation for Arbor. It keeps notes, hands out handles of them and resolves these.

It speaks JSON-RPC 2.0 on its standard streams, a message a line; docs/EXTENDING.md explains every
part. Notes are lines of JSON in $NOTES_FILE (default ~/.local/share/arbor-notes.jsonl); the last line
about a note counts.
"""

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

    CODES = {"usage": -32602, "not_found": -32001, "gone": -32016, "unsupported": -32018, "no_method": -32601}

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def load():
    notes = {}
    if os.path.exists(FILE):
        with open(FILE, encoding="utf-8") as lines:
            for line in lines:
                note = json.loads(line)
                notes[note["id"]] = note
    return notes


def store(note):
    os.makedirs(os.path.dirname(FILE), mode=0o700, exist_ok=True)
    with open(os.open(FILE, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "a", encoding="utf-8") as file:
        file.write(json.dumps(note) + "\n")


def find(wanted):
    note = load().get(wanted)
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
    store({"id": find(id)["id"], "removed": True})
    return {"id": id}


def list_notes():
    return (shown(note) for note in load().values() if not note.get("removed"))


def resolve(handle):
    kind, *meta = handle.partition("::")[2].split(":")  # ids of notes need no escapes
    if kind != "note" or not meta:
        raise Problem("unsupported", f"notes are the only handles here, not '{kind}'")
    note = shown(find(meta[0]))
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
    "hub.resolve": (resolve, None, "read", False, []),
}


def answer(id, method, params):
    if method not in METHODS:
        raise Problem("no_method", f"there is no method '{method}'")
    function, _, _, streaming, _ = METHODS[method]
    try:
        result = function(**params)
    except TypeError as error:
        raise Problem("usage", str(error)) from error
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
        answer(request["id"], request["method"], request.get("params", {}))
    except Problem as problem:
        code = Problem.CODES[problem.status]
        error = {"code": code, "message": str(problem), "data": {"status": problem.status}}
        send(id=request["id"], error=error)
