"""Commands and their options, a module for each group; importing one adds its commands."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

from flowdsl.cli.root import app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import App

MODULES: Final = {
    "pipelines": ("compile", "check", "graph"),
    "local": ("run",),
    "submitting": ("submit", "wait", "watch"),
    "reading": ("get", "list"),
    "logs": ("logs",),
    "fetching": ("fetch",),
    "control": ("stop", "terminate", "suspend", "resume", "retry", "delete"),
    "cluster": ("top", "doctor", "diff"),
}
"""The commands of each module; `--install-completion` needs them all."""


def load(arguments: Sequence[str] = ()) -> App:
    """The command line with the command that some arguments begin with, or else with all: each costs its import."""
    named = [module for module, names in MODULES.items() if arguments and arguments[0] in names]
    for module in named or MODULES:
        import_module(f"{__name__}.{module}")
    return app
