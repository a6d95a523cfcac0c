"""How often the published Python SDK runs a rule in a second. Reads the rule and the input as JSON, one line, from stdin."""

import json
import sys
import time

from ice.cache import conf_cache, handler_cache
from ice.context.roam import Roam
from ice.dto import BaseDto, ConfDto

import leaves  # noqa: F401  importing it registers the leaf classes

task = json.loads(sys.stdin.readline())
errors = conf_cache.insert_or_update_confs([ConfDto(**node) for node in task["nodes"]])
handler_cache.insert_or_update_handlers([BaseDto(id=1, confId=1)])
handler = handler_cache.get_handler_by_id(1)
if errors or handler is None:
    sys.exit(f"the rule cannot run: {errors}")


def run_once() -> str:
    roam = Roam.create(id=1, ts=int(time.time() * 1000))
    roam.put_all(json.loads(task["input"]))
    handler.handle(roam)
    return roam.get_process_info()


# One line in, one line out: for how long to run, and how often it ran.
for line in sys.stdin:
    until = time.perf_counter() + float(line)
    began = time.perf_counter()
    runs = 0
    while time.perf_counter() < until:
        for _ in range(100):
            run_once()
        runs += 100
    print(json.dumps({"perSecond": runs / (time.perf_counter() - began), "process": run_once()}), flush=True)
