"""The process that starts the parts of a server, and lets none of them outlive the tests.

A program of its own, `python keeper.py FOLDER`. Each line of its standard input is a request in JSON, and each is
answered with one line:

- `{"start": argv, "log": path}`: start a program; `{"pid"}`, or `{"error"}`;
- `{"signal": number, "pid"}`: send it a signal; `{}`, after SIGSTOP once all its threads stand still;
- `{"wait": seconds, "pid"}`: wait for its end; `{"code"}`, `null` if it still runs.

When its input ends, because it was closed or because the process at the other end was killed, it kills all that it
started and removes FOLDER. When it is killed itself, Linux kills what it started.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PDEATHSIG = 1


def start(argv: list[str], log: str) -> subprocess.Popen[bytes]:
    me = os.getpid()
    libc = ctypes.CDLL(None)

    def bind() -> None:
        if sys.platform == "linux":
            libc.prctl(PDEATHSIG, signal.SIGKILL)
        if os.getppid() != me:
            os._exit(1)

    with open(log, "ab") as out:  # noqa: PTH123 - without pathlib it starts in half the time
        return subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=bind,  # noqa: PLW1509 - there is one thread
        )


def answer(children: dict[int, subprocess.Popen[bytes]], request: dict[str, Any]) -> dict[str, Any]:
    if "start" in request:
        try:
            child = start(request["start"], request["log"])
        except OSError as error:
            return {"error": str(error)}
        children[child.pid] = child
        return {"pid": child.pid}
    child = children[request["pid"]]
    if "signal" in request:
        child.send_signal(request["signal"])
        if request["signal"] == signal.SIGSTOP:
            os.waitid(os.P_PID, child.pid, os.WSTOPPED)  # on busy cores threads may go on for a while
        return {}
    try:
        return {"code": child.wait(request["wait"])}
    except subprocess.TimeoutExpired:
        return {"code": None}


def main(folder: str) -> None:
    children: dict[int, subprocess.Popen[bytes]] = {}
    try:
        for line in sys.stdin:
            sys.stdout.write(json.dumps(answer(children, json.loads(line))) + "\n")
            sys.stdout.flush()
    finally:
        for child in children.values():
            child.kill()
        for child in children.values():
            child.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
