"""References in tags and expressions of templates: to what exists there, and to tasks that have ended by then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.kinds import BODY_OF, WORD_OF
from flowdsl.compiler.lint.manifest.globals import workflow_variables
from flowdsl.compiler.lint.variables import reading, typing
from flowdsl.compiler.lint.variables.computed import computed, of_loops
from flowdsl.compiler.lint.variables.failures import (
    Missing,
    can_fail,
    runs_after,
)
from flowdsl.compiler.lint.variables.findings import (
    BrokenExpression,
    NeverThere,
    UnknownVariable,
)
from flowdsl.compiler.lint.variables.hyphens import as_keys
from flowdsl.compiler.lint.variables.items import Items, is_item
from flowdsl.compiler.lint.variables.known import known_at
from flowdsl.compiler.lint.variables.outputs import Outputs, has_default
from flowdsl.compiler.lint.variables.scope import MEASURED, OF_CALLERS, OF_TRIES, RETRY, Scope
from flowdsl.compiler.lint.variables.substituted import filled
from flowdsl.compiler.lint.variables.texts import (
    EXPRESSIONS,
    HTTP,
    QUERIES,
    SIMPLE,
    harmless,
    is_source,
    strings,
)
from flowdsl.compiler.lint.variables.typing_findings import (
    NeverEqual,
    NeverSucceeds,
    OnlyDefault,
    PassedOn,
)
from flowdsl.compiler.lint.variables.unreplaced import (
    is_early,
    is_quoted,
    left_alone,
    left_open,
    must_close,
    unreplaced,
)
from flowdsl.compiler.lint.variables.uses import (
    InTag,
    Late,
    Place,
    Spot,
    expression_use,
    late_problems,
    loop_around,
    loop_of,
    of_metric,
    other_sort,
    unclosed,
)
from flowdsl.compiler.lint.workflow.passed_values import arriving, as_called, composed, named
from flowdsl.compiler.schema.findings import short
from flowdsl.compiler.tree import string, value_at
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.expression import parse
from flowdsl.grammar.template import ROOTS, TAG, may_be_variable, tags, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.problem import Part, Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.grammar.template import Reference

ELSEWHERE = frozenset(("name", "depends", "dependencies", "continueOn", "hooks", "inline"))
"""Fields of a call that have no tags, or whose tags are checked separately."""

_WHOLE = frozenset(("item", "retries"))
"""Variables that may be used without a further part."""


def unmet(problem: Problem, condition: str) -> Problem:
    """The problem of the condition of a request, as an error if the whole of it never holds."""
    finding = problem.finding
    if not isinstance(finding, NeverEqual) or finding.result != "false":
        return problem
    if problem.part not in _required(parse(condition)):
        return problem
    return problem._replace(finding=NeverSucceeds("request", finding.found, finding.reason, finding.way))


def _required(node: t.Node) -> set[Part]:
    """The parts of a condition that must hold for the whole to hold: those that `&&` joins."""
    found: set[Part] = set()
    left = [node]
    for each in left:  # grows during the iteration
        found.add((each.start, each.end))
        if isinstance(each, t.Binary) and each.operator == "&&":
            left += (each.left, each.right)
    return found


def references(view: View) -> Iterator[Problem]:
    """Every tag and expression of the templates names variables that exist there."""
    common = workflow_variables(view)
    scopes: dict[int, Scope] = {}
    late: list[Late] = []
    for template in view.templates:
        around = scopes[id(template.around.owner)].allowed if template.around is not None else common
        scopes[id(template)] = scope = Scope(view, template, around)
        reader = Reader(view, scope, late)
        data = template.data
        if template.body in WORD_OF:
            yield from reader.calls()
            yield from reader.texts(data.get("outputs"), (*template.path, "outputs"), Place(template, None))
            if target := string(data, "dag", "target"):
                yield from reader.text((*template.path, "dag", "target"), target, Place(template, None))
            data = {
                key: value for key, value in data.items() if key not in ("steps", "dag", "outputs", "metrics")
            }
        elif harmless(template, scope.allowed - {*RETRY}):
            continue
        yield from reader.texts(as_called(view, template, data), template.path, Place(template, None).outer)
    yield from late_problems(late)


def _late(expression: str) -> str | None:
    """A variable of an expression that has a value only after the tags of its template are replaced."""
    names = [each.dotted for each in variables(expression)]
    return next((each for each in names if each.partition(".")[0] in (*BODY_OF, *OF_TRIES)), None)


def _begins(spot: Spot, text: str) -> bool:
    """Whether Argo takes the value of a parameter for one that a task gets from another one."""
    return spot.path[-4:-2] == ("arguments", "parameters") and text.startswith("{{tasks.name")


_EARLY = "write a value: Argo reads this once for all attempts, before the first one"
_NO_WORKFLOW = "the expression of an output has no `workflow`: write the simple tag in quotes"
_ENV = "in a loop, Argo takes it for a variable that is missing: name the variable itself"
_BOUND = "in a loop, Argo takes what `let` binds for a variable that is missing: write the value itself"


class Reader:
    """Checks the texts of one template in its scope."""

    def __init__(self, view: View, scope: Scope, late: list[Late]) -> None:
        self.view = view
        self.scope = scope
        self.template = scope.template
        self.outputs = Outputs(view, self.template, late)
        self.items = Items(view)
        self.values: dict[str, list[tuple[Path, str]]] = {}

    def calls(self) -> Iterator[Problem]:
        """The findings about the tasks or steps of the template, and their hooks."""
        template = self.template
        is_plain = self.plain()
        for position, call in enumerate(template.calls):
            for field, value in call.data.items():
                if field in ELSEWHERE or not value:
                    continue
                if field == "arguments":
                    for number, parameter in enumerate(value.get("parameters") or ()):
                        text = parameter.get("value")
                        if type(text) is str and "{{" in text and not is_plain(text, position):
                            path = (*call.path, "arguments", "parameters", number, "value")
                            yield from self.text(path, text, Place(template, call))
                    if artifacts := value.get("artifacts"):
                        path = (*call.path, "arguments", "artifacts")
                        yield from self.texts(artifacts, path, Place(template, call))
                elif field == "withItems":
                    if not self.view.survey(call).without_tags:
                        yield from self.texts(value, (*call.path, field), Place(template, call))
                elif type(value) is str:
                    if field == "when" or "{{" in value:
                        yield from self.text((*call.path, field), value, Place(template, call))
                elif type(value) is dict:
                    yield from self.texts(value, (*call.path, field), Place(template, call))
        for hook in template.hooks:
            yield from self.texts(hook.data, hook.path, Place(template, hook))

    def plain(self) -> Callable[[str, int], bool]:
        """A fast check for texts with only variables that certainly exist: most texts of a big DAG or step list."""
        template, allowed = self.template, self.scope.allowed
        word, index = WORD_OF[template.body], template.call_index
        calls = template.calls
        if template.body == "dag":
            before: list[Collection[int]] = [
                set(each) if len(each) > 8 else each for each in template.dag.needs
            ]
        else:
            groups = template.data["steps"]
            ends: list[int] = [0]
            for group in groups:
                ends.append(ends[-1] + len(group))
            before = [range(ends[call.group]) for call in calls]

        everywhere: set[str] = set()  # texts that are valid everywhere

        def is_plain(text: str, position: int) -> bool:
            if text in everywhere:
                return True
            if text.startswith("{{tasks.name"):
                return False
            bodies = SIMPLE.findall(text)
            if len(bodies) != text.count("{{"):
                return False
            if allowed.issuperset(bodies):
                everywhere.add(text)
                return True
            for body in bodies:
                if body in allowed:
                    continue
                parts = body.split(".", 2)
                if len(parts) < 3 or parts[0] != word:
                    return False
                producer = index.get(parts[1], -1)
                if producer not in before[position]:
                    return False
                known = calls[producer].outputs
                if known is None or parts[2] not in known or parts[2].startswith("outputs.artifacts."):
                    return False
                maker = calls[producer]
                if self.outputs.skip(maker) is not None or runs_after(maker, calls[position]):
                    return False
            return True

        return is_plain

    def texts(self, node: Any, path: Path, place: Place) -> Iterator[Problem]:
        """The findings about every text below a node."""
        for found, text in strings(node, path):
            yield from self.text(found, text, place)

    def text(self, path: Path, text: str, place: Place) -> Iterator[Problem]:
        """The findings about one text: its tags, and the whole if it is an expression or a condition."""
        field = str(path[-1])
        if field in EXPRESSIONS or path[-2:] == HTTP:
            if not text:
                return  # Argo treats it as unset
            wrong = list(self.rescued(path, self.expression(path, text, place, expression_use(path))))
            wrong = [unmet(problem, text) if path[-2:] == HTTP else problem for problem in wrong]
            yield from wrong or self.unquoted(path, text, place)
        elif field in QUERIES and (broken := reading.query(text, field)) is not None:
            yield broken.at(path)
        found = tags(text) if "{{" in text else ()
        if is_source(path) and not found and may_be_variable(text):
            spot = Spot(path, (0, len(text)))
            yield from self.variable(spot, text, place, text)
            yield from self.outputs.missing(spot, place, Missing(text, path, True, alone=True))
        if field == "when" and not any(map(left_open, found)):
            yield from (fault.at(path) for fault in reading.condition(text))
            yield from (fault.at(path) for fault in filled(self.view, text, place) if found)
        for tag in found:
            if left_open(tag) or (tag.kind == "unclosed" and must_close(text, tag, place)):
                yield unclosed(path, text, tag)
            elif (
                tag.kind == "expression"
                and field in EXPRESSIONS
                and (late_one := _late(tag.body)) is not None
            ):
                reason = f"write `{as_keys(late_one)}` without braces: Argo reads the expression as it is"
                spot = Spot(path, (tag.start, tag.end))
                yield spot.problem(UnknownVariable(late_one, (), reason))
            elif tag.kind == "expression":
                whole = field == "when" and tag.start == 0 and tag.end == len(text)
                use: typing.Use = "condition" if whole else "value"
                inside_tag = InTag(tag.inside, "}}" in text[tag.end :])
                for problem in self.expression(path, tag.body, place, use, inside_tag):
                    yield left_alone(problem, tag, place)
            elif tag.kind == "simple" and "{{" not in tag.body:
                name = tag.body.strip()
                spot = Spot.of_name(path, name, tag)
                yield from self.rescued(path, self.variable(spot, name, place, text))
                yield from self.outputs.missing(
                    spot, place, Missing(name, path, True, len(tag.body) + 4 == len(text))
                )

    def handed_on(self, rest: Sequence[str]) -> bool:
        """Whether the template has outputs of the workflow in its scope: a step list has the global outputs.

        Source: Argo Workflows, addWorkflowOutputsToLocalScope, which a DAG calls for its tasks only.
        """
        return self.template.body == "steps" and rest[:1] == ["outputs"]

    def unquoted(self, path: Path, text: str, place: Place) -> Iterator[Problem]:
        """The finding about an expression that is invalid with the known values of its tags."""
        open_tags = [tag for tag in TAG.finditer(text) if not is_quoted(text, tag.start())]
        if not any(tag[1].strip() in self.scope.allowed for tag in open_tags):
            return
        tag = open_tags[0]
        for _, read in composed(self.view, self.template, text, path):
            wrong = self.expression(path, read, place, expression_use(path))
            errors = [problem.finding for problem in wrong if problem.finding.severity == "error"]
            if errors and tag[0] == text:  # the value is the expression
                yield Spot(path, tag.span()).problem(errors[0])
                return
            if errors:
                way = f"write `'{tag[0]}'`: what a tag becomes is read as it is"
                found = BrokenExpression(short(read), f"quotes around `{tag[0]}`", tag.start() + 1, way)
                yield Spot(path, tag.span()).problem(found)
                return

    def rescued(self, path: Path, found: Iterable[Problem]) -> Iterator[Problem]:
        """The findings about an expression; an output with a `default` has that if the expression fails.

        Source: Argo Workflows, getTemplateOutputsFromScope in workflow/controller/operator.go.
        """
        if path[-2:] != ("valueFrom", "expression") or not has_default(self.view, path):
            yield from found
            return
        for problem in found:
            finding = problem.finding
            if finding.severity == "error":
                yield problem._replace(finding=OnlyDefault(finding.message, finding.advice))
            elif not isinstance(finding, PassedOn):
                yield problem

    def variable(self, spot: Spot, name: str, place: Place, text: str) -> Iterator[Problem]:
        """The findings about the variable of a simple tag."""
        root, _, rest = name.partition(".")
        hooked = spot.path[-3::2] == ("hooks", "expression")
        own = hooked or (place.call is None and spot.path[-1] in EXPRESSIONS)
        tried = root in OF_TRIES
        if name in OF_CALLERS:
            yield from self.of_caller(spot, name, place, text)
            return
        if name in self.scope.allowed and not (own and tried):
            if name in RETRY and is_early(spot.path):
                yield spot.problem(UnknownVariable(name, (), _EARLY))
            return
        if own and (tried or (rest and root in BODY_OF)):
            parent = None if place.call is None else place.call.parent
            if hooked and parent is not None and rest.startswith(f"{parent.name}."):
                return  # the variable of the hook's own task is reported with the hooks
            reason = f"write `{as_keys(name)}` without braces: Argo reads the expression as it is"
            yield spot.problem(UnknownVariable(name, (), reason))
            return
        if root in BODY_OF and rest:
            producer, _, output = rest.partition(".")
            found = list(self.outputs.output(spot, (root, producer, output), place, exact=True))
            if (
                not found
                and (sort := other_sort(spot.path, name, output, place.call is not None)) is not None
            ):
                found = [spot.problem(sort)]
            yield from found
        elif root == "item" and name != "item.":
            yield from self.items.used(spot, rest, place, exact=True, text=text)
        elif spot.path[-1] == "from" and root not in ROOTS:
            return  # an artifact without a source
        elif (finding := unreplaced(self.scope.fault(name), name, spot.path, text, place)) is not None:
            yield spot.problem(finding)

    def of_caller(self, spot: Spot, name: str, place: Place, text: str) -> Iterator[Problem]:
        """The finding about the name of the template's caller, which a call in the template may wait for."""
        call = place.call
        if name not in self.scope.of_callers:
            hooked = call is not None and call.parent is not None and name == "steps.name"  # hooks have it
            finding = unreplaced(self.scope.fault(name), name, spot.path, text, place)
            if finding is not None and not hooked:
                yield spot.problem(finding)
        elif call is not None and call.is_task and _begins(spot, text):
            # Source: Argo Workflows, validateDAGTaskArgumentDependency, which takes the name for that of a task.
            way = "write `{{=tasks.name}}`: Argo takes this for an output of a task that is called `name`"
            yield spot.problem(UnknownVariable(name, (), way))

    def expression(
        self, path: Path, text: str, place: Place, use: typing.Use, tag: InTag | None = None
    ) -> Iterator[Problem]:
        """The findings about an expression, alone in its field or in a tag: its syntax, kinds and variables."""
        offset = 0 if tag is None else tag.offset
        known = known_at(path) if tag is None else None
        extra = known.extra(use) if known else self.items.extra(use, text, place, path)
        if of_metric(path):
            extra = extra._replace(names=MEASURED)
        read = reading.expression(text, extra, tag is not None, tag is not None and tag.braces)
        yield from (fault.at(path, offset) for fault in read.found)
        if not read.found:
            asked = named(string(place.call.data, "when")) if place.call is not None else frozenset[str]()

            def arrived(name: str) -> Iterable[tuple[Path, str]]:
                if name in asked:
                    return ()
                return self.items.values(name, place, path) if is_item(name) else self.arrived(name)

            yield from computed(arrived, path, text, offset, tag is not None)
            yield from of_loops(self.is_list, path, text, offset)
        in_loop = tag is not None and place.call is not None and bool(place.call.loop)
        if read.bound and in_loop:
            one = read.bound[0]
            spot = Spot(path, (one.start + offset, one.value.end + offset), expression=True)
            yield spot.problem(UnknownVariable(one.name, (), _BOUND))
        made = path[-1] == "fromExpression" or path[-2:] == ("valueFrom", "expression")
        of_output = made and tag is None and place.call is None
        if of_output and path[-1] == "expression" and read.node is not None:
            yield from (fault.at(path) for fault in can_fail(self.view, self.template, text, read.node))
        for reference in read.named:
            root, *rest = reference.path
            name = reference.dotted
            spot = Spot(path, (reference.start + offset, reference.end + offset), expression=True)
            if known is not None:
                if (finding := known.fault(reference, self.scope.allowed)) is not None:
                    yield spot._replace(expression=False).problem(finding)
            elif of_output and root == "workflow" and not self.handed_on(rest):
                yield spot.problem(UnknownVariable(name, (), _NO_WORKFLOW))
            elif in_loop and root == "$env":
                yield spot.problem(UnknownVariable(root, (), _ENV))
            elif tag is not None and name in OF_CALLERS:
                yield from self.of_caller(spot, name, place, text)
            elif name in RETRY and name in self.scope.allowed and is_early(path):
                yield spot.problem(UnknownVariable(name, (), _EARLY))
            elif root not in ROOTS or not (rest or root in _WHOLE) or name in self.scope.allowed:
                continue
            elif root in BODY_OF:
                needed = (reference.start, reference.end) in read.needed
                yield from self.outputs.of_call(spot, reference, place, text, needed, tag is not None)
            else:
                yield from self.of_others(spot, reference, place, text if tag is not None else "")

    def of_others(self, spot: Spot, reference: Reference, place: Place, tag: str) -> Iterator[Problem]:
        """The findings about other variables in an expression; `tag` is the text with the tag, if in one."""
        root, *rest = reference.path
        name = reference.dotted
        # Argo leaves an expression with a variable known later. Source: variablesToCheck in util/template.
        unbound = root == "item" and loop_around(place, spot.path) is None
        unbound |= root in OF_TRIES and root not in self.scope.prefixes
        if reference.guarded and not (unbound or (root == "inputs" and self.scope.without_inputs(rest[0]))):
            if name.startswith("inputs.parameters.") and len(rest) == 2 and name not in self.scope.prefixes:
                inputs = sorted(each for each in self.scope.allowed if each.startswith("inputs.parameters."))
                if name not in inputs and "inputs" not in self.view.defaults:
                    yield spot.problem(NeverThere(name, inputs))
            return
        if root == "item":
            yield from self.items.used(spot, ".".join(rest), place, exact=False)
            return
        known = name in self.scope.prefixes or (root in ("outputs", "retries") and of_metric(spot.path))
        if known:
            return
        finding = self.scope.fault(name)
        if tag and (root == "outputs" if finding is None else place.call is None):
            whole = str(value_at(self.view.document, spot.path))
            finding = unreplaced(finding, name, spot.path, whole, place)
        if finding is not None:
            yield spot.problem(finding)

    def arrived(self, variable: str) -> list[tuple[Path, str]]:
        """The known values of a parameter, each with its path."""
        if variable not in self.values:
            tag = f"{{{{{variable}}}}}"
            self.values[variable] = list(arriving(self.view, self.template, tag, self.template.path))
        return self.values[variable]

    def is_list(self, variable: str) -> bool:
        """Whether an output of a task or step belongs to a loop."""
        return loop_of(self.template, variable) is not None
