"""Stands in for the model process: same protocol, no model, and it misbehaves on request."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from queue import Queue
from typing import Any

requests: Queue[dict[str, Any] | None] = Queue()
cancelled: set[int] = set()


def say(**event: object) -> None:
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def read() -> None:
    for line in sys.stdin:
        message = json.loads(line)
        if message["do"] == "cancel":
            cancelled.add(message["of"])
        else:
            requests.put(message)
    requests.put(None)


threading.Thread(target=read, daemon=True).start()
while (request := requests.get()) is not None:
    identity = request["id"]
    match request["do"]:
        case "echo":
            say(id=identity, event="text", text="one")
            say(id=identity, event="result", said=request["say"], process=os.getpid())
        case "load":
            say(id=identity, event="loaded", model=request["model"])
            say(id=identity, event="result")
        case "refuse":
            say(id=identity, event="error", message="No model. Install one.")
        case "wait":
            say(id=identity, event="text", text="waiting")
            while identity not in cancelled:
                time.sleep(0.01)
            say(id=identity, event="result", cancelled=True)
        case "hang":
            say(id=identity, event="text", text="hanging")
            time.sleep(60)
        case "crash":
            os._exit(3)
        case "nonsense":
            print("Loading weights: 100%", flush=True)
            time.sleep(60)
