"""The runner's end of the supervisor: starts it, gives it programs to run, and hands on its answers."""

from __future__ import annotations

import marshal
import math
import select
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from flowdsl.runtime.local.pods.amounts import cores

Json = dict[str, Any]

LAUNCH = """
import sys
names = "flowdsl", "flowdsl.runtime", "flowdsl.runtime.local", "flowdsl.runtime.local.pods"
for name in names:
    made = sys.modules[name] = type(sys)(name)
    made.__path__ = []
made.__path__ = [sys.argv[3]]
from flowdsl.runtime.local.pods.supervisor import main
main(int(sys.argv[1]), int(sys.argv[2]))
"""
"""Start the supervisor without the rest of flowdsl, and with its compiled form."""
_LONGEST = 48 * 1024
_BRIEF = 0.01
"""Seconds after which a program counts as one that runs for long: it is seen, and does not keep others waiting."""
_AHEAD = 2
"""Programs that are sent before a room is free: all of them must fit into what a socket keeps."""
_LONGEST_WAIT = 3600.0


class Helper:
    """A supervisor that runs.

    `answered` is called with each answer, by `attend`. As many programs as there are cores begin at a time, and one for
    the core that is free until an answer is read: another one begins, and where no room is free one is made for it,
    when one of these has ended or has run for a while. So short programs use few rooms, each of which costs as much as
    several of them, and long ones soon all run.
    """

    def __init__(self, isolate: bool | None, answered: Callable[[Json], None]) -> None:
        self.folder = Path()
        self.answered = answered
        self.lock = threading.Lock()
        self.most = cores() + 1
        self.waiting: deque[Json] = deque()
        self.sent: deque[str] = deque()  # no room has taken them yet
        self.fresh: dict[str, float] = {}  # when they began, in this order: those that have not run for long
        self.long = 0
        self.greeted = False
        if isolate is None:
            isolate = sys.platform == "linux"
        self.settings: Json = {"isolate": isolate}
        self.heard, self.bell = socket.socketpair()
        self.bell.setblocking(False)
        self.ready = select.poll()
        self.ready.register(self.heard, select.POLLIN)
        self._start()

    def begin(self, folder: Path, logs: Path, needed: list[str]) -> None:
        """Tell the supervisor where it works, once; see there."""
        self.folder = folder
        self.settings |= {"folder": str(folder), "logs": str(logs), "needed": needed}
        self._settle()

    def _start(self) -> None:
        """Start a supervisor; it takes a moment until it listens."""
        kind = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
        self.packets, theirs = socket.socketpair(socket.AF_UNIX, kind)
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
        threading.Thread(target=process.wait, daemon=True).start()
        self.workers = self.making = self.idle = 0

    def _settle(self) -> None:
        self._send(self.settings)
        self._grow(1)  # its room is made while the runner prepares the first steps

    def isolated(self) -> bool:
        """Wait until it is ready; whether steps have file systems of their own. Raises OSError."""
        hello = self.packets.recv(1 << 16)
        if not hello and self.settings["isolate"]:
            self._shut()
            self.settings["isolate"] = False
            self._start()
            self._settle()
            hello = self.packets.recv(1 << 16)
        if not hello:
            raise OSError("the process that starts the steps has ended")
        self.ready.register(self.packets, select.POLLIN)
        self.greeted = True
        return bool(marshal.loads(hello)["isolated"])

    def _shut(self) -> None:
        self.packets.close()
        self.control.close()

    def _send(self, what: Json) -> None:
        data = marshal.dumps(what)
        try:
            self.control.sendall(len(data).to_bytes(4, "little") + data)
        except OSError:
            return  # it has ended; the reader says so

    def run(self, what: Json) -> None:
        """Run a program; its answer comes later. Programs begin in their order."""
        with self.lock:
            self.waiting.append(what)
            self._flow()

    def _flow(self) -> None:
        """Send what may begin, and a little more: who has a free room takes the next one without asking."""
        now = time.monotonic()
        while self.sent and self.idle:
            self._takes(self.sent.popleft(), now)
        while self.fresh and (oldest := next(iter(self.fresh))) and self.fresh[oldest] + _BRIEF <= now:
            del self.fresh[oldest]
            self._send({"do": "name", "id": oldest})
        while self.waiting and (len(self.fresh) < self.most if self.idle else len(self.sent) < _AHEAD):
            what = self.waiting.popleft()
            self._go(what)
            if self.idle:
                self._takes(what["id"], now)
            else:
                self.sent.append(what["id"])
        more = min(self.most - len(self.fresh), len(self.sent) + len(self.waiting)) - self.making
        if more > 0 and not self.idle:
            self._grow(more)

    def _takes(self, name: str, now: float) -> None:
        """A free room has taken a program."""
        self.idle -= 1
        self.fresh[name] = now

    def _grow(self, more: int) -> None:
        self.workers += more
        self.making += more
        self._send({"do": "grow", "workers": self.workers})

    def _go(self, what: Json) -> None:
        data = marshal.dumps(what)
        if len(data) > _LONGEST:
            self.long += 1
            path = self.folder / f"asked-{self.long}"
            path.write_bytes(data)
            data = marshal.dumps({"at": str(path)})
        try:
            self.packets.send(data)
        except OSError:
            return  # it has ended; the reader says so

    def stop(self, name: str, grace: float) -> None:
        """TERM, and KILL after so many seconds, also for a program that has not begun."""
        self._send({"do": "stop", "id": name, "grace": grace})

    def free(self, name: str) -> None:
        """The files of a program are not needed any more."""
        self._send({"do": "free", "id": name})
        with self.lock:
            self.idle += 1
            self._flow()

    def probe(self, name: str, of: str, argv: list[str], env: dict[str, str], seconds: float) -> None:
        """Run a program beside another one."""
        self._send({"do": "exec", "id": name, "of": of, "argv": argv, "env": env, "seconds": seconds})

    def wake(self) -> None:
        """Let who waits in `attend` look up; from any thread."""
        with self.lock:
            try:
                self.bell.send(b".")
            except OSError:
                return  # it rings already, or nobody listens any more

    def attend(self, seconds: float | None) -> None:
        """Hand on an answer. Waits for it, or for `wake`, so many seconds at most; called from one thread only."""
        seconds = _LONGEST_WAIT if seconds is None else min(seconds, _LONGEST_WAIT)
        with self.lock:
            if self.fresh:
                oldest = next(iter(self.fresh.values()))
                seconds = min(seconds, max(0.0, oldest + _BRIEF - time.monotonic()))
        found = self.ready.poll(math.ceil(seconds * 1000))
        for file, _ in found:
            if file == self.heard.fileno():
                self.heard.recv(1 << 10)
            else:
                self._hear()
        if not found:
            with self.lock:
                self._flow()

    def _hear(self) -> None:
        """Hand on one answer."""
        try:
            data = self.packets.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.ready.unregister(self.packets)
            self.answered({"gone": True})
            return
        answer: Json = marshal.loads(data)
        if "at" in answer:
            path = Path(answer["at"])
            answer = marshal.loads(path.read_bytes())
            path.unlink()
        if "ready" in answer or ("code" in answer and "probe" not in answer):
            self._free(answer)
        if "ready" not in answer:
            self.answered(answer)

    def _free(self, answer: Json) -> None:
        """A room is ready, or a program has ended, whose room is free unless its files are kept."""
        with self.lock:
            if "ready" in answer:
                self.making -= 1
            else:
                self.fresh.pop(answer["id"], None)
            if not answer.get("kept"):
                self.idle += 1
            self._flow()

    def close(self) -> None:
        """End the supervisor, and with it everything that it has started.

        It is waited for only while something runs; what is left of its folder goes in the background.
        """
        self.control.close()
        if self.sent or self.waiting or self.idle + self.making < self.workers or not self.greeted:
            with suppress(OSError):  # it has left unread what was sent last
                while self.packets.recv(1 << 16):
                    pass
        self.packets.close()
        with self.lock:
            self.bell.close()
        self.heard.close()
