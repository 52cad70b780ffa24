"""Type inference for expressions: every parameter is text when it arrives.

What is found depends on the text alone, not on where it stands: the variables are resolved elsewhere.
Source of what fails and what runs: github.com/expr-lang/expr 1.17.8 (checker, vm/runtime), asked by running it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from flowdsl.compiler.lint.variables.kinds import (
    NUMERIC,
    WORDS,
    fits,
    group,
    of_path,
    of_value,
    pattern_fault,
    statuses,
    text_length,
    way_to,
)
from flowdsl.compiler.lint.variables.typing_findings import (
    AsText,
    Findings,
    NeverEqual,
    UnknownName,
    WrongArgument,
    WrongOperand,
    WrongResult,
    no_status,
)
from flowdsl.compiler.problem import Fault
from flowdsl.diagnostic import near
from flowdsl.grammar import expression_tree as t
from flowdsl.grammar.expression_types import ANY, MAP, STRING, refusal
from flowdsl.grammar.functions import builtins, sprig
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import ROOTS

if TYPE_CHECKING:
    from flowdsl.grammar.expression_types import Type
    from flowdsl.grammar.functions import Kind, Signature

Use = Literal["value", "flag", "condition", "text", "artifact"]
"""The use of the result.

It is any value as text; true or false; the whole of a `when`, where text may be `true`; text, which Argo does
not make from other values; or an artifact.
"""

_ORDER = frozenset(("<", ">", "<=", ">="))
_TEXTUAL = frozenset(("contains", "startsWith", "endsWith", "matches"))
_JSON = frozenset(("parameters", "result", "failures", "message", "body"))
"""Words in the paths of variables whose text may be JSON."""
_METHODS = {"contains": "indexOf", "format": "string", "length": "len", "size": "len", "strip": "trim"}
"""Methods of other languages, and the functions to use instead."""

_ARGO = {"asInt": "int", "asFloat": "float", "toJson": "toJSON", "jsonpath": "fromJSON"}
"""The functions that Argo adds to those of expr-lang, and their counterparts there."""


_KINDS: dict[str, Kind] = {
    "bool": "flag",
    "int": "whole",
    "float64": "number",
    "string": "text",
    "list": "list",
    "map": "map",
    "time.Time": "time",
    "time.Duration": "time",
}
"""The kinds of types that expr-lang knows."""


class Extra(NamedTuple):
    """What is known about the place of an expression.

    Its use, the names that only it has, the kind of `item`, whether it has no other names, whether it has
    Argo's functions, whether an item that is text may also be an object, as in a list that is not literal,
    and whether Argo fills in tags before it reads the expression.
    """

    use: Use
    names: frozenset[str] = frozenset()
    item: Kind = "text"
    alone: bool = False
    argo: bool = True
    open: bool = False
    filled: bool = True


@lru_cache(maxsize=8192)
def kinds(text: str, node: t.Node, extra: Extra) -> tuple[Fault, ...]:
    """The findings about the kinds of values in an expression, one for each mistake."""
    made = _Kinds(text, extra)
    kind = made.of(node, {})
    made.refused(node)
    if not made.found:
        made.result(node, kind, extra.use)
    return tuple(made.found)


@lru_cache(maxsize=1024)
def result(text: str, node: t.Node) -> Kind:
    """The kind of the result of an expression."""
    return _Kinds(text, Extra("value")).of(node, {})


class _Kinds(Findings):
    def __init__(self, text: str, extra: Extra) -> None:
        super().__init__(text)
        self.names = extra.names
        self.roots = extra.names if extra.alone else ROOTS | extra.names
        self.argo = extra.argo
        self.whole, self.float = ("asInt", "asFloat") if extra.argo else ("int", "float")
        self.item: Kind = extra.item
        self.open = extra.open

    def refused(self, node: t.Node) -> None:
        """Reports what expr-lang's compiler rejects, which replaces findings about the evaluation."""
        mismatch = refusal(node, self.root)
        if mismatch is None or any(one.finding.severity == "error" for one in self.found):
            return
        if not mismatch.sides:
            return  # of functions and pointers, which are reported elsewhere
        wrong = mismatch.node
        if self.open and isinstance(wrong, t.Member) and t.path(wrong.of) == ("item",):
            return
        self.found = [one for one in self.found if one.part != (wrong.start, wrong.end)]
        sides: list[Kind] = [_KINDS.get(side[0], "any") if side else "any" for side in mismatch.sides]
        one, two = sides
        match wrong:
            case t.Member(_, key) if one == "list":
                self.operand("[...]", key, two, "write a whole number")
            case t.Unary(operator, operand):
                self.number(operator, operand, one)
            case t.Slice():
                self.operand(
                    "[:]", wrong, two, "write whole numbers", "cut at something that is not a whole number"
                )
            case t.Binary(".."):
                way = "give it whole numbers, as by `int(...)`"
                self.operand("..", wrong, one, way, "between values that are not whole numbers")
            case t.Member(of):
                way = f"read it by `fromJSON({self.shown(of)})` where the text is a list or an object"
                self.operand(self.text[of.end : wrong.end], of, one, way)
            case t.Binary("in"):
                kind = f"{WORDS[one]} among items of another kind"
                self.report(WrongOperand("in", self.shown(wrong), kind, "give items of the same kind"), wrong)
            case t.Binary(operator):
                kind = f"{WORDS[one]} beside {WORDS[two]}"
                self.report(
                    WrongOperand(operator, self.shown(wrong), kind, self.alike(wrong, one, two)), wrong
                )
            case _:
                pass  # it has no two sides

    def root(self, name: str) -> Type:
        """The type of a variable as expr-lang knows it."""
        if name == "item":
            return STRING if self.item == "text" else MAP if self.item == "map" else ANY
        return STRING if name == "retries" else MAP if name in ROOTS - self.names else ANY

    def of(self, node: t.Node, bound: dict[str, Kind]) -> Kind:
        """The kind of a node; mistakes in it are added to `found`."""
        match node:
            case t.Literal(value):
                return of_value(value)
            case t.Name() | t.Member() | t.Chain():
                return self.member(node, bound)
            case t.Element(name):
                return "whole" if name == "index" else bound.get("#", "any") if not name else "any"
            case t.Slice(of):
                kind = self.of(of, bound)
                return kind if kind in ("text", "list") else "any"
            case t.Call():
                return self.call(node, bound)
            case t.Method(function, arguments):
                return self.method(node, function, arguments, bound)
            case t.Unary(operator, operand):
                return self.unary(operator, operand, bound)
            case t.Binary():
                return self.binary(node, bound)
            case t.Conditional(condition, yes, no):
                self.flag("?", condition, bound)
                one, two = self.of(yes, bound), self.of(no, bound)
                return one if group(one) == group(two) else "any"
            case t.Let(name, value, body):
                return self.of(body, {**bound, name: self.of(value, bound)})
            case _:
                last: Kind = "any"
                for part in t.children(node):
                    last = self.of(part, bound)
                if isinstance(node, t.Items):
                    return "list"
                return "map" if isinstance(node, t.Mapping) else last

    def member(self, node: t.Name | t.Member | t.Chain, bound: dict[str, Kind]) -> Kind:
        parts = t.path(node)
        if parts is None:
            inner = node.of if isinstance(node, t.Chain) else node
            if not isinstance(inner, t.Member):
                return self.of(inner, bound) if inner is not node else "any"
            kind, key = self.of(inner.of, bound), self.of(inner.key, bound)
            if kind == "text":
                self.character(inner, key)
                return "whole" if group(key) == "number" else "any"
            if group(kind) == "number":
                self.of_number(inner, kind)
            elif kind == "list" and key == "text":
                self.operand("[...]", inner.key, "text", f"write `{self.whole}({self.shown(inner.key)})`")
            return "any"
        root = parts[0]
        if root in bound:
            return bound[root] if len(parts) == 1 else "any"
        if root not in ROOTS and root not in self.names:
            known = (*builtins(), "sprig", "$env")
            if root not in known:
                self.report(UnknownName("variable", ".".join(parts), sorted(self.roots)), node)
            return "any"
        if parts == ("item",):
            return self.item
        if (length := text_length(parts)) < len(parts):
            self.below(node, len(parts) - length)
            return "any"
        return of_path(parts)

    def character(self, node: t.Member, key: Kind) -> None:
        """Reports an index into a text: a number gives the code of a character, a text fails."""
        way = f"read it by `fromJSON({self.shown(node.of)})`"
        if key == "text":
            self.operand("[...]", node.of, "text", way)
        elif group(key) == "number" and (t.path(node.of) is not None or _holds_failures(node.of)):
            effect = "gives the code of a character, such as 97 for `a`"
            self.report(AsText(self.shown(node), f"{way} where the text is a list", effect), node)

    def of_number(self, node: t.Member, kind: Kind) -> None:
        """Reports a field of a number, which may be the code of a character."""
        of, field = node.of, self.text[node.of.end : node.end]
        inner = of.of if isinstance(of, t.Chain) else of
        way = f"take `{field}` off"
        if isinstance(inner, t.Member):
            way = f"read it by `fromJSON({self.shown(inner.of)})`"
            self.found = [one for one in self.found if one.part != (inner.start, inner.end)]
        self.operand(field, of, kind, way)

    def below(self, node: t.Node, depth: int) -> None:
        """Reports a field of a text, at a number of steps before the end of a path."""
        step: t.Node = node
        while depth:
            if isinstance(step, t.Member):
                node, step, depth = step, step.of, depth - 1
            elif isinstance(step, t.Chain):
                step = step.of
        field = self.text[step.end : node.end]
        holds_json = not _JSON.isdisjoint(t.path(step) or ())
        way = f"write `fromJSON({self.shown(step)}){field}`" if holds_json else f"take `{field}` off"
        self.operand(field, step, "text", way)

    def operand(self, operator: str, node: t.Node, kind: Kind, way: str, words: str = "") -> None:
        """Reports a value that an operator does not accept; `words` describe it, if not its kind."""
        finding = WrongOperand(operator, self.shown(node), words or WORDS[kind], way)
        if all(vars(finding) != vars(each.finding) for each in self.found):
            self.report(finding, node)

    def flag(self, operator: str, node: t.Node, bound: dict[str, Kind]) -> None:
        """Reports a value that should be boolean, and is not."""
        kind = self.of(node, bound)
        if group(kind) not in ("", "flag"):
            shown = self.shown(node)
            way = (
                f"compare it, as in `{shown} == 'true'`"
                if kind == "text"
                else f"compare it, as in `{shown} > 0`"
            )
            self.operand(
                operator, node, kind, way if kind in ("text", "whole", "long", "number") else "compare it"
            )

    def number(self, operator: str, node: t.Node, kind: Kind) -> None:
        """Reports a value that should be a number, and is not."""
        if group(kind) not in ("", "number"):
            way = f"write `{self.whole}({self.shown(node)})` or `{self.float}({self.shown(node)})`"
            self.operand(operator, node, kind, way if kind == "text" else "give it numbers")

    def unary(self, operator: str, operand: t.Node, bound: dict[str, Kind]) -> Kind:
        if operator == "!":
            self.flag("not", operand, bound)
            return "flag"
        kind = self.of(operand, bound)
        if operator == "+":  # leaves what it stands before as it is
            return kind
        self.number(operator, operand, kind)
        return kind if kind in ("whole", "long", "number") else "number"

    def binary(self, node: t.Binary, bound: dict[str, Kind]) -> Kind:
        operator, left, right = node.operator, node.left, node.right
        if operator in ("&&", "||"):
            self.flag(operator, left, bound)
            self.flag(operator, right, bound)
            return "flag"
        one, two = self.of(left, bound), self.of(right, bound)
        if operator in ("==", "!="):
            self.equal(node, one, two)
            return "flag"
        if operator == "??":
            return one if group(one) == group(two) else "any"
        if operator in _ORDER:
            self.order(node, one, two)
            return "flag"
        if operator == "in":
            self.within(node, one, two)
            return "flag"
        if operator in _TEXTUAL:
            sides: tuple[tuple[t.Node, Kind], ...] = ((left, one), (right, two))
            for part, kind in sides:
                if group(kind) not in ("", "text"):
                    self.operand(operator, part, kind, f"write `string({self.shown(part)})`")
            if operator == "matches" and isinstance(right, t.Literal) and two == "text":
                self.pattern(right)
            return "flag"
        if operator == "+" and {one, two} & {"text", "time", "any", "nil"}:
            self.added(node, one, two)
            return "text" if "text" in (one, two) else "any"
        if operator in ("-", "*") and "time" in (one, two):
            return "any"  # a duration, or a time
        self.number(operator, left, one)
        self.number(operator, right, two)
        if operator == "..":
            return "list"
        return "whole" if one == two == "whole" and operator not in ("/", "**") else "number"

    def pattern(self, node: t.Literal) -> None:
        """Reports an invalid regular expression."""
        if fault := pattern_fault(str(node.value)):
            self.operand("matches", node, "text", "write a pattern as Go has it", fault)

    def added(self, node: t.Binary, one: Kind, two: Kind) -> None:
        """Reports the addition of a text and a number."""
        sides: tuple[tuple[t.Node, Kind, Kind, t.Node], ...] = (
            (node.left, one, two, node.right),
            (node.right, two, one, node.left),
        )
        for part, kind, other, beside in sides:
            if kind == "text" and group(other) not in ("", "text", "time"):
                if isinstance(part, t.Literal):
                    self.operand("+", beside, other, f"write `string({self.shown(beside)})`")
                else:
                    self.operand(
                        "+", part, kind, f"write `{self.whole}({self.shown(part)})`, or make both texts"
                    )

    def order(self, node: t.Binary, one: Kind, two: Kind) -> None:
        """Checks the operands of `<` and others: numbers compare as numbers, and a text with a number fails."""
        if one == two == "text":
            both = (node.left, node.right)
            paths = [side for side in both if not isinstance(side, t.Literal)]
            literals = [side.value for side in both if isinstance(side, t.Literal)]
            if not paths or not literals or any(not NUMERIC.fullmatch(str(value)) for value in literals):
                return
            way = f"write `{self.float}({self.shown(paths[0])})`, and the number without quotes"
            self.report(AsText(self.shown(node), way), node)
            return
        if ("any" in (one, two) and "text" in (one, two)) or {one, two} <= {"any", "time"}:
            return
        sides: tuple[tuple[t.Node, Kind], ...] = ((node.left, one), (node.right, two))
        for part, kind in sides:
            self.number(node.operator, part, kind)

    def equal(self, node: t.Binary, one: Kind, two: Kind) -> None:
        """Reports comparisons with a constant result: of values of different kinds, or with an impossible status."""
        self.status(node.left, node.operator, node.right)
        self.status(node.right, node.operator, node.left)
        first, second = group(one), group(two)
        if not first or not second or first == second:
            return
        way = self.alike(node, one, two)
        result = "false" if node.operator == "==" else "true"
        reason = f"{WORDS[one]} is compared with {WORDS[two]}"
        self.report(NeverEqual(self.shown(node), result, reason, way), node)

    def status(self, side: t.Node, operator: str, other: t.Node) -> None:
        """Reports a status of a node or workflow that is compared with an impossible one."""
        known = statuses(t.path(side) or ())
        if not known or "{{" in self.shown(other):  # the value of a tag is known later
            return
        if isinstance(other, t.Literal) and isinstance(other.value, str):
            found = f"{self.shown(side)} {operator} {self.shown(other)}"
            finding = no_status(found, "false" if operator == "==" else "true", other.value, known)
            if finding is not None:
                self.report(finding, other)

    def alike(self, node: t.Binary, one: Kind, two: Kind) -> str:
        """How to convert two sides of different kinds to the same kind."""
        text, other = (node.left, node.right) if one == "text" else (node.right, node.left)
        if "text" not in (one, two) or {"list", "map"} & {one, two}:
            compares = node.operator in ("==", "!=", *t.COMPARISONS)
            return f"{'compare' if compares else 'give it'} values of one kind"
        if isinstance(other, t.Literal):
            return f"write `'{self.shown(other)}'` in quotes"
        if "flag" in (one, two):
            return f"write `{self.shown(other)}`, or `not({self.shown(other)})`"
        if isinstance(text, t.Literal) and isinstance(text.value, str) and NUMERIC.fullmatch(text.value):
            return f"write `{text.value}` without quotes"
        return f"write `{self.float}({self.shown(text)})`, or the number without quotes"

    def within(self, node: t.Binary, one: Kind, two: Kind) -> None:
        """Checks that the right side of `in` is a list or an object."""
        if two == "text":
            way = f"write `fromJSON({self.shown(node.right)})` for a list, or `contains` for a part of a text"
            self.operand("in", node.right, two, way)
        elif isinstance(node.right, t.Items) and node.right.items and group(one):
            for item in node.right.items:
                self.status(node.left, "==", item)
            groups = {group(self.of(item, {})) for item in node.right.items}
            if "" in groups or group(one) in groups:
                return
            reason = f"{WORDS[one]} is not among items of another kind"
            self.report(NeverEqual(self.shown(node), "false", reason, "give items of the same kind"), node)

    def call(self, node: t.Call, bound: dict[str, Kind]) -> Kind:
        name = node.function
        signature = builtins().get(name)
        if signature is not None and (self.argo or name not in _ARGO):
            kind = self.arguments(node, name, signature, node.arguments, bound)
            return "text" if _holds_failures(node) else kind
        if signature is not None:
            self.foreign(name, _ARGO[name], node.start)
        elif name not in bound:
            known = [*builtins(), *(f"sprig.{each}" for each in sprig())]
            finding = UnknownName("function", name, known)
            self.found.append(Fault(finding, (node.start, node.start + len(name))))
        for argument in node.arguments:
            self.of(argument, bound)
        return "any"

    def foreign(self, name: str, instead: str, start: int) -> None:
        """Reports a function of Argo where only those of expr-lang exist."""
        known = [each for each in builtins() if each not in _ARGO]
        finding = UnknownName(
            "function", name, known, instead, "here expressions have the functions of expr-lang only"
        )
        self.found.append(Fault(finding, (start, start + len(name))))

    def method(
        self, node: t.Method, function: t.Member, arguments: tuple[t.Node, ...], bound: dict[str, Kind]
    ) -> Kind:
        parts = t.path(function)
        if parts is not None and parts[0] == "sprig" and len(parts) == 2:
            if not self.argo:
                close = parts[1] if parts[1] in builtins() else ""
                self.foreign(".".join(parts), close, function.start)
            elif (signature := sprig().get(parts[1])) is not None:
                return self.arguments(node, ".".join(parts), signature, arguments, bound)
            else:
                known = [*(f"sprig.{each}" for each in sprig()), *builtins()]
                self.report(UnknownName("function", ".".join(parts), known), function)
        elif parts is not None and parts[0] in ROOTS:
            self.of_text(function, self.of(function.of, bound), arguments)
        for argument in arguments:
            self.of(argument, bound)
        return "any"

    def of_text(self, function: t.Member, kind: Kind, arguments: tuple[t.Node, ...]) -> None:
        """Reports a method call on a value without methods: functions take such a value as their first argument."""
        if group(kind) not in ("text", "number", "flag", "list"):
            return
        name = self.text[function.of.end : function.end].lstrip("?.")
        close = _METHODS.get(name) or near(name, builtins(), 0.8)
        given = ", ".join(map(self.shown, (function.of, *arguments)))
        way = f"write `{close}({given})`" if close else "write a function of expr-lang around it"
        self.operand(f".{name}()", function.of, kind, way)

    def arguments(
        self,
        node: t.Node,
        name: str,
        signature: Signature,
        arguments: tuple[t.Node, ...],
        bound: dict[str, Kind],
    ) -> Kind:
        """The kind of the result of a function; checks the number and kinds of its arguments."""
        least, most = signature.least, signature.most
        if len(arguments) < least or (most is not None and len(arguments) > most):
            wanted = (
                f"{least}" if most == least else f"at least {least}" if most is None else f"{least} to {most}"
            )
            wanted += " argument" if wanted == "1" else " arguments"
            way = "see the documentation of " + ("sprig" if name.startswith("sprig.") else "expr-lang")
            self.report(WrongArgument(name, wanted, str(len(arguments)), way), node)
            return signature.result
        element: Kind = "any"
        for index, argument in enumerate(arguments):
            if isinstance(argument, t.Closure):
                self.of(argument.body, {**bound, "#": element})
                continue
            kind = self.of(argument, bound)
            wanted_kind = signature.argument(index)
            if index == 0 and wanted_kind == "list" and _is_range(argument):
                element = "whole"
            too_long = kind == "long" and wanted_kind == "whole" and name.startswith("sprig.")
            if too_long or not fits(kind, wanted_kind):
                way = way_to(argument, kind, wanted_kind, self.shown(argument))
                given = f"`{self.shown(argument)}`, which is {WORDS[kind]}"
                wanted = "an int" if too_long else WORDS[wanted_kind]
                self.report(WrongArgument(name, wanted, given, way), argument)
                break
        return signature.result

    def result(self, node: t.Node, kind: Kind, use: Use) -> None:
        """Reports a result that Argo cannot use."""
        if (nil := _nil(node)) is not None:
            way = _OF_FAILURES if isinstance(nil, t.Member) else "give a value in every case, such as `''`"
            self.report(WrongResult(self.shown(nil), "nil", "a value", way), nil)
        elif use == "flag" and group(kind) not in ("", "flag"):
            way = f"compare it, as in `{self.shown(node)} == 'true'`" if kind == "text" else "compare it"
            self.report(WrongResult(self.shown(node), WORDS[kind], "true or false", way), node)
        elif use == "text" and not fits(kind, "text"):
            way = way_to(node, kind, "text", self.shown(node))
            self.report(WrongResult(self.shown(node), WORDS[kind], "text", way), node)
        elif use == "artifact" and group(kind) not in ("", "map"):
            way = "name an artifact, as in `steps.a.outputs.artifacts.b`"
            self.report(WrongResult(self.shown(node), WORDS[kind], "an artifact", way), node)
        elif use == "condition" and group(kind) not in ("", "flag", "text"):
            self.report(WrongResult(self.shown(node), WORDS[kind], "true or false", "compare it"), node)


def _is_range(node: t.Node) -> bool:
    return isinstance(node, t.Binary) and node.operator == ".."


def _nil(node: t.Node) -> t.Node | None:
    """The part whose nil may be the result, or None."""
    match node:
        case t.Literal(None):
            return node
        case t.Conditional(_, yes, no):
            return _nil(yes) or _nil(no)
        case t.Binary("??", _, right):
            return _nil(right)
        case t.Let(_, _, body):
            return _nil(body)
        case t.Member(t.Member(t.Call("fromJSON", (read,)), t.Literal(int())), t.Literal(str(field))):
            return node if _holds_failures(read) and field not in _FAILURE else None
        case _:
            return None


_FAILURE = ("displayName", "message", "templateName", "phase", "podName", "finishedAt")
"""The fields of each failure of a run. Source: Argo Workflows, failedNodeStatus in workflow/controller."""
_OF_FAILURES = f"a failure has {', '.join(f'`{each}`' for each in _FAILURE)}"


def _holds_failures(node: t.Node) -> bool:
    """Whether the node reads the run's failures, which are quoted JSON. Source: strconv.Quote in operate of Argo."""
    match node:
        case t.Call("fromJSON", (one,)):
            return t.path(one) == ("workflow", "failures")
        case _:
            return False
