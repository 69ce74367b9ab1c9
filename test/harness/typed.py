#!/usr/bin/env python3
"""typed.py COLUMNSxROWS [STEP]... -- CMD [ARG]...: runs a program on a terminal of its own, and types there.

Steps, in order:
  wait:TEXT   until it has written that since the last step, at most 20 seconds
  type:KEYS   types; \\r, \\x03 and the like are understood
  run:CMD     runs a shell command meanwhile

All that it wrote is printed, and its exit code is ours; 128 + n when signal n ended it; 124 when something was waited
for in vain.
"""
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time

size, *rest = sys.argv[1:]
at = rest.index('--')
columns, rows = map(int, size.split('x'))
pid, fd = pty.fork()
if pid == 0:
    os.environ['TERM'] = 'xterm'
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
    time.sleep(0.05)
    os.execvp(rest[at + 1], rest[at + 1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
seen, mark, ended = b'', 0, False


def read(seconds):
    global seen, ended
    if ended or not select.select([fd], [], [], seconds)[0]:
        return
    try:
        more = os.read(fd, 65536)
    except OSError:
        more = b''
    ended = not more
    seen += more


def finish(code):
    sys.stdout.buffer.write(seen.replace(b'\r\n', b'\n'))
    sys.stdout.flush()
    sys.exit(code)


def wait_until(true, what):
    end = time.time() + 20
    while not true():
        if time.time() > end or (ended and not true()):
            sys.stderr.write('waited in vain for %s\n' % what)
            os.kill(pid, signal.SIGKILL)
            finish(124)
        read(0.1)


for step in rest[:at]:
    kind, _, text = step.partition(':')
    if kind == 'wait':
        wait_until(lambda: text.encode() in seen[mark:], text)
        mark = seen.index(text.encode(), mark) + len(text.encode())
    elif kind == 'run':
        subprocess.run(text, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    else:
        os.write(fd, text.encode().decode('unicode_escape').encode())
wait_until(lambda: ended, 'the end')
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
finish(status if status >= 0 else 128 - status)
