"""Names of runs, outputs and steps: how users write them, and how the compiler and the API server make them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flowdsl.diagnostic import near
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LATEST = "@latest"
"""A placeholder for the name of the newest run."""
_ROUNDS = regex(r"(?:\([^()]*\))+$")
_SIGNS = "bcdfghjklmnpqrstvwxz2456789"
"""Source: SafeEncodeString in k8s.io/apimachinery/pkg/util/rand."""


def hyphened(name: str) -> str:
    """A name with hyphens in place of the underscores of Python, as tasks and templates have it."""
    return name.replace("_", "-")


def spelled(name: str, known: Collection[str]) -> str:
    """The known name: as given, or with hyphens in place of the underscores of Python."""
    if name in known:
        return name
    plain = hyphened(name)
    return next((one for one in known if hyphened(one) == plain), name)


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean ...?` if there is a similar name, else the given alternative."""
    found = near(name, known)
    return otherwise if found is None else f"did you mean `{found}`?"


def perhaps(name: str, known: Iterable[str]) -> str:
    """`; did you mean ...?` if there is a similar name."""
    question = meant(name, known, "")
    return question and f"; {question}"


def listed(names: Iterable[str]) -> str:
    """`there are a, b`, in singular or plural."""
    every = list(names)
    return f"there {'is' if len(every) == 1 else 'are'} {', '.join(every)}"


def said_near(name: str, known: Iterable[str], own: Iterable[str] = ()) -> str:
    """The name that was probably meant; or the existing ones, of which `own` says which are the user's."""
    names = [one for one in known if one]
    return f"; {meant(name, names, listed([one for one in own if one] or names))}" if names else ""


def task_of(name: str, run: str) -> str:
    """The name of a task without rounds and attempts: `train` for `run.train(2:lr:0.1)(0)`."""
    return _ROUNDS.sub("", name.removeprefix(run)).rpartition(".")[2] or run


def of_pipeline(name: str, runs: Iterable[str]) -> list[str]:
    """The runs whose names begin with that of a pipeline."""
    return [one for one in runs if one.startswith(f"{name}-")]


def is_hidden(name: str) -> bool:
    """Whether a name was added by the compiler, so that no user knows it."""
    return name.startswith("flowdsl-")


def on_volume(text: str) -> tuple[str, str] | None:
    """The volume and the path on it that a value of a file refers to; None for any other text."""
    from flowdsl.compiler.expressions import VOLUMES

    if not text.startswith(f"{VOLUMES}/"):
        return None
    volume, _, path = text.removeprefix(f"{VOLUMES}/").partition("/")
    return volume, path


def is_log(artifact: str) -> bool:
    """Whether an artifact is the log of a container, which `archiveLogs` stores: `main-logs`.

    Source: workflow/executor/executor.go of Argo 4.1.
    """
    return artifact.endswith("-logs")


def suffix(count: int = 5) -> str:
    """Random letters and digits, as the API server appends five of them to a generateName."""
    return "".join(_SIGNS[one % len(_SIGNS)] for one in os.urandom(count))
