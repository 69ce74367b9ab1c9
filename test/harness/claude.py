#!/usr/bin/env python3
"""A client for tests: speaks the protocol of `claude -p --input-format stream-json`, and does what the prompt says.

  replay FILE      prints a capture, line by line
  say TEXT         an answer
  exit N, die      ends with that code, or by SIGKILL, before any result
  stderr TEXT      writes that, and fails
  nojson           prints lines that are no JSON, then answers
  flood N, slow N  N deltas of 100 bytes; a millisecond between them
  long N           one line of N bytes
  ask              asks a question, and answers with what it was told
  wait             until it is interrupted, or told to answer by another prompt
  hang             says nothing any more, whatever it is told
  leave            starts processes that try to stay, and waits
  error            an API error

What it was started with goes into seen.json in its folder; so does every line it is told, into told.jsonl.
"""
import json, os, signal, subprocess, sys, time, uuid

session = str(uuid.UUID(int=int.from_bytes(os.urandom(16), 'big'), version=4))
if '--resume' in sys.argv:
    session = sys.argv[sys.argv.index('--resume') + 1]
told = open('told.jsonl', 'a')
json.dump({'argv': sys.argv, 'env': dict(os.environ), 'pid': os.getpid()}, open('seen.json', 'w'))


def out(**o):
    print(json.dumps(dict(o, session_id=session)), flush=True)


def listen():
    line = sys.stdin.readline()
    if not line:
        return None
    told.write(line)
    told.flush()
    return json.loads(line)


def result(text, **more):
    out(**dict(dict(type='result', subtype='success', is_error=False, result=text, num_turns=1, total_cost_usd=0.25,
                    usage={'input_tokens': 3, 'output_tokens': 5}), **more))


def answer(*deltas, pause=0):
    mid, line = 'msg_' + uuid.uuid4().hex, str(uuid.uuid4())

    def piece(**event):
        out(type='stream_event', event=event, parent_tool_use_id=None, uuid=str(uuid.uuid4()))
    piece(type='message_start', message={'id': mid, 'model': 'm'})
    piece(type='content_block_start', index=0, content_block={'type': 'text', 'text': ''})
    for d in deltas:
        time.sleep(pause)
        piece(type='content_block_delta', index=0, delta={'type': 'text_delta', 'text': d})
    out(type='assistant', message={'id': mid, 'content': [{'type': 'text', 'text': ''.join(deltas)}]}, uuid=line)
    piece(type='content_block_stop', index=0)
    piece(type='message_stop')


def turn(message):
    what, _, rest = message['message']['content'].partition(' ')
    out(type='system', subtype='init', cwd=os.getcwd(), model='m', tools=[], claude_code_version='0')
    out(type='user', message=message['message'], uuid=message['uuid'], isReplay=True)
    if what == 'replay':
        sys.stdout.write(open(rest).read())
        sys.stdout.flush()
    elif what == 'exit':
        sys.exit(int(rest))
    elif what == 'die':
        answer('half')
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == 'stderr':
        print(rest, file=sys.stderr, flush=True)
        sys.exit(1)
    elif what == 'error':
        answer('API Error: Overloaded')
        result('API Error: Overloaded', is_error=True)
        sys.exit(1)
    elif what == 'hang':
        while True:
            time.sleep(1000)
    elif what == 'leave':
        subprocess.Popen(['setsid', 'sleep', '1000'])
        subprocess.Popen(['sh', '-c', '(setsid sleep 1000 &)'])
        answer('left')
        time.sleep(1000)
    elif what == 'long':
        print('x' * int(rest), flush=True)
        answer('done')
        result('done')
    elif what == 'wait':
        while True:
            m = listen()
            if m is None:
                sys.exit(9)
            if m['type'] == 'control_request' and m['request']['subtype'] == 'interrupt':
                out(type='control_response', response={'subtype': 'success', 'request_id': m['request_id']})
                result(None, subtype='error_during_execution', is_error=True, errors=['interrupted'])
                return
            if m['type'] == 'user':
                out(type='user', message=m['message'], uuid=m['uuid'], isReplay=True)
                answer('and: ' + m['message']['content'])
                result('done')
                return
    elif what == 'ask':
        out(type='control_request', request_id='q1', request={'subtype': 'can_use_tool', 'tool_name': 'Bash'})
        answer(listen()['response']['subtype'])
        result('done')
    else:
        if what == 'nojson':
            print('Warning: no JSON\n{"half":', flush=True)
        if what in ('flood', 'slow'):
            answer(*['x' * 100] * int(rest), pause=0.001 if what == 'slow' else 0)
        else:
            answer(rest[:3], rest[3:])
        result('done')


while True:
    m = listen()
    if m is None:
        break
    if m['type'] == 'user':
        turn(m)
