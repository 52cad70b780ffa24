"""A fetch that is killed at its N-th write, for every so many N, until one is not.

Called with a folder, the workflow and what it is to fetch as JSON, the first N, and the step to the next. Each try is
a process of its own, made by `fork` from this one, which has loaded everything and has no threads; after each kill
what is there is looked at, and a fetch without a kill has to complete it. Prints the last N.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.artifacts.runs import Known, command, reached, there, told

WATCHED = ("write", "fsync", "rename", "open", "mkdir", "unlink", "ftruncate")


def die_at(number: int) -> None:
    """Have this process killed at one of its calls, before it is made; a write is made by half."""
    counter = itertools.count(1)

    def watched(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def made(*arguments: Any, **more: Any) -> Any:
            if next(counter) == number:
                if name == "write":
                    call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **more)

        return made

    for name in WATCHED:
        setattr(os, name, watched(name, getattr(os, name)))


def fetch(run: dict[str, Any], number: int | None) -> int:
    """The end of a fetch in a process of its own: its exit code, or less than 0 for a signal."""
    child = os.fork()
    if not child:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        reached(Known(run))
        if number is not None:
            die_at(number)
        os._exit(command(["--jobs", "2"]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    folder, workflow, wanted = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
    first, step = int(sys.argv[4]), int(sys.argv[5])
    os.chdir(folder)
    for name in ("obstore.store", "flowdsl.cli.runs.fetching", "flowdsl.runtime.artifacts.fetch"):
        importlib.import_module(name)
    importlib.import_module("flowdsl.runtime.artifacts.opening")
    reached(Known(workflow))
    command(["--list"])  # loads what the command line needs
    sys.stdout.flush()
    assert Path.mkdir.__globals__["os"] is os  # its calls are counted, too
    complete = {name: hashlib.sha256(data).hexdigest() for name, data in files(folder / "whole").items()}
    assert complete == wanted, complete
    for number in itertools.count(first, step):
        target = folder / "demo"
        shutil.rmtree(target, ignore_errors=True)
        code = fetch(workflow, number)
        found = {name: hashlib.sha256(data).hexdigest() for name, data in files(target).items()}
        wrong = {name for name, digest in found.items() if wanted.get(name) != digest}
        assert not wrong, (number, wrong)
        if (target / "run.json").exists():
            assert found == wanted, (number, found)
            assert told(target)["refused"] == [], number
        if code == 0:
            sys.stdout.write(f"{number - step}\n")
            return
        assert code == -signal.SIGKILL, (number, code)
        assert fetch(workflow, None) == 0, number
        assert {name: hashlib.sha256(data).hexdigest() for name, data in files(target).items()} == wanted, (
            number
        )
        assert [one.name for one in (target / ".flowdsl").iterdir()] == ["lock"], number


def files(folder: Path) -> dict[str, bytes]:
    return there(folder) if folder.exists() else {}


if __name__ == "__main__":
    main()
