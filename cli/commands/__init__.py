"""The commands with their options, a module for each group; importing a module adds its commands."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import TYPE_CHECKING, Final

from flowdsl.cli.root import app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import App

MODULES: Final = {
    "pipelines": ("init", "compile", "check", "import", "graph"),
    "local": ("run",),
    "sweeping": ("sweep",),
    "submitting": ("submit", "wait", "watch"),
    "reading": ("get", "list"),
    "logs": ("logs",),
    "fetching": ("fetch",),
    "control": ("stop", "terminate", "suspend", "resume", "retry", "delete"),
    "cluster": ("top", "doctor", "diff"),
}
"""The commands of each module; `--install-completion` needs them all."""

_HEADINGS: Final = {
    "Pipelines": ("pipelines",),
    "Runs": ("local", "sweeping", "submitting", "reading", "logs", "fetching"),
    "Stop, resume, retry and delete": ("control",),
    "Clusters": ("cluster",),
}
"""The modules under each heading of the help, in the order of the work."""

ELSEWHERE: Final = {
    "lint": "check",
    "validate": "check",
    "ls": "list",
    "ps": "list",
    "describe": "get",
    "show": "get",
    "status": "get",
    "cp": "fetch",
    "download": "fetch",
    "rm": "delete",
    "kill": "terminate",
    "cancel": "stop",
    "create": "submit",
    "resubmit": "submit",
    "new": "init",
    "convert": "import",
    "completion": "--install-completion",
    "version": "--version",
    "help": "--help",
}
"""Names of commands in other programs: argo, kubectl, docker, git, kfp, Metaflow."""


def load(arguments: Sequence[str] = ()) -> App:
    """The app with only the command that the arguments begin with, else with all: each import takes time."""
    named = [module for module, names in MODULES.items() if arguments and arguments[0] in names]
    for module in named or MODULES:
        import_module(f"{__name__}.{module}")
    if not arguments or {"--help", "-h"} & {*arguments}:
        _say_usage(app, ("flowdsl",))
        if not named:
            _group()
    return app


def _group() -> None:
    """Show the commands under headings, in the order of the work."""
    from cyclopts import Group

    for place, (heading, modules) in enumerate(_HEADINGS.items()):
        group = Group(heading, sort_key=place)
        for order, name in enumerate(name for module in modules for name in MODULES[module]):
            app[name].group = (group,)
            app[name].sort_key = order
    rest = Group("Options", sort_key=len(_HEADINGS))
    for name in app:
        if name.startswith("-"):
            app[name].group = (rest,)


def _say_usage(command: App, words: tuple[str, ...]) -> None:
    """Name the arguments in the usage line of the help, which shows [ARGS] by default for optional ones."""
    for name in command:
        below = command[name]
        if name.startswith("-"):
            continue
        if below.default_command is None:
            _say_usage(below, (*words, name))
            continue
        found = ["Usage:", *words, name, "[OPTIONS]"]
        for one in inspect.signature(below.default_command).parameters.values():
            if one.kind is one.VAR_POSITIONAL:
                found.append(f"[{one.name.upper()}...]")
            elif one.kind is one.POSITIONAL_ONLY:
                found.append(one.name.upper() if one.default is one.empty else f"[{one.name.upper()}]")
        below.usage = " ".join(found)
