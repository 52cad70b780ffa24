"""The command as a process: its exit code, its refusals, its output streams."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

from flowdsl.cli.display.texts import visible

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from sys import UnraisableHookArgs
    from typing import TextIO

DONE = 0
NO = 1
"""The answer is no: `--check` found a difference."""
WRONG = 2
"""The input is wrong: findings, usage, a file that cannot be read or written."""
REFUSED = 3
"""The cluster refused, or was out of reach; nothing was created."""
UNKNOWN = 4
"""What was begun has not ended yet, or its end is unknown."""
LATE = 5
"""What was waited for did not happen in time."""
GONE = 6
"""A run that was there is gone."""
BUG = 70
"""flowdsl itself is wrong. Source: EX_SOFTWARE of sysexits.h."""
INTERRUPTED = 130
"""Ctrl-C. Source: what a shell reports for a process that SIGINT ended; `main` makes it that of another signal."""


STDIN = "<stdin>"
"""What `-` is called, and how standard input is shown."""


class Refused(Exception):
    """A command that cannot be executed as requested; the text is one line with the reason. Exit code 2."""


@contextlib.contextmanager
def extra(option: str, name: str, module: str) -> Generator[None]:
    """Allows an option to import a module of an extra; raises `Refused` if the module is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module:
            raise
        raise Refused(f"{option} needs an extra: pip install 'flowdsl[{name}]'") from None


_THIS_MACHINE = "localhost,127.0.0.1,::1"


def ask_this_machine_directly() -> None:
    """Bypass proxies for servers of this machine: a cluster in a container, or a forwarded port.

    Source: ProxyFromEnvironment of Go's net/http, by which kubectl and argo go.
    """
    if {"http_proxy", "https_proxy", "all_proxy"} & {name.lower() for name in os.environ}:
        given = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
        if given != "*":
            named = f"{given},{_THIS_MACHINE}" if given else _THIS_MACHINE
            os.environ |= {"no_proxy": named, "NO_PROXY": named}


_IN_A_ROW = 0.4
"""Seconds between two Ctrl-C that count as one."""


@contextlib.contextmanager
def signals_like_ctrl_c() -> Generator[list[int]]:
    """Treat SIGTERM and SIGHUP like Ctrl-C, unless they are ignored, as by `nohup`; returns those received.

    Ctrl-C that is pressed several times in a row counts once: a command that was interrupted says how to continue.
    """
    import signal
    import time

    came: list[int] = []
    quiet = 0.0  # the time until which another signal is taken for the same one

    def stop(number: int, frame: object) -> None:
        nonlocal quiet
        now = time.monotonic()
        again, quiet = now < quiet, now + _IN_A_ROW
        if not again:
            came.append(number)
            raise KeyboardInterrupt

    def unraisable(ignored: UnraisableHookArgs) -> None:
        nonlocal quiet
        quiet = 0.0  # what was raised is lost, and the hook repeats the signal
        hook(ignored)

    ways = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {one: signal.signal(one, stop) for one in ways if signal.getsignal(one) is not signal.SIG_IGN}
    hook, sys.unraisablehook = sys.unraisablehook, unraisable
    try:
        yield came
    finally:
        sys.unraisablehook = hook
        for one, handler in before.items():
            signal.signal(one, handler)


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal that supports colours and redrawing."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def colored(stream: TextIO | None) -> bool:
    """Whether output to a stream is coloured."""
    return on_terminal(stream) and not os.environ.get("NO_COLOR")


def out(text: str) -> None:
    """Write to standard output; raises `Refused` if it accepts no more."""
    if (error := _put(sys.stdout, text)) is not None:
        raise Refused(f"standard output cannot be written: {error.strerror}") from error


def err(text: str) -> None:
    """Write to standard error."""
    _put(sys.stderr, text)


def say(*lines: str) -> None:
    """Write lines to standard error in the name of the command, with control characters escaped."""
    err("flowdsl: " + _lines(lines))


def note(*lines: str) -> None:
    """Write a remark to standard error that does not change what the command does; escaped likewise."""
    err("note: " + _lines(lines))


def _lines(lines: Sequence[str]) -> str:
    return "".join(f"{visible(one)}\n" for one in lines)


def _put(stream: TextIO | None, text: str) -> OSError | None:
    """Write immediately; returns the error, unless the reader has closed the pipe, as `head` does."""
    if stream is None:  # closed by whoever started the process
        return None
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        mute(stream)
    except OSError as error:
        mute(stream)
        return error
    return None


def can_ask() -> bool:
    """Whether a user can see a question and answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(what: str) -> bool:
    """Ask for a confirmation; only a yes counts."""
    err(f"{what}? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def mute(stream: TextIO | None) -> None:
    """Redirect a stream that failed to nowhere.

    The content of its buffer would fail again when Python exits. Source: the documentation of Python's `signal`,
    "Note on SIGPIPE".
    """
    if stream is None:
        return
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
