"""Names of runs, outputs and steps: how users write them, and how the compiler and the API server make them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from flowdsl.diagnostic import near

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

LATEST = "@latest"
"""Stands for the name of the run that was created last."""
_SIGNS = "bcdfghjklmnpqrstvwxz2456789"
"""Source: SafeEncodeString in k8s.io/apimachinery/pkg/util/rand."""


def spelled(name: str, known: Collection[str]) -> str:
    """The name that is known: as it is asked for, or with hyphens where the one in Python has underscores."""
    if name in known:
        return name
    plain = name.replace("_", "-")
    return next((one for one in known if one.replace("_", "-") == plain), name)


def meant(name: str, known: Iterable[str], otherwise: str) -> str:
    """`did you mean ...?` where a name is near one that there is, else what is said otherwise."""
    found = near(name, known)
    return otherwise if found is None else f"did you mean `{found}`?"


def listed(names: Iterable[str]) -> str:
    """`there are a, b`, in one or several."""
    every = list(names)
    return f"there {'is' if len(every) == 1 else 'are'} {', '.join(every)}"


def of_pipeline(name: str, runs: Iterable[str]) -> list[str]:
    """The runs that begin with the name of a pipeline."""
    return [one for one in runs if one.startswith(f"{name}-")]


def is_hidden(name: str) -> bool:
    """Whether the compiler has added what is called so: no user knows it."""
    return name.startswith("flowdsl-")


def is_log(artifact: str) -> bool:
    """Whether an artifact is the log of a container, which `archiveLogs` keeps: `main-logs`.

    Source: workflow/executor/executor.go of Argo 4.1.
    """
    return artifact.endswith("-logs")


def suffix(count: int = 5) -> str:
    """Letters and digits, as the API server adds five of them to a generateName."""
    return "".join(_SIGNS[one % len(_SIGNS)] for one in os.urandom(count))
