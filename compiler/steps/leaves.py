"""What steps that no container of the user's runs come to: a small function for each kind.

And what is special about the results of each kind: where Argo has them, and which need a graph around their
step so that they can be handed on.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from flowdsl.compiler import ir
from flowdsl.compiler.carry.text import control_characters, replaced_dollar
from flowdsl.compiler.checks.kinds import serves, supplied
from flowdsl.compiler.encode import choices, encode
from flowdsl.compiler.findings import kinds as findings
from flowdsl.compiler.findings.commands import InputUnused
from flowdsl.compiler.findings.kinds import DESCRIBED, WORDS
from flowdsl.compiler.forms import Absent, File, Mounted, Plain
from flowdsl.compiler.steps.command import CommandLine, bind, command_line
from flowdsl.compiler.steps.manifest import Manifest, manifest
from flowdsl.compiler.steps.request import Request, request
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Definition
from flowdsl.step import StepDef
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, InPod, Out, leaves, substitute
from flowdsl.values.signature import MISSING
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flowdsl.compiler.forms import Form
    from flowdsl.compiler.options import Declared
    from flowdsl.pipeline import PipelineDef
    from flowdsl.tracing.trace import Call, Trace

IP, RESULT = "ip", "outputs.result"

Description = CommandLine | Manifest | Request


def excused(traces: Iterable[Trace]) -> dict[int, frozenset[str]]:
    """For each step, by id, the inputs that a description need not use.

    Those that it is fanned out over may only determine how often it runs, and the `argo` of a call may refer to any.
    """
    found: dict[int, frozenset[str]] = {}
    for call in (call for trace in traces for call in trace.calls):
        names = frozenset[str]()
        if call.loop is not None and call.loop.kind == "fan_out":
            names = frozenset(call.loop.lists).union(*(call.loop.rows or ()))
        if "argo" in call.options:
            names |= {one.name for one in call.target.signature.parameters}
        found[id(call.target)] = found.get(id(call.target), frozenset()) | names
    return found


def _unused(
    step: StepDef, made: Description, asked: ir.Settings, excused: frozenset[str]
) -> Iterator[Diagnostic]:
    """Inputs that the description of a step does not use; a `_` prefix of the name permits that."""
    if "argo" in step.options:  # which may refer to any of them
        return
    texts: list[Expr] = []
    used: set[str | None] = {*excused}
    match made:
        case CommandLine():
            texts = [*made.words, *(value for _, value in made.env)]
            texts += [one.made for one in made.paths if one.made is not None]
            used |= {one.name for one in made.paths}
        case Manifest():
            texts = [] if made.body is None else [made.body]
            used |= {made.file}
        case Request():
            texts = [made.url, *(value for _, value in made.headers if not isinstance(value, Secret))]
            texts += [] if made.body is None else [made.body]
    used |= {one.name for text in texts for one in leaves(text) if isinstance(one, InPod)}
    seen = any(one.mirror for several in asked.companions for one in several)  # by its companion containers
    for parameter in step.signature.parameters:
        if (
            parameter.name in used
            or parameter.name.startswith("_")
            or (seen and t.holds_file(parameter.type))
        ):
            continue
        unused = InputUnused(step.name, parameter.name, DESCRIBED[step.kind][0])
        yield Diagnostic(unused, Definition(step.code, parameter.name))


class Descriptions:
    """The descriptions of steps, each evaluated once; errors are added to `diagnostics`."""

    def __init__(
        self, declared: Declared, diagnostics: list[Diagnostic], excused: Mapping[int, frozenset[str]]
    ) -> None:
        self.diagnostics = diagnostics
        self._declared = declared
        self._excused = excused
        self._known: dict[int, Description | None] = {}
        self.plain: set[int] = set()  # the ids of steps whose outputs are parameters of the same names

    def __call__(self, step: StepDef) -> Description | None:
        """The description of a step; None for a kind that has none, or after an error."""
        if id(step) not in self._known:
            made: Description | None = None
            found: list[Diagnostic] = []
            if step.kind == "container":
                made, found = command_line(step)
            elif step.kind == "resource":
                made, found = manifest(step, self._declared(step)[0].managed)
            elif step.kind == "http":
                made, found = request(step)
            self._known[id(step)] = made
            self.diagnostics.extend(found)
            if made is not None and not found:
                self.diagnostics.extend(
                    _unused(step, made, self._declared(step)[0], self._excused.get(id(step), frozenset()))
                )
        return self._known[id(step)]

    def variable(self, target: StepDef | PipelineDef) -> str:
        """The Argo variable with the result of a step; empty if it is a parameter or an artifact."""
        if not isinstance(target, StepDef):
            return ""
        if serves(target):
            return IP
        if target.kind == "python":
            return ""
        said = self(target) if target.kind == "container" else None
        prints = isinstance(said, CommandLine) and said.stdout
        return RESULT if prints or target.kind == "http" else ""

    def around(self, call: Call) -> bool:
        """Whether a call needs a graph around its step.

        In a loop each item outputs its index, which only pods can. In a branch the result of a task that did
        not run, if it has one, must be absent: a parameter, and one without a default. Source: Argo Workflows,
        addSkippedNodeOutputsToScope.
        """
        target = call.target
        if not isinstance(target, StepDef) or (call.loop is None and call.region is None):
            return False
        variable = self.variable(target)
        if call.loop is not None:
            return variable == RESULT or target.kind not in ("python", "container")
        outs = t.outputs(target.signature.returns)
        defaults = target.kind == "template" or (
            target.kind == "approve" and any(supplied(target, out) is not MISSING for out in outs)
        )
        return bool(outs) and (variable == RESULT or defaults)

    def made(self, task: str, target: StepDef | PipelineDef, name: str, kind: t.Type) -> Out:
        """The output of a task that runs a step directly."""
        if isinstance(target, StepDef) and target.kind == "template":
            names = self._declared(target)[0].library.names
            return Out(task, names.get(name, name), kind)
        variable = self.variable(target)
        if not variable:
            self.plain.add(id(target))
        return Out(task, name, kind, variable)

    def misplaced(self, call: Call) -> Iterator[Diagnostic]:
        """A daemon in a place where it would be stopped before it is used."""
        if not isinstance(call.target, StepDef) or not serves(call.target):
            return
        way = "call it in a pipeline together with the steps that use it, and put that pipeline here"
        for where, found in (("runs in a loop", call.loop), ("runs in a branch", call.region)):
            if found is not None:
                finding = findings.DaemonPlace(call.target.name, where, way)
                yield Diagnostic(finding, call.site)


class Asked(NamedTuple):
    """The data from which a body is made."""

    step: StepDef
    setting: ir.Settings
    forms: Mapping[str, Form]
    said: Description | None


def _resource(asked: Asked) -> ir.Resource:
    said = asked.said
    if not isinstance(said, Manifest):
        return ir.Resource("")
    if said.file is not None:
        return ir.Resource(None, said.file)
    if said.text is not None and not asked.setting.managed.owner and _as_written(said.text):
        return ir.Resource(textwrap.dedent(said.text).strip("\n") + "\n")
    return ir.Resource(bind(said.body, asked.forms) if said.body is not None else "")


def _as_written(text: str) -> bool:
    """Whether a text is passed unchanged."""
    return "{{" not in text and replaced_dollar(text) is None and not [*control_characters(text)]


def _approve(asked: Asked) -> ir.Suspend:
    return ir.Suspend()


def _http(asked: Asked) -> ir.Http:
    said = asked.said
    if not isinstance(said, Request):
        return ir.Http("", Const("", t.TEXT))
    headers = tuple(
        (name, bind(value, asked.forms) if isinstance(value, Expr) else value) for name, value in said.headers
    )
    return ir.Http(
        said.method,
        bind(said.url, asked.forms),
        headers,
        None if said.body is None else bind(said.body, asked.forms),
        said.json,
        said.success,
        said.timeout,
        said.insecure,
    )


def _template(asked: Asked) -> ir.Reference:
    return ir.Reference()


#: The body of a step, by kind; those with a container are written by `lower`.
BODIES: Mapping[str, Callable[[Asked], ir.Leaf]] = {
    "resource": _resource,
    "approve": _approve,
    "http": _http,
    "template": _template,
}


def outputs(asked: Asked) -> list[ir.Output]:
    """The outputs of such a template; what is a variable in Argo needs none."""
    outs = t.outputs(asked.step.signature.returns)
    said = asked.said
    if asked.step.kind == "approve":
        return [
            ir.Output(out.name, "parameter", default=_default(asked.step, out), origin="person")
            for out in outs
        ]
    if isinstance(said, Manifest):
        return [
            ir.Output(out.name, "parameter", said.outputs[out.name][1], origin=said.outputs[out.name][0])
            for out in outs
            if out.name in said.outputs
        ]
    return []


def questions(step: StepDef, given: list[ir.Input]) -> list[ir.Input]:
    """The inputs of a step; for a gate also those by which Argo asks a person for the outputs of the same names.

    The first of these is shown with the text of the docstring; without any, the first of the step's inputs.
    """
    if step.kind != "approve":
        return given
    about = (step.plain.__doc__ or "").strip().partition("\n\n")[0]
    about = "" if "{{" in about else " ".join(about.split())
    asked = [
        ir.Input(
            out.name,
            "parameter",
            default=_default(step, out),
            asked=ir.Question(about if at == 0 else "", choices(out.type)),
        )
        for at, out in enumerate(t.outputs(step.signature.returns))
        if out.name not in step.signature.by_name
    ]
    if asked or not given:
        return [*given, *asked]
    return [given[0]._replace(asked=ir.Question(about, answered=False)), *given[1:]]


def _default(step: StepDef, out: t.Output) -> str | None:
    default = supplied(step, out)
    return None if default is MISSING else encode(default, out.type)


def refused(call: Call, step: StepDef, forms: Mapping[str, Form]) -> Iterator[Diagnostic]:
    """Arguments in forms that the kind of step does not accept."""
    for name, form in forms.items():
        if isinstance(form, (Plain, Absent)):
            continue
        if isinstance(form, File) and step.kind in ("resource", "template"):
            continue
        way = "let a step under `@step` take it, and pass on what that returns"
        what = "the results of a loop, or several files in one value"
        if isinstance(form, Mounted):
            what = "a path on a volume"
            way = "take the path as a `str`, or let a step under `@step` copy the file"
        finding = findings.CannotTake(WORDS[step.kind], "take", name, what, way)
        yield Diagnostic(finding, call.argument(name))


def handed_on_daemons(program: ir.Program, parted: ir.Program) -> Iterator[Diagnostic]:
    """Graphs that output the address of a daemon, which is stopped when its graph ends.

    `parted` is the program split to Argo's limits: the additional graphs in it are groups of tasks.
    """
    written = {template.name for template in program.templates}
    for template in parted.templates:
        if not isinstance(template.body, ir.Graph):
            continue
        for output in template.outputs:
            for leaf in leaves(output.value) if output.value is not None else ():
                if not isinstance(leaf, Out) or leaf.variable != IP:
                    continue
                place = template.place
                where, way = "is returned by a pipeline", "call the steps that use it in the same pipeline"
                if template.name not in written:
                    where = "and the tasks that wait for it are more than one graph can have, 200"
                    way = "use `fan_out` for tasks that are alike, or call parts of them as pipelines"
                elif isinstance(place, Definition):
                    place = place._replace(name="return")
                yield Diagnostic(findings.DaemonPlace(str(leaf.task), where, way), place)


def rewritten(body: ir.Leaf, change: Callable[[Expr], Expr | None]) -> ir.Leaf:
    """A body in which each part of an expression is replaced by the result of `change`, if there is one."""

    def one(value: Any) -> Any:
        return substitute(value, change) if isinstance(value, Expr) else value

    match body:
        case ir.Pod():
            env = tuple((name, one(value)) for name, value in body.env)
            mounts = tuple(mount._replace(sub_path=one(mount.sub_path)) for mount in body.mounts)
            return body._replace(env=env, command=tuple(one(word) for word in body.command), mounts=mounts)
        case ir.Resource():
            return body._replace(manifest=one(body.manifest))
        case ir.Http():
            headers = tuple((name, one(value)) for name, value in body.headers)
            return body._replace(url=one(body.url), headers=headers, body=one(body.body))
        case _:
            return body
