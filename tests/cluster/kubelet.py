"""The kubelet and the containers of a pod: paths, variables, and programs that are really executed.

A step's script is run by Python in a process of its own, forked from one that waits: starting Python for each
would take most of the time of a test. The paths of a pod are folders of the test, put into texts instead of
the real ones at one place (`Paths`).
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

LONGEST = 131072
"""The most bytes of one variable or argument, with the zero at its end. Source: MAX_ARG_STRLEN of Linux."""

_SERVER = """
import atexit, gc, io, json, os, sys, traceback, types
import csv, dataclasses, pathlib, re, shutil, tarfile, tempfile, typing  # or each child reads them again

# The image of a step has the standard library only.
sys.path[:] = [one for one in sys.path if "site-packages" not in one]


codes = {}


def compiled(path):
    with open(path, "rb") as source:
        text = source.read()
    if text not in codes:
        codes[text] = compile(text, path, "exec", dont_inherit=True)
    return codes[text]


def run(asked):
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
    sys.argv = [asked["script"]]
    sys.path.insert(0, os.path.dirname(asked["script"]))
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = asked["script"]
    try:
        exec(compiled(asked["script"]), main.__dict__)
        return 0
    except SystemExit as error:
        if error.code is None or isinstance(error.code, int):
            return error.code or 0
        sys.stdout.flush()
        print(error.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.stdout.flush()
        traceback.print_exc()
        return 1


for line in sys.stdin:
    asked = json.loads(line)
    try:
        compiled(asked["script"])  # once for all runs of a step
    except SyntaxError:
        pass  # the child says so
    gc.freeze()  # or each child copies the memory of all of this
    child = os.fork()
    if child == 0:
        code = run(asked)
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Python:
    """A process that forks a child for each script."""

    def __init__(self) -> None:
        self.server = subprocess.Popen(
            [sys.executable, "-I", "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def close(self) -> None:
        """End the process."""
        self.server.communicate()

    def run(self, script: Path, env: Mapping[str, str], cwd: Path, log: Path) -> int:
        """The exit code of a script; what it prints goes to the log."""
        asked = {"script": str(script), "env": dict(env), "cwd": str(cwd), "log": str(log)}
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())


def command(words: Sequence[str], env: Mapping[str, str], cwd: Path, log: Path) -> int:
    """The exit code of a command line; what it prints goes to the log."""
    with log.open("ab") as out:
        try:
            done = subprocess.run(
                words, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False
            )
        except FileNotFoundError:
            out.write(f"{words[0]}: not found\n".encode())
            return 127
    return done.returncode


class Paths:
    """Where the paths of a pod are on this machine."""

    def __init__(self, places: Mapping[str, Path]) -> None:
        self.places = {pod: str(places[pod]) for pod in sorted(places, key=len, reverse=True)}
        known = "|".join(map(re.escape, self.places))
        self.known = re.compile(rf"(?<![\w./-])(?:{known})(?![\w.-])")

    def here(self, text: str) -> str:
        """A text with the paths of this machine in place of those of the pod."""
        return self.known.sub(lambda found: self.places[found[0]], text)

    def there(self, text: str) -> str:
        """A text that a program of the pod wrote, as it would have written it there."""
        for pod, place in self.places.items():
            text = text.replace(place, pod)
        return text

    def path(self, pod: str) -> Path:
        """The place of one path of the pod."""
        return Path(self.here(pod))


_REFERENCE = re.compile(r"\$(?:\$|\(([^()]*)\))")


def expanded(text: str, known: Mapping[str, str]) -> str:
    """`$(NAME)` by the value of a known variable, `$$` by `$`, as the kubelet does.

    Source: third_party/forked/golang/expansion of Kubernetes.
    """

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return "$" if name is None else known.get(name, match[0])

    return _REFERENCE.sub(value, text)


def environment(entries: Sequence[tuple[str, str, bool]]) -> dict[str, str]:
    """The variables of a container from names, values, and whether these are written there; it sees those before.

    What comes from a Secret is taken as it is. Source: makeEnvironmentVariables of the kubelet.
    """
    found: dict[str, str] = {}
    for name, value, written in entries:
        found[name] = expanded(value, found) if written else value
    return found


class Template(NamedTuple):
    """Variables of the container that gets the template in a variable; `$(...)` of these are replaced in it."""

    pod: str
    workflow: str

    def carried(self, text: str) -> str:
        """The text of a template as the executor finds it: longer ones go by a ConfigMap, as they are."""
        if len(text.encode()) >= LONGEST:
            return text
        names = {
            "ARGO_POD_NAME": self.pod,
            "ARGO_WORKFLOW_NAME": self.workflow,
            "ARGO_CONTAINER_NAME": "init",
        }
        quoted = {name: json.dumps(value)[1:-1] for name, value in names.items()}
        return expanded(text, quoted)


def too_long(texts: Mapping[str, str] | Sequence[str]) -> bool:
    """Whether a variable or an argument is longer than Linux allows."""
    given = [f"{name}={value}" for name, value in texts.items()] if isinstance(texts, Mapping) else texts
    return any(len(os.fsencode(text)) + 1 > LONGEST for text in given)
