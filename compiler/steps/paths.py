"""Paths that a program has for its files, where the words of its command cannot say them."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.findings.paths import (
    BadFixedPath,
    PathNotChosen,
    PathOfValue,
    SamePath,
    UnknownPathName,
)
from flowdsl.compiler.forms import Absent, File, Gathered, Mounted
from flowdsl.compiler.options.reading import is_mapping
from flowdsl.compiler.ports import OWN
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Argument
from flowdsl.run import AT_THE_END
from flowdsl.values import types as t
from flowdsl.values.expr import Const, InPod, RunField, leaves
from flowdsl.values.joined import text
from flowdsl.values.lift import spelled
from flowdsl.values.value import is_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.forms import Form
    from flowdsl.places.place import Place
    from flowdsl.step import Described, StepDef
    from flowdsl.tracing.trace import Call
    from flowdsl.values.expr import Expr

#: The placeholder for a value of the run in a text.
_VALUE = regex(r"\{\{.*?\}\}")


class FixedPath(NamedTuple):
    """The path of one input or output, and where it was written."""

    name: str
    path: str
    place: Place
    written: bool  # an output
    made: Expr | None = None  # the path with the values of the run in it


def fixed_paths(
    definition: StepDef, said: Described, written: tuple[str, ...], found: list[Diagnostic]
) -> tuple[FixedPath, ...]:
    """The paths given by `paths`, and the errors in them; `written` are the outputs that are files in the container."""
    given: Any = said.options["paths"]
    if is_value(given) or not is_mapping(given):
        finding = OptionType("paths", "a dict of paths", spelled(given))
        found.append(Diagnostic(finding, Argument(said.site, "paths")))
        return ()
    inputs = definition.signature.by_name
    made: list[FixedPath] = []
    for name, path in given.items():
        key = Argument(said.site, "paths", part=f"key:{name}")
        place = Argument(said.site, "paths", part=f"item:{name}")
        if name not in written and name not in inputs:
            unknown = UnknownPathName(str(name), (*inputs, *written), definition.name)
            found.append(Diagnostic(unknown, key))
            continue
        if name not in written and not t.holds_file(inputs[name].type):
            kind = t.spell(inputs[name].type)
            found.append(Diagnostic(PathOfValue(definition.name, name, kind), key))
            continue
        if name in written:
            made.append(_fixed(name, path, place, True, found))
        if name in inputs and t.holds_file(inputs[name].type):
            one = _fixed(name, path, place, False, found)
            for before in made:  # one file may be several results
                if one.path and not before.written and before.path == one.path:
                    same = SamePath(f"`{name}`", f"`{before.name}`", one.path)
                    found.append(Diagnostic(same, place))
            made.append(one)
    return tuple(made)


def _fixed(name: str, path: Any, place: Place, written: bool, found: list[Diagnostic]) -> FixedPath:
    """The path as it is used; one that cannot be is reported, and empty."""
    one = FixedPath(name, "", place, written)
    if is_value(path) or not isinstance(path, str):
        found.append(Diagnostic(BadFixedPath(spelled(path), name, "must be a string"), place))
        return one
    shown = _VALUE.sub("{...}", path)
    if reason := _flaw(path, written):
        found.append(Diagnostic(BadFixedPath(shown, name, reason), place))
        return one
    if "{{" in path:
        return one._replace(path=shown, made=text(path))
    return one._replace(path=posixpath.normpath(path))


def _flaw(path: str, written: bool) -> str:
    """Why nothing can be put at a path; empty if something can; `written` are outputs."""
    if not path.startswith("/") or path.startswith("//"):
        return "it does not begin at the root of the container"
    if ".." in path.split("/"):
        return "it goes up a folder"
    if "{{" in path and not written:
        return "it is the same in all runs, and holds no value of one"
    if "{{" in path and not all(map(_is_word, leaves(text(path)))):
        return "only inputs that are no files, and what the run is, may stand in it"
    if not path.strip("/"):
        return "the root is the container itself"
    own = next((one for one in OWN if f"{posixpath.normpath(path)}/".startswith(f"{one}/")), "")
    return f"{own} is for the files that have no path of their own" if own else ""


def _is_word(leaf: Expr) -> bool:
    """Whether it is known when a task begins, and is not a file."""
    match leaf:
        case InPod(_, kind, output):
            return not output and not t.holds_file(kind)
        case RunField(name):
            return name not in AT_THE_END
        case _:
            return isinstance(leaf, Const)


def misplaced(
    call: Call,
    paths: tuple[FixedPath, ...],
    forms: Mapping[str, Form],
    mounted: frozenset[str],
    stored: bool,
) -> Iterator[Diagnostic]:
    """Files that a call passes or stores although their paths cannot be chosen; `stored`: on a volume."""
    step = call.target
    kinds = {out.name: out.type for out in t.outputs(step.signature.returns)}
    for name, path, place, written, _ in paths:
        if not path:  # an invalid one was reported
            continue
        if written:
            if stored and t.holds_file(kinds[name]):
                way = f'leave it out of `paths`, and give the program `output("{name}")`; or call it with `store=None`'
                finding = PathNotChosen(step.name, name, "kept on a volume", path, way)
                yield Diagnostic(finding, call.site)
            continue
        form = forms[name]
        if path in mounted:
            yield Diagnostic(SamePath(f"`{name}`", "a volume of `mounts`", path), place)
        if isinstance(form, (File, Absent)):
            continue
        what = "the results of a loop" if isinstance(form, Gathered) else "several files in one value"
        way = "let a step under `@step` put them into one folder, and pass on what that returns"
        if isinstance(form, Mounted):
            what = "a path on a volume"
            way = f"pass it in the command instead of `paths`: command(..., {name})"
        yield Diagnostic(PathNotChosen(step.name, name, what, path, way), call.argument(name))
