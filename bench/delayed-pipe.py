"""`delayed-pipe.py MS PROGRAM …`: runs a program, and hands what goes into it and comes out of it on half so many ms later.

Node's timers count whole milliseconds, which is too coarse for this.
"""
import os
import select
import subprocess
import sys
import time
from collections import deque

seconds = float(sys.argv[1]) / 2000
child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
targets = {0: child.stdin.fileno(), child.stdout.fileno(): 1}
held = {source: deque() for source in targets}

while True:
    due = min((queue[0][0] for queue in held.values() if queue), default=None)
    wait = None if due is None else max(0, due - time.monotonic())
    for source in select.select(list(targets), [], [], wait)[0]:
        data = os.read(source, 1 << 20)
        if not data:
            child.kill()
            sys.exit()
        held[source].append((time.monotonic() + seconds, data))
    for source, queue in held.items():
        while queue and queue[0][0] <= time.monotonic():
            data = queue.popleft()[1]
            while data:
                data = data[os.write(targets[source], data):]
