"""What each kind of step may take and return."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.findings import kinds as findings
from flowdsl.compiler.findings.kinds import WORDS
from flowdsl.compiler.findings.objects import TemplateElsewhere
from flowdsl.compiler.options.patch import TASK
from flowdsl.diagnostic import Diagnostic
from flowdsl.places.place import Argument, Definition
from flowdsl.values import types as t
from flowdsl.values.signature import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.ir import Settings
    from flowdsl.places.place import Place, Site
    from flowdsl.step import StepDef

_FILELESS = ("resource", "approve", "http")
_TEXT = "take the path as a `str`, or let a step under `@step` or `@container` do it"


def values(step: StepDef, asked: Settings) -> Iterator[Diagnostic]:
    """Findings about the parameters and results of a step of its kind."""
    if step.kind == "python" and not serves(step):
        return
    if step.kind in _FILELESS:
        yield from _files(step)
    if step.kind == "http" and (wrong := one_result(step, "the body of an answer")) is not None:
        yield wrong
    if serves(step) and not isinstance(step.signature.returns, t.Text):
        have = t.spell(step.signature.returns)
        way = "write `-> str`: what it returns is the address of its pod"
        finding = findings.OneResult(step.name, have, "the address of a daemon", way)
        yield Diagnostic(finding, Definition(step.code, "return" if step.signature.annotated else None))
    if step.kind == "approve" and asked.gate.duration is not None:
        yield from unanswered(step, Definition(step.code, "return"))
    if step.kind == "template":
        yield from _names(step, asked)


def unanswered(step: StepDef, place: Place) -> Iterator[Diagnostic]:
    """The outputs of a gate with a timeout that possibly nobody has supplied."""
    for out in t.outputs(step.signature.returns):
        if supplied(step, out) is MISSING:
            yield Diagnostic(
                findings.NoAnswer(step.name, out.name, "" if out.keys else t.spell(out.type)), place
            )


def elsewhere(step: StepDef, options: Mapping[str, Any], site: Site) -> Iterator[Diagnostic]:
    """Patches for a step whose template is in the cluster."""
    fields = options.get("argo")
    if step.kind != "template" or not isinstance(fields, Mapping):
        return
    for field in cast("Mapping[object, object]", fields):
        if isinstance(field, str) and field != TASK:
            place = Argument(site, "argo", part=f"key:{field}")
            yield Diagnostic(TemplateElsewhere(field, step.name), place)


def serves(step: StepDef) -> bool:
    """Whether a step is a daemon."""
    return step.options.get("daemon") is True


def supplied(step: StepDef, out: t.Output) -> object:
    """The value of a gate's output that nobody supplies: the default of its field, or MISSING."""
    returns = step.signature.returns
    if not isinstance(returns, t.Record):
        return MISSING
    cls = returns.cls
    defaults: dict[str, object] = getattr(cls, "_field_defaults", None) or {
        name: field.default
        for name, field in getattr(cls, "__dataclass_fields__", {}).items()
        if type(field.default).__name__ != "_MISSING_TYPE"
    }
    return defaults.get(out.name, MISSING)


def one_result(step: StepDef, source: str) -> Diagnostic | None:
    """The finding about a step with several results, or a file, that can only have one text."""
    returns = step.signature.returns
    if not isinstance(returns, (t.Record, t.Fixed)) and not t.holds_file(returns):
        return None
    way = "return one `str`, or one value that the text is JSON of: `-> dict[str, float]`"
    finding = findings.OneResult(step.name, t.spell(returns), source, way)
    return Diagnostic(finding, Definition(step.code, "return"))


def _files(step: StepDef) -> Iterator[Diagnostic]:
    for parameter in step.signature.parameters:
        whole = step.kind == "resource" and isinstance(parameter.type, t.File)  # the object as a whole
        if t.holds_file(parameter.type) and not whole:
            finding = findings.CannotTake(WORDS[step.kind], "take", parameter.name, "a file", _TEXT)
            yield Diagnostic(finding, Definition(step.code, parameter.name, "annotation"))
    for out in t.outputs(step.signature.returns):
        if t.holds_file(out.type) and step.kind != "http":
            finding = findings.CannotTake(
                WORDS[step.kind], "return", out.name, "a file", "return something that is not a file"
            )
            yield Diagnostic(finding, Definition(step.code, "return"))


def _names(step: StepDef, asked: Settings) -> Iterator[Diagnostic]:
    outs = tuple(out.name for out in t.outputs(step.signature.returns))
    known = (*step.signature.by_name, *outs)
    names = asked.library.names
    for name in names:
        if name not in known:
            place = Argument(step.site, "names", part=f"key:{name}")
            yield Diagnostic(findings.UnknownRenamed(name, known, step.name), place)
    if outs == ("return",) and "return" not in names:
        yield Diagnostic(findings.UnnamedOutput(step.name), Definition(step.code, "return"))
