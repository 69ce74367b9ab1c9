#!/usr/bin/env python3
"""A client for tests: speaks the protocol of `claude -p --input-format stream-json`, and does what the prompt says.

  replay FILE      prints a capture, line by line
  say TEXT         an answer
  exit N, die      ends with that code, or by SIGKILL, before any result
  stderr TEXT      writes that, and fails
  nojson           prints lines that are no JSON, then answers
  flood N, slow N  N deltas of 100 bytes; a millisecond between them
  long N           one line of N bytes
  ask              asks a question that is none, and answers with what it was told
  tool A | B       wants to run these commands, all at once; says what of each came of it
  tool big N       wants to run one of N bytes
  meanwhile CMD    wants to run something, runs CMD before anybody has answered, and says what that printed
  question TEXT    asks the person (AskUserQuestion); plan TEXT wants a plan approved (ExitPlanMode)
  recant A         wants to run a command, and then no more
  hook             asks something that only an SDK knows; hook N, with a number for an id
  late A           a sub-agent in the background wants to run a command when the turn is over
  shell A          a command in the background ends behind the turn; the next wants to run A
  server           a command in the background never ends; told more, it answers; told no more, it ends
  cost MODEL       an answer of 1,000 tokens in, 40 out
  think TEXT       a thought, then an answer
  wait             until it is interrupted, or told to answer by another prompt
  hang             says nothing any more, whatever it is told
  leave            starts processes that try to stay, and waits
  error            an API error

Without --permission-prompt-tool stdio nobody is asked, and no tool runs. What it was started with goes into seen.json
in its folder; so does every line it is told, into told.jsonl, and what is said into a transcript where the real one has it.
"""
import json, os, re, signal, subprocess, sys, time, uuid

session = str(uuid.UUID(int=int.from_bytes(os.urandom(16), 'big'), version=4))
if '--resume' in sys.argv:
    session = sys.argv[sys.argv.index('--resume') + 1]
if '--session-id' in sys.argv:
    session = sys.argv[sys.argv.index('--session-id') + 1]
told = open('told.jsonl', 'a')
json.dump({'argv': sys.argv, 'env': dict(os.environ), 'pid': os.getpid()}, open('seen.json', 'w'))


# As the real one has it; lines follow one another.
home = os.environ.get('CLAUDE_CONFIG_DIR') or os.path.join(os.environ['HOME'], '.claude')
transcript = os.path.join(home, 'projects', re.sub('[^a-zA-Z0-9]', '-', os.getcwd()), session + '.jsonl')
last = None
if os.path.exists(transcript):
    with open(transcript) as f:
        last = [o['uuid'] for o in map(json.loads, f) if 'uuid' in o][-1]


def write_down(o):
    global last
    if '--no-session-persistence' in sys.argv:
        return
    now = time.time()
    stamp = time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now)) + '.%03dZ' % (now % 1 * 1000)
    line = {'parentUuid': last, 'isSidechain': False, 'type': o['type'], 'uuid': o['uuid'], 'timestamp': stamp,
            'message': dict({'role': o['type']}, **o['message']), 'sessionId': session, 'cwd': os.getcwd()}
    last = o['uuid']
    os.makedirs(os.path.dirname(transcript), exist_ok=True)
    with open(transcript, 'a') as f:
        f.write(json.dumps(line) + '\n')
    out(type='transcript_mirror', filePath=transcript, entries=[line])


def out(**o):
    print(json.dumps(dict(o, session_id=session)), flush=True)
    if o['type'] in ('user', 'assistant') and 'uuid' in o:
        write_down(o)


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


def piece(**event):
    out(type='stream_event', event=event, parent_tool_use_id=None, uuid=str(uuid.uuid4()))


def say(mid, index, start, deltas, whole, pause=0):
    """A block of an answer, in pieces and as a line."""
    piece(type='content_block_start', index=index, content_block=start)
    for d in deltas:
        time.sleep(pause)
        piece(type='content_block_delta', index=index, delta=d)
    out(type='assistant', message={'id': mid, 'content': [whole]}, uuid=str(uuid.uuid4()))
    piece(type='content_block_stop', index=index)


def begin():
    mid = 'msg_' + uuid.uuid4().hex
    piece(type='message_start', message={'id': mid, 'model': 'm'})
    return mid


def answer(*deltas, pause=0, thought=None):
    mid, at = begin(), 0
    if thought:
        say(mid, 0, {'type': 'thinking', 'thinking': ''}, [{'type': 'thinking_delta', 'thinking': thought}],
            {'type': 'thinking', 'thinking': thought, 'signature': 's'})
        at = 1
    say(mid, at, {'type': 'text', 'text': ''}, [{'type': 'text_delta', 'text': d} for d in deltas],
        {'type': 'text', 'text': ''.join(deltas)}, pause)
    piece(type='message_stop')


# ---- Tools: the protocol of can_use_tool as it was measured

class Interrupted(Exception):
    pass


asks = '--permission-prompt-tool' in sys.argv and sys.argv[sys.argv.index('--permission-prompt-tool') + 1] == 'stdio'
open_questions, answers, busy = [], {}, []  # busy: with a turn


def control(m):
    """A request to us while something else is waited for."""
    sub = m['request']['subtype']
    more = {'mode': m['request']['mode']} if sub == 'set_permission_mode' else {}
    if more.get('mode') == 'bypassPermissions':
        out(type='control_response', response={'subtype': 'error', 'request_id': m['request_id'],
                                               'error': 'the session was not started with it'})
        return
    out(type='control_response', response={'subtype': 'success', 'request_id': m['request_id'], 'response': more})
    if sub == 'interrupt' and busy:
        for q in open_questions:
            out(type='control_cancel_request', request_id=q)
        open_questions.clear()
        raise Interrupted


def hear():
    """One line: an answer to a question of ours, or something to be done."""
    m = listen()
    if m is None:
        sys.exit(9)
    if m['type'] == 'control_response' and m['response']['request_id'] in open_questions:
        open_questions.remove(m['response']['request_id'])
        answers[m['response']['request_id']] = m['response']
    elif m['type'] == 'control_request':
        control(m)


def question(tool, tool_input, call, **more):
    qid = 'q-' + uuid.uuid4().hex
    open_questions.append(qid)
    out(type='control_request', request_id=qid, request=dict(
        {'subtype': 'can_use_tool', 'tool_name': tool, 'display_name': tool, 'input': tool_input, 'tool_use_id': call,
         'permission_suggestions': [{'type': 'setMode', 'mode': 'acceptEdits', 'destination': 'session'}]}, **more))
    return qid


def wants(mid, index, tool, tool_input):
    call = 'toolu_' + uuid.uuid4().hex
    say(mid, index, {'type': 'tool_use', 'id': call, 'name': tool, 'input': {}},
        [{'type': 'input_json_delta', 'partial_json': json.dumps(tool_input)}],
        {'type': 'tool_use', 'id': call, 'name': tool, 'input': tool_input})
    return call


def outcome(tool, qid):
    """What a tool gives, its failure, and whether the turn ends."""
    while asks and qid not in answers:
        hear()
    a = answers.get(qid, {'subtype': 'success', 'response': {'behavior': 'deny', 'message': 'nobody can be asked'}})
    if a['subtype'] == 'error':
        return 'Tool permission request failed: ' + a['error'], True, False
    r = a['response']
    if r['behavior'] == 'deny':
        return r['message'], True, r.get('interrupt', False)
    if 'updatedInput' not in r:
        return 'ZodError: updatedInput', True, False
    if tool == 'AskUserQuestion':
        return 'User has answered: ' + json.dumps(r['updatedInput'].get('answers')), False, False
    return 'ran ' + r['updatedInput'].get('command', tool), False, False


def use(tool, inputs):
    mid = begin()
    calls = [wants(mid, i, tool, x) for i, x in enumerate(inputs)]
    piece(type='message_stop')
    asked = [question(tool, x, c) if asks else None for x, c in zip(inputs, calls)]
    texts = []
    for qid, call in zip(asked, calls):
        text, failed, ends = outcome(tool, qid)
        out(type='user', message={'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': call, 'content': text, 'is_error': failed}]}, uuid=str(uuid.uuid4()))
        texts.append(text)
        if ends:
            raise Interrupted
    return ', '.join(texts)


def tools(what, rest):
    if what == 'question':
        return use('AskUserQuestion', [{'questions': [{'question': rest, 'header': 'Which', 'multiSelect': False, 'options': [
            {'label': 'The first', 'description': 'is old'}, {'label': 'The second', 'description': 'is new'}]}]}])
    if what == 'plan':
        return use('ExitPlanMode', [{'plan': rest}])
    if rest.startswith('big '):
        rest = 'echo ' + 'x' * int(rest[4:])
    return use('Bash', [{'command': c.strip(), 'description': 'Runs ' + c.strip()} for c in rest.split('|')])


def meanwhile(rest):
    qid = question('Bash', {'command': 'touch never'}, 'toolu_1')
    while not subprocess.run(['sqlite3', os.environ['HOME'] + '/store/arbor.db', "SELECT 1 FROM approval WHERE state = 'pending'"],
                             capture_output=True).stdout:
        time.sleep(0.02)
    done = subprocess.run(['sh', '-c', rest], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, CLAUDECODE='1', CLAUDE_CODE_SESSION_ID=session))
    out(type='control_cancel_request', request_id=qid)
    answer(done.stdout + 'code %d' % done.returncode)
    result('done')


def shell(rest):
    task = {'task_id': 'b1', 'tool_use_id': 'toolu_1'}
    out(type='system', subtype='task_started', task_type='local_bash', **task)
    answer('started')
    result('started')
    if rest is None:
        return
    time.sleep(0.5)
    out(type='system', subtype='task_updated', task_id='b1', patch={'status': 'completed'})
    time.sleep(0.5)
    out(type='system', subtype='task_notification', status='completed', output_file='/b1', **task)
    out(type='system', subtype='init', cwd=os.getcwd(), model='m', tools=[], claude_code_version='0')
    answer(tools('tool', rest))
    result('done')


def late(rest):
    out(type='system', subtype='task_started', task_id='a1', tool_use_id='toolu_1', task_type='local_agent')
    answer('started')
    result('started')
    qid = question('Bash', {'command': rest}, 'toolu_2', agent_id='a1')
    text = outcome('Bash', qid)[0]
    out(type='system', subtype='task_notification', task_id='a1', tool_use_id='toolu_1', status='completed', output_file='/a1')
    out(type='system', subtype='init', cwd=os.getcwd(), model='m', tools=[], claude_code_version='0')
    answer(text)
    result('done')


def words(content):
    """Of blocks: what the last text says."""
    return content if isinstance(content, str) else [b['text'] for b in content if b['type'] == 'text'][-1]


def turn(message):
    what, _, rest = words(message['message']['content']).partition(' ')
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
                answer('and: ' + words(m['message']['content']))
                result('done')
                return
            if m['type'] == 'control_request':
                control(m)
    elif what == 'ask':
        out(type='control_request', request_id='q1', request={'subtype': 'can_use_tool', 'tool_name': 'Bash'})
        answer(listen()['response']['subtype'])
        result('done')
    elif what in ('tool', 'question', 'plan'):
        answer(tools(what, rest))
        result('done')
    elif what == 'meanwhile':
        meanwhile(rest)
    elif what == 'late':
        late(rest)
    elif what in ('shell', 'server'):
        shell(rest if what == 'shell' else None)
    elif what == 'hook':
        out(type='control_request', request_id=1 if rest else 'h1', request={'subtype': 'hook_callback', 'callback_id': 'x', 'input': {}})
        answer(listen()['response']['subtype'])
        result('done')
    elif what == 'recant':
        out(type='control_cancel_request', request_id=question('Bash', {'command': rest}, 'toolu_1'))
        answer('never mind')
        result('done')
    elif what == 'cost':
        answer('paid')
        result('done', modelUsage={rest: {'inputTokens': 1000, 'outputTokens': 40}})
    elif what == 'think':
        answer(rest[:3], rest[3:], thought='What is ' + rest + '?')
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
        busy.append(1)
        try:
            turn(m)
        except Interrupted:
            result(None, subtype='error_during_execution', is_error=True, errors=['interrupted'])
        busy.clear()
    elif m['type'] == 'control_request':
        control(m)
