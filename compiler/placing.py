"""Locations of files that are found by name: keys in the artifact repository, and paths on a volume.

Either way the place is known before the step runs, as text over two hidden inputs: the path of calls that led to
the step, and the numbers of the items of the loops around it. So the place is handed on as a parameter, through
loops, branches and sub-pipelines alike. A key ends with the numbers, for the files of a loop then lie in one folder.
On a volume each task has a folder of its own instead, the only one that it can write to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.ir import Mount
from flowdsl.compiler.ports import STORE
from flowdsl.values import types as t
from flowdsl.values.expr import Join, Param, RunField

if TYPE_CHECKING:
    from flowdsl.compiler.ir import Store
    from flowdsl.values.expr import Expr

AT, INDEX = "flowdsl-at", "flowdsl-index"

_TASK = (RunField("name"), "/", Param(AT, t.TEXT))


def _index(counted: bool) -> tuple[Expr, ...]:
    """The indices of the items, each after a slash, if the step takes them."""
    return (Param(INDEX, t.TEXT),) if counted else ()


def key(output: str, counted: bool, cached: bool = False) -> Join:
    """The key of the file of an output.

    A cached file must not be overwritten by a run of the same name: its key begins with the run's uid.
    """
    head = ("flowdsl-cache/", RunField("uid"), *_TASK[1:]) if cached else _TASK
    return Join((*head, f"/{output}", *_index(counted)))


def folder(store: Store, counted: bool) -> Join:
    """The folder of a task on the volume of a store."""
    return Join((*((f"{store.folder}/",) if store.folder else ()), *_TASK, *_index(counted)))


def path(store: Store, output: str, counted: bool) -> Join:
    """The path of the file of an output on the volume of a store."""
    return Join((*folder(store, counted).parts, f"/{output}"))


def mount(store: Store, counted: bool) -> Mount:
    """The folder of a task, as mounted in its pod; the kubelet creates it.

    Source: Kubernetes creates a missing `subPath` of a volume mount as a folder; run on a cluster
    with tags in it, which Argo replaces everywhere in a template.
    """
    return Mount(store.volume, STORE, folder(store, counted))
