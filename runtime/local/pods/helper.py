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
from collections import Counter, deque
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
made.__path__ = [sys.argv[4]]
from flowdsl.runtime.local.pods.supervisor import main
main(*map(int, sys.argv[1:4]))
"""
"""Start the supervisor without the rest of flowdsl, and with its compiled form."""
_LONGEST = 8 * 1024
"""Bytes of a packet: as many as are sent ahead must fit into what a socket keeps, or who sends them would wait."""
_BRIEF = 0.01
"""Seconds after which a program counts as one that runs for long: it is seen, and does not keep others waiting."""
AHEAD = 16
"""Programs that are sent before there is room for them."""
_TOGETHER = 0.004
"""Seconds for which answers are gathered while there is enough to run without them: each time costs this process as
much as it takes a program to begin."""
_LONGEST_WAIT = 3600.0


class Helper:
    """A supervisor that runs.

    `answered` is called with each answer, by `attend`. The first, `{"isolated"}`, says that programs can be run from
    now on, and whether they have file systems of their own.

    As many programs as there are cores begin at a time, and one for the core that is free until an answer is read:
    another one begins, and where no room is free one is made for it, when one of these has ended or has run for a
    while. So short programs use few rooms, each of which costs as much as several of them, and long ones soon all run.

    A program that waits for a place, that is for what another one has of the machine, can be sent before (`run_next`).
    Then it begins when one of that place ends, and not only when the runner has been woken, has heard so, and has let
    it begin: between short programs that takes as long as they do.
    """

    def __init__(self, isolate: bool | None, answered: Callable[[Json], None]) -> None:
        self.folder = Path()
        self.answered = answered
        self.lock = threading.Lock()
        self.sending = threading.Lock()
        self.most = cores() + 1
        self.waiting: deque[Json] = deque()
        self.sent: deque[str] = deque()  # no room has taken them yet
        self.fresh: dict[str, float] = {}  # when they began, in this order: those that have not run for long
        self.ahead: dict[str, bool] = {}  # what runs in another one's place, and whether `run` was called
        self.begun: dict[str, list[Json]] = {}  # what has begun before that, and its answers
        self.late: deque[Json] = deque()  # answers that were kept for that reason
        self.dropped: set[str] = set()  # what `run` is never called for
        self.lacks: Counter[str] = Counter()  # by place: asked for, and neither begun nor let begin
        self.long = 0
        self.greeted = False
        if isolate is None:
            isolate = sys.platform == "linux"
        self.settings: Json = {"isolate": isolate}
        self.heard, self.bell = socket.socketpair()
        self.bell.setblocking(False)
        self.ready = select.poll()
        self.ready.register(self.heard, select.POLLIN)
        self.rings = select.poll()
        self.rings.register(self.heard, select.POLLIN)
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
            ends = theirs.fileno(), self.packets.fileno(), other.fileno()
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
        self.ready.register(self.packets, select.POLLIN)
        self.workers = self.making = self.idle = 0

    def _settle(self) -> None:
        self._send(self.settings)
        self._grow(1)  # its room is made while the runner prepares the first steps

    def _shut(self) -> None:
        self.packets.close()
        self.control.close()

    def _send(self, what: Json) -> None:
        data = marshal.dumps(what)
        with self.sending:
            try:
                self.control.sendall(len(data).to_bytes(4, "little") + data)
            except OSError:
                return  # it has ended; the reader says so

    def run(self, what: Json) -> None:
        """Run a program; its answer comes later. Programs begin in their order."""
        name = what["id"]
        with self.lock:
            if name in self.ahead or name in self.begun:
                if name in self.ahead:
                    self.ahead[name] = True
                self.late += self.begun.pop(name, ())
                self._let(what["place"], 1)
            else:
                self.waiting.append(what)
                self._flow()

    def run_next(self, what: Json) -> None:
        """Run a program in the place of the first that ends and leaves it the same.

        So nobody waits until that end has been heard here. When it has been, `run` is called for it as well, or `drop`.
        """
        with self.lock:
            self.ahead[what["id"]] = False
            self._send({"do": "ahead", "what": what})

    def drop(self, name: str) -> None:
        """Do not run a program that was to run next, or end it."""
        with self.lock:
            if name in self.ahead:
                self.ahead[name] = True
            ended = [one for one in self.begun.pop(name, ()) if "code" in one]
            if ended:
                self._let(ended[0]["place"], 1)
            else:
                self.dropped.add(name)
        self.stop(name, 0)

    def _let(self, place: str, more: int) -> None:
        """So many more were asked for than have begun: where nothing has ended for them they are let begin."""
        self.lacks[place] += more
        if self.lacks[place] > 0:
            self.lacks[place] -= 1
            self._send({"do": "place", "place": place})

    def _flow(self) -> None:
        """Send what may begin, and a little more: who has a free room takes the next one without asking."""
        now = time.monotonic()
        while self.sent and self.idle:
            self._takes(self.sent.popleft(), now)
        while self.fresh and (oldest := next(iter(self.fresh))) and self.fresh[oldest] + _BRIEF <= now:
            del self.fresh[oldest]
            self._send({"do": "name", "id": oldest})
        while self.waiting and (len(self.fresh) < self.most if self.idle else len(self.sent) < AHEAD):
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
        """Hand on the answers. Waits for one, or for `wake`, so many seconds at most; called from one thread only."""
        seconds = _LONGEST_WAIT if seconds is None else min(seconds, _LONGEST_WAIT)
        with self.lock:
            if self.fresh:
                oldest = next(iter(self.fresh.values()))
                seconds = min(seconds, max(0.0, oldest + _BRIEF - time.monotonic()))
        found = [file for file, _ in self.ready.poll(0 if self.late else math.ceil(seconds * 1000))]
        ample = len(self.ahead) + len(self.sent) > AHEAD // 2
        if ample and seconds and self.packets.fileno() in found:
            found += [file for file, _ in self.rings.poll(_TOGETHER * 1000)]
        if self.heard.fileno() in found:
            self.heard.recv(1 << 10)
        if self.packets.fileno() in found:
            while self._hear():
                pass
        while self.late:
            self.answered(self.late.popleft())
        if not found:
            with self.lock:
                self._flow()

    def _hear(self) -> bool:
        """Hand on one answer; whether there was one."""
        try:
            data = self.packets.recv(1 << 16, socket.MSG_DONTWAIT)
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
        if "probe" not in answer and answer.keys() & {"ready", "code", "place"}:
            self._account(answer)
        if answer.get("id") in self.begun:
            self.begun[answer["id"]].append(answer)
        elif answer.keys() & {"id", "broken", "isolated"}:
            self.answered(answer)
        return True

    def _ended(self) -> None:
        """It has ended; one that could not isolate is followed by one that does not."""
        self.ready.unregister(self.packets)
        if self.greeted or not self.settings["isolate"]:
            self.answered({"gone": True})
            return
        self._shut()
        self.settings["isolate"] = False
        self._start()
        self._settle()

    def _account(self, answer: Json) -> None:
        """Note which room is free, and what has begun without being asked for."""
        with self.lock:
            if "ready" in answer:
                self.making -= 1
            if "code" in answer:
                self.fresh.pop(answer["id"], None)
            if "ready" in answer or ("code" in answer and not answer["kept"]):
                self.idle += 1
            name = answer.get("next")
            if name:
                if not self.ahead.pop(name):
                    self.begun[name] = []
                self.sent.append(name)
            if "code" in answer:
                self._let(answer["place"], (answer["id"] in self.dropped) - bool(name))
                self.dropped.discard(answer["id"])
            elif "place" in answer and not name:
                self._let(answer["place"], 1)
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
