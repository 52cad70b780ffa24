"""What an object has to be so that the cluster takes it, and so that a step can wait for it.

Sources: Kubernetes, the metadata of objects; Argo Workflows, workflow/executor/resource.go, which looks at the
object every five seconds; the CRDs of Kubeflow's Training Operator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.kinds import BadManifest
from flowdsl.compiler.jobs import RUN_POLICY, TTL_AT, asks_for_end
from flowdsl.compiler.options.reading import is_mapping, said
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.named import NamedTuple
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, InPod, Join, Many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from flowdsl.compiler.ir import Managed
    from flowdsl.places.place import Argument
    from flowdsl.step import StepDef

#: Seconds that an object must be kept after it has finished, to be noticed: twice the polling interval.
_SEEN = 10

_JOBS = ("PyTorchJob", "TFJob")


class Flaw(NamedTuple):
    """An error in an object, the remedy, and where in it; `on_key`: in the last key of the path."""

    problem: str
    way: str
    path: tuple[str, ...] = ()
    on_key: bool = False


def judged(step: StepDef, body: Expr, managed: Managed, place: Argument) -> Iterator[Diagnostic]:
    """The errors in the object of a step."""
    for problem, way, path, on_key in _flaws(body, managed):
        where = place._replace(part="key" if on_key else "value", path=path)
        yield Diagnostic(BadManifest(step.name, problem, way), where)


def _flaws(body: Expr, managed: Managed) -> Iterator[Flaw]:
    if managed.action == "patch" and managed.merge == "json":
        if not isinstance(_known(body), list) and not (isinstance(body, Many) and not body.names):
            way = 'write [{"op": "replace", "path": "/spec/replicas", "value": 2}]'
            yield Flaw("is not a list of operations", way)
        if not managed.flags:
            yield Flaw("does not say what is patched", 'add flags=["deployment", "server"] to the decorator')
    elif not is_mapping(_known(body)) and not (isinstance(body, Many) and body.names):
        yield Flaw("is not a mapping", "write apiVersion, kind, metadata and what else it has")
    elif managed.action != "patch" or not managed.flags or _member(body, "kind") is not None:
        # Else the flags select what is patched.
        for rule in _RULES:
            yield from rule(body, managed)


def _kind(body: Expr, managed: Managed) -> Iterator[Flaw]:
    for field, example in (("apiVersion", "batch/v1"), ("kind", "Job")):
        found = _member(body, field)
        if found is None:
            yield Flaw(f"has no `{field}`", f'add "{field}": "{example}", or what it is')
        elif isinstance(found, Const) and (not isinstance(found.value, str) or not found.value):
            yield Flaw(f"has {said(found.value)} as its `{field}`", "write a string", (field,))


def _name(body: Expr, managed: Managed) -> Iterator[Flaw]:
    metadata = _member(body, "metadata")
    name, generated = (
        None if metadata is None else _member(metadata, key) for key in ("name", "generateName")
    )
    where = () if metadata is None else ("metadata",)
    if name is None and generated is None:
        yield Flaw("has no name", 'add "metadata": {"name": f"{run.name}-train"}', where)
    elif name is None and managed.action != "create":
        way = f'give it a `name`: "{managed.action}" has to find the object'
        yield Flaw("has a `generateName` and no `name`", way, (*where, "generateName"), on_key=True)


def _owner(body: Expr, managed: Managed) -> Iterator[Flaw]:
    metadata = _member(body, "metadata")
    if managed.owner and metadata is not None and isinstance(_member(metadata, "namespace"), Const):
        problem = "is in a namespace of its own, and an owner is in the same one"
        yield Flaw(problem, "leave `owner` or `namespace` out", ("metadata", "namespace"))


def _gone(body: Expr, managed: Managed) -> Iterator[Flaw]:
    """An object that may be deleted before its end is noticed."""
    path = TTL_AT.get(str(_known(_member(body, "kind"))), ())
    holder: Expr | None = body
    for key in path:
        holder = None if holder is None else _member(holder, key)
    ttl = _known(holder)
    if asks_for_end(managed.success or "") and isinstance(ttl, (int, float)) and ttl < _SEEN:
        problem = f"is deleted {ttl} seconds after it has finished, and Argo looks every 5 seconds"
        yield Flaw(problem, "let `ttlSecondsAfterFinished` be 60 or more", path)


def _training(body: Expr, managed: Managed) -> Iterator[Flaw]:
    """Jobs of Kubeflow's Training Operator with fields in the wrong place, where they are rejected."""
    spec, kind = _member(body, "spec"), _known(_member(body, "kind"))
    if kind not in _JOBS or spec is None or isinstance(spec, (InPod, Join)):
        return
    for field in RUN_POLICY:
        if _member(spec, field) is not None:
            problem = f"has `{field}` in its `spec`, where a {kind} has none"
            way = f'write "spec": {{"runPolicy": {{"{field}": ...}}, ...}}'
            yield Flaw(problem, way, ("spec", field), on_key=True)
    processes = _known(_member(spec, "nprocPerNode"))
    if processes is not None and not isinstance(processes, str):
        problem = f"has {said(processes)} as its `nprocPerNode`, which is a string"
        yield Flaw(problem, f'write "nprocPerNode": "{processes}"', ("spec", "nprocPerNode"))


_RULES: tuple[Callable[[Expr, Managed], Iterator[Flaw]], ...] = (_kind, _name, _owner, _gone, _training)


def _known(expr: Expr | None) -> object:
    return expr.value if isinstance(expr, Const) else None


def _member(expr: Expr, key: str) -> Expr | None:
    """A member of an object; None if it does not exist."""
    if isinstance(expr, Many) and key in expr.names:
        return expr.items[expr.names.index(key)]
    if isinstance(expr, Const) and is_mapping(expr.value):
        return Const(expr.value[key], t.JSON) if key in expr.value else None
    # The content of an input is not known here.
    return expr if isinstance(expr, (InPod, Join)) else None
