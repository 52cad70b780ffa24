"""The command line of flowdsl: the only layer that prints."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import io


def collect_seldom() -> None:
    """Run the garbage collector less often: most objects of a command live to its end, and there are many."""
    gc.set_threshold(400_000, 30, 30)


def main() -> None:
    """Run the command in `sys.argv` and exit with its code."""
    collect_seldom()
    if cast("object", sys.stdin) is None:  # closed by whoever started the process
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY), encoding="utf-8", closefd=False)
    stream = cast("io.TextIOWrapper | None", sys.stdout)
    if stream is not None:
        # What is compiled has the same bytes everywhere.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    from flowdsl.cli.app import run
    from flowdsl.cli.process import INTERRUPTED, ask_this_machine_directly, signals_like_ctrl_c

    ask_this_machine_directly()
    with signals_like_ctrl_c() as came:
        code = run(sys.argv[1:])
    if code == INTERRUPTED and came:
        code = 128 + came[0]
    gc.freeze()  # what is left goes with the process: to look through it takes a tenth of a short command
    sys.exit(code)
