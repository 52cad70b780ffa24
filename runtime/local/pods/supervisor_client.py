"""The runner's end of the supervisor: starts it, sends it requests, and passes on its answers."""

from __future__ import annotations

import marshal
import math
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from flowdsl.runtime.local.pods.amounts import cores
from flowdsl.runtime.local.pods.sandbox import in_thread
from flowdsl.runtime.local.pods.slots import Amount

Json = dict[str, Any]

LAUNCH = """
import sys
names = "flowdsl", "flowdsl.runtime", "flowdsl.runtime.local", "flowdsl.runtime.local.pods"
for name in names:
    made = sys.modules[name] = type(sys)(name)
    made.__path__ = []
made.__path__ = [sys.argv[3]]
from flowdsl.runtime.local.pods.supervisor import main
main(*map(int, sys.argv[1:3]))
"""
"""Starts the supervisor without the rest of flowdsl, and from its cached bytecode."""
_MANY = 8
"""If more programs than that wait, there are enough to run without the next answer."""
_TOGETHER = 0.012
"""The longest time in seconds to batch answers then: handling a batch costs as much as starting a program."""
_BRIEFEST = 0.0008
"""The least CPU seconds of a program: batching must not last until all waiting programs have ended."""
_LONGEST_WAIT = 3600.0


class SupervisorClient:
    """A running supervisor.

    `attend` calls `answered` with each answer. The first, `{"isolated"}`, says that programs can be run from now
    on, and whether they have their own file systems. The other methods can be called from any thread and never
    wait until the supervisor has read the request: after the first, requests are collected, and sent together by
    `attend`.
    """

    def __init__(self, isolate: bool | None, answered: Callable[[Json], None]) -> None:
        self.answered = answered
        self.lock = threading.Lock()
        self.unsent: list[bytes] = []
        self.listening = False  # whether `attend` has to be woken if there is something to send
        self.prompt = True  # whether nothing was sent since the last `attend`
        self.running: set[str] = set()
        self.left = 0
        self.greeted = False
        if isolate is None:
            isolate = sys.platform == "linux"
        self.cores = cores()
        self.settings: Json = {"isolate": isolate, "most": self.cores + 1}
        self.heard, self.bell = socket.socketpair()
        self.bell.setblocking(False)
        self.ready = select.poll()
        self.rings = select.poll()
        for poll in (self.ready, self.rings):
            poll.register(self.heard, select.POLLIN)
        self._start()

    def begin(self, folder: Path, logs: Path, needed: list[str]) -> None:
        """Send the supervisor its settings, once; see there."""
        self.settings |= {"folder": str(folder), "logs": str(logs), "needed": needed}
        self._send(self.settings)

    def _start(self) -> None:
        """Start a supervisor, which takes a moment until it listens."""
        kind = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
        self.answers, theirs = socket.socketpair(socket.AF_UNIX, kind)
        self.control, other = socket.socketpair()
        with theirs, other:
            ends = theirs.fileno(), other.fileno()
            here = str(Path(__file__).parent)
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", LAUNCH, *map(str, ends), here],
                pass_fds=ends,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL if self.settings["isolate"] else None,
                start_new_session=True,
                cwd="/",
            )
        in_thread(process.wait)
        self.control.setblocking(False)
        self.ready.register(self.answers, select.POLLIN)

    def _send(self, what: Json) -> None:
        data = marshal.dumps(what)
        with self.lock:
            self.unsent += [len(data).to_bytes(4, "little"), data]
            if self.listening:
                self._ring()
            elif self.prompt:
                self.prompt = False
                self._flush()

    def _flush(self) -> None:
        """Send as much as the socket takes; requires the lock."""
        if not self.unsent:
            return
        data = b"".join(self.unsent)
        try:
            sent = self.control.send(data)
        except BlockingIOError:
            sent = 0
        except OSError:
            sent = len(data)  # it has ended; the reader says so
        self.unsent = [data[sent:]] if sent < len(data) else []

    def run(self, what: Json) -> None:
        """Run a program; its answer comes later. Programs start in order."""
        self.running.add(what["id"])
        self._send({"do": "run", "what": what})

    def offer(self, total: Amount) -> None:
        """Set the total of a resource, for all requests."""
        self._send({"do": "offer", "total": total})

    def ask(self, name: str, wanted: Amount, what: Json | None) -> None:
        """Request resources, in FIFO order; `next` of an answer has the requests that were granted.

        A program that comes with the request starts as soon as it is granted, before this process knows: for short
        programs, the round trip would take as long as they do. The resources are released when it ends, or by `leave`.
        """
        if what is not None:
            self.running.add(what["id"])
        self._send({"do": "ask", "id": name, "wanted": wanted, "what": what})

    def leave(self, name: str) -> None:
        """Release or withdraw a request; a program that came with it does not run, or is ended."""
        self._send({"do": "leave", "id": name})

    def stop(self, name: str, grace: float) -> None:
        """Send TERM, and KILL after so many seconds, also to a program that has not started."""
        self._send({"do": "stop", "id": name, "grace": grace})

    def free(self, name: str) -> None:
        """The files of a program are no longer needed."""
        self._send({"do": "free", "id": name})

    def probe(self, name: str, of: str, argv: list[str], env: dict[str, str], seconds: float) -> None:
        """Run a program beside another one."""
        self._send({"do": "exec", "id": name, "of": of, "argv": argv, "env": env, "seconds": seconds})

    def wake(self) -> None:
        """Make `attend` return; from any thread."""
        with self.lock:
            self._ring()

    def _ring(self) -> None:
        try:
            self.bell.send(b".")
        except OSError:
            return  # the socket is full, so `attend` wakes up anyway, or it is closed

    def attend(self, seconds: float | None) -> None:
        """Pass on the answers. Waits for one, or for `wake`, at most so many seconds; called from one thread only."""
        with self.lock:
            self._flush()
            self.listening, self.prompt = not self.unsent, False
        if not self.listening:
            self.ready.register(self.control, select.POLLOUT)
        seconds = _LONGEST_WAIT if seconds is None else min(seconds, _LONGEST_WAIT)
        found = [file for file, _ in self.ready.poll(math.ceil(seconds * 1000))]
        if seconds and self.left > _MANY and self.answers.fileno() in found:
            together = min(_TOGETHER, self.left * _BRIEFEST / self.cores)
            found += [file for file, _ in self.rings.poll(together * 1000)]
        if not self.listening:
            self.ready.unregister(self.control)
        self.listening = False
        if self.heard.fileno() in found:
            self.heard.recv(1 << 10)
        if self.answers.fileno() in found:
            while self._hear():
                pass
        with self.lock:
            self._flush()
            self.prompt = True

    def _hear(self) -> bool:
        """Pass on one answer; returns whether there was one."""
        try:
            data = self.answers.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._ended()
            return False
        self.greeted = True
        answer: Json = marshal.loads(data)
        if "at" in answer:
            path = Path(answer["at"])
            answer = marshal.loads(path.read_bytes())
            path.unlink()
        if "code" in answer:
            self.running.discard(answer["id"])
        self.left = answer.get("left", self.left)
        self.answered(answer)
        return True

    def _ended(self) -> None:
        """Handle the end of the supervisor; if it could not isolate, start one that does not."""
        self.ready.unregister(self.answers)
        if self.greeted or not self.settings["isolate"]:
            self.answered({"gone": True})
            return
        self.answers.close()
        self.control.close()
        self.settings["isolate"] = False
        self._start()
        self._send(self.settings)

    def close(self) -> None:
        """End the supervisor, and with it everything that it has started.

        Waits for it only while something runs; its folder is removed in the background.
        """
        self.control.close()
        if self.running or not self.greeted:
            with suppress(OSError):  # it has not read the last requests
                while self.answers.recv(1 << 16):
                    pass
        self.answers.close()
        with self.lock:
            self.bell.close()
        self.heard.close()
