"""Runs one command line and returns its exit code."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from flowdsl.cli.commands import ELSEWHERE, MODULES, load
from flowdsl.cli.display.report import internal_error
from flowdsl.cli.process import BUG, DONE, INTERRUPTED, STDIN, WRONG, Refused, err, mute, out, say
from flowdsl.cli.root import parameter_of
from flowdsl.diagnostic import near
from flowdsl.grammar.reason import said
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.names import perhaps

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from cyclopts import Argument, CycloptsError, Token
    from cyclopts.exceptions import UnknownOptionError, UnusedCliTokensError


_OF_THE_MACHINE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM),
    *(errno.ENOTDIR, errno.ENAMETOOLONG, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ESTALE),
}
"""Errors of files that no command foresees everywhere, and that are not its own."""


_NARROWEST = 8
_BEGINNING = 3
"""The fewest letters that are taken for the beginning of an option, and not for the name of a parameter."""
_FEW = 3
"""The most commands that are named in a message."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit code."""
    from cyclopts import CycloptsError

    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) < _NARROWEST:
        del os.environ["COLUMNS"]  # rich, which lays out the help, does not end on so few
    try:
        try:
            given = [STDIN if argument == "-" else argument for argument in arguments]
            answer: Any = load(given)(given, exit_on_error=False, print_error=False)
            out("")  # what cyclopts printed
            return answer if isinstance(answer, int) else DONE
        except CycloptsError as error:
            say(*_usage(error))
        except (Refused, RunError) as error:
            say(*str(error).split("\n"))
        return WRONG
    except SystemExit:
        return DONE  # the reader of a help page has gone: rich ends the process then
    except (KeyboardInterrupt, Exception) as error:
        for one in (error, error.__cause__):  # Python 3.11 wraps what `__set_name__` raises
            if isinstance(one, KeyboardInterrupt):
                say(str(one) or "interrupted")
                return INTERRUPTED
        if (code := _of_cluster(error)) is not None:
            say(str(error))
            return code
        if isinstance(error, FileNotFoundError) and _nowhere():
            say("the current folder was removed: change into one that is there")
            return WRONG
        if isinstance(error, OSError) and error.errno in _OF_THE_MACHINE:
            mute(sys.stdout)
            say(said(error))
            return WRONG
        err(internal_error(error) + "\n")
        return BUG


def _nowhere() -> bool:
    """Whether the current folder was removed, so that relative paths cannot be resolved."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _of_cluster(error: BaseException) -> int | None:
    """The exit code for an error of a cluster; commands without a cluster have not loaded any of this."""
    if "flowdsl.runtime.cluster.trouble" not in sys.modules:
        return None
    from flowdsl.cli.clusters.reach import code_of
    from flowdsl.runtime.cluster.trouble import ClusterError

    return code_of(error) if isinstance(error, ClusterError) else None


def _usage(error: CycloptsError) -> list[str]:
    """The error about wrong arguments, and where to read about the right ones."""
    from cyclopts.exceptions import (
        CoercionError,
        MissingArgumentError,
        RepeatArgumentError,
        UnknownCommandError,
        UnknownOptionError,
        UnusedCliTokensError,
    )

    command = " ".join(("flowdsl", *(error.command_chain or ())))
    text = str(error).rstrip()
    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        text = f"`{error.unused_tokens[0]}` is one argument too many{_as_parameter(error)}"
    elif isinstance(error, UnknownCommandError):
        word = (error.unused_tokens or [""])[0]
        if word in ELSEWHERE:
            return [f"`{word}` is called `{command} {ELSEWHERE[word]}`"]
        named = f"option {word}" if word.startswith("-") else f"command `{word}`"
        text = f"there is no {named}{perhaps(word, error.app or ())}"
    elif isinstance(error, UnknownOptionError):
        text = _unknown_option(error)
    elif isinstance(error, MissingArgumentError) and error.argument is not None:
        words = ", ".join(_words(error.argument.hint))
        value = f"{error.keyword} needs a value{words and f': {words}'}"
        text = value if error.keyword else f"{error.argument.name} is missing"
    elif isinstance(error, RepeatArgumentError):
        text = f"{error.token.keyword} is given twice"
    elif isinstance(error, CoercionError) and error.token is not None and error.argument is not None:
        text = _unfit(error.token, error.argument) or text
    return [*text.split("\n"), f"{command} --help shows what it takes"]


def _unfit(given: Token, argument: Argument) -> str:
    """Why an argument does not take a value, if that follows from its type."""
    option, kinds = given.keyword or argument.name, (argument.hint, *get_args(argument.hint))
    if bool in kinds:
        return f"{option} takes no value"
    if int in kinds:
        return f"{option} {given.value}: must be a whole number"
    if not (words := _words(argument.hint)):
        return ""
    return f"{option} {given.value}: must be one of {', '.join(words)}{perhaps(given.value, words)}"


def _unknown_option(error: UnknownOptionError) -> str:
    written = _written(error)
    names = [name for argument in error.argument_collection for name in argument.names]
    like = _meant(written.partition("=")[0].lstrip("-"), names)
    more = "" if like is None else f"; did you mean `--{like}`?"
    if written == "--json" and "--format" in names:
        more = "; findings are shown so by --format json"
    elif others := _others(error):
        more = f"; it is an option of {' and '.join(others) if len(others) <= _FEW else 'other commands'}"
    elif given := _parameter(error):
        more = f"; a parameter is given by {given}"
    return f"there is no option {written}{more}"


def _meant(option: str, names: Collection[str], cutoff: float = 0.6) -> str | None:
    """The long option that was probably meant: the only one that begins like that, else a similar one."""
    known = [name[2:] for name in names if name[:2] == "--"]  # dashes would make any two short names alike
    begun = [name for name in known if len(option) >= _BEGINNING and name.startswith(option)]
    return begun[0] if len(begun) == 1 else near(option, known, cutoff)


def _as_parameter(error: UnusedCliTokensError) -> str:
    """What sets the parameter that an argument too many probably is, if the command takes parameters."""
    way = parameter_of((error.unused_tokens or [""])[0])
    takes = error.app is not None and any(
        "--parameter" in argument.names for argument in error.app.assemble_argument_collection()
    )
    return f"; a parameter is given by {way}" if way and takes else ""


def _written(error: UnknownOptionError) -> str:
    return error.token.keyword or error.token.value


def _others(error: UnknownOptionError) -> list[str]:
    """The other commands that have an unknown option."""
    option = _written(error).partition("=")[0]
    app = load()
    names = (name for several in MODULES.values() for name in several)
    return [
        f"`flowdsl {name}`"
        for name in names
        if app[name].default_command is not None
        and any(option in argument.names for argument in app[name].assemble_argument_collection())
    ]


def _parameter(error: UnknownOptionError) -> str:
    """What sets the parameter that an unknown option probably is, if the command takes parameters."""
    known = [name for argument in error.argument_collection for name in argument.names]
    written = _written(error)
    option, equals, value = written.removeprefix("--").partition("=")
    if written[:2] != "--" or "--parameter" not in known or _meant(option, known, 0.7) is not None:
        return ""
    return f"{'' if 'SPACES' in known else '-p '}{option}={value if equals else 'VALUE'}"


def _words(hint: object) -> list[str]:
    """The values that an option accepts by its type, if they are a fixed set."""
    return [word for one in get_args(hint) for word in ([one] if isinstance(one, str) else _words(one))]
