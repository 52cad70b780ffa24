"""The processes of a server, started by the keeper: killed, paused, and never left behind."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from tests.apiserver import keeper

Object = dict[str, Any]


class Broken(Exception):
    """A part did not do what it was asked for; the text has the end of its log."""


class Parts:
    """Processes by their names, until `close`; their logs and files are in `folder`, which goes with them."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="flowdsl-apiserver-"))
        self.pids: dict[str, int] = {}
        command = [sys.executable, "-I", "-S", keeper.__file__, str(self.folder)]
        self.keeper = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._lock = threading.Lock()

    def close(self) -> None:
        """Kill all, and remove what they wrote."""
        for pipe in (self.keeper.stdin, self.keeper.stdout):
            assert pipe is not None
            pipe.close()
        self.keeper.wait()
        shutil.rmtree(self.folder, ignore_errors=True)  # if the keeper was killed

    def start(self, name: str, argv: list[str]) -> None:
        """Start a process. Raises Broken."""
        self.pids[name] = self._ask({"start": argv, "log": str(self.folder / f"{name}.log")})["pid"]

    def kill(self, name: str) -> None:
        """End a process as `kill -9` does, and wait until it is gone."""
        self.send(name, signal.SIGKILL)
        self._ask({"wait": 10, "pid": self.pids[name]})

    def send(self, name: str, number: signal.Signals) -> None:
        """Send a signal."""
        self._ask({"signal": int(number), "pid": self.pids[name]})

    def check(self) -> None:
        """Raise Broken if a process has ended."""
        for name, pid in self.pids.items():
            code = self._ask({"wait": 0, "pid": pid})["code"]
            if code is not None:
                raise Broken(f"{name} ended with {code}:\n{self.log(name)[-3000:]}")

    def log(self, name: str) -> str:
        """What a process has written so far."""
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _ask(self, request: Object) -> Object:
        assert self.keeper.stdin is not None
        assert self.keeper.stdout is not None
        with self._lock:
            self.keeper.stdin.write(json.dumps(request) + "\n")
            self.keeper.stdin.flush()
            answer: Object = json.loads(self.keeper.stdout.readline() or '{"error": "the keeper has ended"}')
        if "error" in answer:
            raise Broken(answer["error"])
        return answer
