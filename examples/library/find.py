#!/usr/bin/env python3
"""find.py WORDS: the same as find.c, from a language that knows C only by hearsay."""
import ctypes
import json
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("message", ctypes.c_char * 2044)]


RESULT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)

lib = ctypes.CDLL("libarbor.so.0")
lib.arbor_search.argtypes = [
    ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, RESULT, ctypes.c_void_p, ctypes.POINTER(Error)
]
lib.arbor_close.argtypes = [ctypes.c_void_p]


def check(status, error):
    if status:
        sys.exit("find: " + error.message.decode())


@RESULT
def take(_ctx, data, length):
    hit = json.loads(ctypes.string_at(data, length))
    print(ascii(hit["title"]), ascii(hit["snippet"]), sep="\n")
    return 0


error, arbor = Error(), ctypes.c_void_p()
check(lib.arbor_open(None, ctypes.byref(arbor), ctypes.byref(error)), error)
status = lib.arbor_search(arbor, " ".join(sys.argv[1:]).encode(), 3, take, None, ctypes.byref(error))
lib.arbor_close(arbor)
check(status, error)
