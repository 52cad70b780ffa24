"""Whether a step can have the packages, modules and cache that it asks for."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.checks.kinds import serves
from flowdsl.compiler.options import INHERITED, STEP_OPTIONS, applicable, inherited, settings
from flowdsl.compiler.options.code import provides
from flowdsl.diagnostic import Diagnostic
from flowdsl.places.place import Argument
from flowdsl.values import types as t
from flowdsl.values.later import known_options
from flowdsl.values.lift import is_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from flowdsl.pipeline import PipelineDef
    from flowdsl.places.place import Site
    from flowdsl.step import StepDef
    from flowdsl.tracing.trace import Trace


def unfit(step: StepDef, options: Mapping[str, Any], site: Site) -> Iterator[Diagnostic]:
    """Options that do not apply to a step: Python options of a container step, or caching without results."""
    if options.keys().isdisjoint(INHERITED):
        return
    options = known_options(options)
    from flowdsl.compiler.findings.caching import NothingToCache
    from flowdsl.compiler.findings.code import PythonOnly

    if step.kind == "container":
        for name in ("packages", "code"):
            if options.get(name):
                yield Diagnostic(PythonOnly(name, step.name), Argument(site, name, part="name"))
    if options.get("cache"):
        why = "is a daemon" if serves(step) else ""
        why = "returns nothing" if isinstance(step.signature.returns, t.Nothing) else why
        if why:
            yield Diagnostic(NothingToCache(step.name, why), Argument(site, "cache", part="name"))


def provided(one: Diagnostic, step: StepDef, traces: Iterable[Trace]) -> Diagnostic | None:
    """A finding about a module of the user, or a variable, as it is to be reported: None if every call provides it.

    The imports of that module are checked, too: flowdsl is not in the images.
    """
    from flowdsl.compiler.carry.project import brings_language
    from flowdsl.compiler.findings.carry import EnvironmentRead, OwnModule
    from flowdsl.compiler.findings.code import BringsLanguage, RelativeImport

    if isinstance(one.finding, EnvironmentRead):
        variable = one.finding.variable
        return None if all(_sets(options, variable) for options in _options(step, traces)) else one
    if not isinstance(one.finding, OwnModule):
        return one
    module = one.finding.full
    project = _project(step.code.co_filename)
    lacking = False
    for options in _options(step, traces):
        packages = _packages(options, step)
        if options.get("code") is None and not provides(packages, module, project):
            return one
        lacking |= not provides(packages, "flowdsl", None)
    if module.startswith("."):
        return one._replace(finding=RelativeImport(one.finding.module))
    importer = brings_language(module, step.code.co_filename) if lacking else None
    return None if importer is None else one._replace(finding=BringsLanguage(module, importer))


def _options(step: StepDef, traces: Iterable[Trace]) -> Sequence[Mapping[str, Any]]:
    """The options of a step's calls; without calls, those that the pipelines of the file would pass."""
    given: list[Mapping[str, Any]] = []
    roots: list[PipelineDef] = []
    for trace in traces:
        root = trace.root.owner
        roots.append(root)
        for graph in trace.graphs.values():
            defaults = inherited(graph.owner, root)
            for call in graph.calls:
                if call.target is step:
                    own = call.all_options
                    given.append({**applicable(defaults, step, own), **own})
    return given or [
        {**applicable(inherited(root, root), step, step.options), **step.options} for root in roots
    ]


def _sets(options: Mapping[str, Any], variable: str) -> bool:
    """Whether options set a variable of the environment, or contain fields that only Argo understands."""
    known = known_options(options)
    given = (known.get("env"), known.get("secrets"))
    return "argo" in options or any(is_dict(one) and variable in one for one in given)


def _packages(options: Mapping[str, Any], step: StepDef) -> tuple[str, ...]:
    wanted = {"packages": options["packages"]} if "packages" in options else {}
    return settings(wanted, partial(Argument, step.site), STEP_OPTIONS)[0].code.packages


def _project(filename: str) -> str | None:
    """The name of the project around a file, from its pyproject.toml."""
    for folder in Path(filename).resolve().parents:
        file = folder / "pyproject.toml"
        if file.is_file():
            import tomllib

            try:
                found: Any = tomllib.loads(file.read_text("utf-8"))
                name: Any = found["project"]["name"]
            except (OSError, ValueError, KeyError, TypeError):
                return None
            return name if isinstance(name, str) else None
    return None
