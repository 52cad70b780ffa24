"""The Python interpreter of steps, and where it is installed, according to itself."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.reason import reason
from flowdsl.runtime.local.error import RunError

_ASK = r"import sys; print('', sys.executable, sys.prefix, sys.base_prefix, *sys.path, '', sep='\0')"
_SHIMS = "shims"
"""The folder in which pyenv, asdf and mise put programs that look for an interpreter."""


class Interpreter(NamedTuple):
    """The path of an interpreter, and the folders that it is in and imports from."""

    path: str
    folders: tuple[str, ...]


@cache
def interpreter(program: str) -> Interpreter:
    """The interpreter that a path or a name on PATH starts. Raises RunError.

    Of a shim it is what the shim finds now: in the pod of a step, it would find nothing.
    """
    if program == sys.executable:
        return Interpreter(program, (sys.prefix, sys.base_prefix, *(one for one in sys.path if one)))
    found = shutil.which(program)
    if found is None:
        raise RunError("there is no such program")
    path = Path(found).absolute()
    try:
        done = subprocess.run(
            [path, "-"], input=_ASK, capture_output=True, text=True, errors="surrogateescape", check=False
        )
    except OSError as error:
        raise RunError(f"it cannot be started: {reason(error)}") from None
    own, *folders = done.stdout.split("\0")[1:-1] or [""]
    if done.returncode != 0 or not own:
        why = done.stderr.strip().rpartition("\n")[2]
        raise RunError(f"it is not an interpreter of Python 3{f': {why}' if why else ''}")
    return Interpreter(own if path.parent.name == _SHIMS else str(path), tuple(one for one in folders if one))
