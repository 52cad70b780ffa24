"""Operations in the functions of steps that fail for every value of the types of their operands."""

from __future__ import annotations

import ast
import builtins
import importlib
from enum import Enum
from functools import cached_property
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING

from flowdsl.compiler.carry.tree import bound_name, names_in
from flowdsl.compiler.checks.attributes import (
    KNOWN,
    Fault,
    class_lacks,
    form_of,
    member_lacks,
    module_lacks,
    object_lacks,
    unbound,
)
from flowdsl.compiler.checks.inference import form
from flowdsl.compiler.checks.unsupported import (
    CLASSES,
    article,
    attribute_way,
    kind_way,
    shown,
    walk_way,
    word,
    write_way,
)
from flowdsl.compiler.checks.variables import Variables
from flowdsl.compiler.findings.bodies import Impossible, NotCalled
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.named import NamedTuple
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from flowdsl.compiler.checks.body import Body

# Attributes that these classes have only in a Python newer than the oldest supported one.
_NEWER = frozenset(
    (
        *("copy", "copy_into", "from_number", "from_uri", "full_match", "info", "is_integer", "is_junction"),
        *("move", "move_into", "parser", "walk", "with_segments"),
    )
)
_NUMBERS = frozenset(("int", "float", "bool"))
_ADDED = frozenset((*_NUMBERS, "str", "bytes", "list", "tuple"))
_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Div: "/"}
_ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_SINGLE = frozenset(("int", "float", "bool", "Path", "NoneType"))
"""Classes whose values have neither items nor a length."""
_WALKED = frozenset(("enumerate", "len", "list", "max", "min", "sorted", "sum", "tuple"))
_ASKING = frozenset(("callable", "getattr", "hasattr", "isinstance", "issubclass", "setattr", "type", "vars"))
"""Functions that inspect a value or its attributes, or add attributes."""
_OPENED = {  # the position of the argument that is an open file, and the remedy for a path
    ("json", "load"): (0, "json.loads({0}.read_text())"),
    ("pickle", "load"): (0, "pickle.loads({0}.read_bytes())"),
    ("tomllib", "load"): (0, "tomllib.loads({0}.read_text())"),
    ("json", "dump"): (1, "{1}.write_text(json.dumps({0}))"),
    ("pickle", "dump"): (1, "{1}.write_bytes(pickle.dumps({0}))"),
}
_VERBS = frozenset(verb for _, verb in _OPENED)
_LOOPS = (ast.For, ast.comprehension)
_NAMED = frozenset((ast.Name, ast.Attribute, ast.Subscript))
"""The expressions that may have an annotated type."""
_ASKED = frozenset((ast.Attribute, ast.Subscript, ast.BinOp, ast.Compare, ast.Call, *_LOOPS))


class _Value(NamedTuple):
    """What is known of an expression: the name of its class, and its annotated type, if any."""

    made: str | None
    kind: t.Type | None = None


_UNKNOWN = _Value(None)


def impossible(body: Body) -> Iterator[Diagnostic]:
    """Accesses to attributes or operations that a value, a class of the file or a standard module lacks."""
    if body.step.plain is not body.step.function:
        return  # a decorator may pass other values
    yield from _Reader(body).found()


class _Reader:
    """The function of a step, and the types of its variables."""

    def __init__(self, body: Body) -> None:
        self._step, self._variables = body.step, body.variables
        self._module, self._evident = body.module, body.evident
        self._own = {*self._step.code.co_varnames, *self._step.code.co_cellvars}
        self._times = body.variables.times
        self._own |= self._times.keys()  # also those of comprehensions
        self._guarded = _guarded(body.variables)
        self._env: dict[str, t.Type] = {}
        for one in body.variables.of(ast.For):
            self._loop(one.target, one.iter)
        for inner in body.variables.of(ast.comprehension):
            if not (isinstance(inner.target, ast.Name) and self._is_known(inner.target.id)):
                self._loop(inner.target, inner.iter)  # otherwise it may be a variable outside of it

    @cached_property
    def _stored(self) -> set[str]:
        """The attributes that the function itself sets."""
        return {one.attr for one in self._variables.of(ast.Attribute) if not isinstance(one.ctx, ast.Load)}

    @cached_property
    def _modules(self) -> dict[str, ast.alias]:
        """The modules that the function imports itself."""
        every = self._variables.of(ast.Import)
        return {bound_name(alias, one): alias for one in every for alias in one.names}

    def found(self) -> Iterator[Diagnostic]:
        """The findings in source order."""
        told: set[ast.AST] = set()
        for one in self._variables.sure:
            if type(one) is ast.Expr and self._is_function(one.value):
                finding = NotCalled(ast.unparse(one.value), has_options=False)
                yield Diagnostic(finding, self._module.span(one))
            if type(one) in _ASKED:
                yield from self._found(one, self._env, told)
                if isinstance(one, ast.Call):
                    for body, env in self._keys(one):
                        for inner in Variables([body]).sure:
                            yield from self._found(inner, env, told)

    def _found(self, node: ast.AST, env: Mapping[str, t.Type], told: set[ast.AST]) -> Iterable[Diagnostic]:
        place, fault = node, self._fault(node, env)
        if isinstance(node, _LOOPS):
            place, fault = node.iter, self._walked(node.iter, env)
        if fault is None or place in told or not isinstance(place, ast.expr):
            return ()
        told.update(ast.walk(place))
        return (Diagnostic(Impossible(self._step.name, shown(place), *fault), self._module.span(place)),)

    def _is_function(self, node: ast.expr) -> bool:
        """Whether an expression is a method or function of the file that is not called."""
        match node:
            case ast.Attribute(owner, attr):
                return callable(getattr(CLASSES.get(self._of(owner, self._env).made or ""), attr, None))
            case ast.Name(name) if name not in self._own:
                return type(self._module.namespace.get(name)) is FunctionType
            case _:
                return False

    # --- types of variables ---------------------------------------------------------------------------

    def _loop(self, target: ast.expr, over: ast.expr) -> None:
        if not isinstance(target, ast.Name) or self._asks_of(over):
            return
        kind = self._kind(over, self._env)
        once = self._times[target.id] == 1 and target.id not in self._step.signature.by_name
        if isinstance(kind, t.Sequence) and once:
            self._env[target.id] = kind.item

    def _keys(self, node: ast.Call) -> Iterator[tuple[ast.expr, Mapping[str, t.Type]]]:
        """The bodies of `key=lambda one: ...`, whose argument is an item of a list."""
        match node:
            case ast.Call(ast.Name("min" | "max" | "sorted"), [over], keywords):
                kind = self._kind(over, self._env)
                for one in keywords:
                    match one.value:
                        case ast.Lambda(ast.arguments([], [ast.arg(name)]), body) if isinstance(
                            kind, t.Sequence
                        ):
                            yield body, {**self._env, name: kind.item}
                        case _:
                            pass
            case _:
                pass

    def _asks_of(self, node: ast.expr) -> bool:
        """Whether the function inspects the type of a variable in this expression."""
        return bool(self._guarded) and not self._guarded.isdisjoint(names_in(node))

    def _kind(self, node: ast.expr, env: Mapping[str, t.Type]) -> t.Type | None:
        """The annotated type of an expression."""
        match node:
            case ast.Name(name) if name in env:
                return env[name]
            case ast.Name(name) if name not in self._times and name in self._step.signature.by_name:
                return self._step.signature.by_name[name].type
            case ast.Attribute(owner, attr):
                kind = self._kind(owner, env)
                fields = kind.fields if isinstance(kind, t.Record) else ()
                return next((one.type for one in fields if one.name == attr), None)
            case ast.Subscript(owner, index):
                kind = self._kind(owner, env)
                if isinstance(kind, t.Mapping):
                    return kind.item
                single = isinstance(index, (ast.Constant, ast.UnaryOp))
                return kind.item if isinstance(kind, t.Sequence) and single else None
            case _:
                return None

    def _of(self, node: ast.expr, env: Mapping[str, t.Type]) -> _Value:
        if isinstance(node, ast.Constant):
            return _Value(type(node.value).__name__)
        if self._asks_of(node):
            return _UNKNOWN
        kind = self._kind(node, env) if type(node) in _NAMED else None
        if kind is not None:
            kind = t.without_none(kind)
            return _Value(form(kind), kind)
        if env and not env.keys().isdisjoint(names_in(node)):
            return _UNKNOWN
        return _Value(self._evident.of(node))

    # --- unsupported operations -----------------------------------------------------------------------

    def _fault(self, node: ast.AST, env: Mapping[str, t.Type]) -> Fault | None:
        # Dispatches by class, since most nodes are none of these and `match` tries the patterns in turn.
        if isinstance(node, ast.Call):
            return self._call(node, env)
        if isinstance(node, ast.BinOp):
            return self._operation(node, env)
        if isinstance(node, ast.Compare):
            return self._comparison(node, env)
        if isinstance(node, ast.Attribute):
            return self._attribute(node.value, node.attr, env) if isinstance(node.ctx, ast.Load) else None
        if isinstance(node, ast.Subscript):
            return self._item(node.value, node.slice, env) if isinstance(node.ctx, ast.Load) else None
        return None

    def _comparison(self, node: ast.Compare, env: Mapping[str, t.Type]) -> Fault | None:
        if len(node.ops) > 1 or not isinstance(node.ops[0], _ORDERS):
            return None
        one, other = self._of(node.left, env).made, self._of(node.comparators[0], env).made
        texts = (one == "str" and other in _NUMBERS) or (other == "str" and one in _NUMBERS)
        if texts or (one in CLASSES and other in CLASSES and "NoneType" in (one, other)):
            why = f"{article(one)} is neither less nor more than {article(other)}"
            return Fault(why, "TypeError", "compare two numbers, or two texts")
        return None

    def _walked(self, over: ast.expr, env: Mapping[str, t.Type]) -> Fault | None:
        made = self._of(over, env).made
        if made not in _SINGLE:
            return None
        return Fault(f"{article(made)} has no items", "TypeError", walk_way(made, ast.unparse(over)))

    def _attribute(self, owner: ast.expr, attr: str, env: Mapping[str, t.Type]) -> Fault | None:
        if attr in self._stored or attr in _NEWER or (attr[:2] == "__" and attr[-2:] == "__"):
            return None
        made, kind = self._of(owner, env)
        text = ast.unparse(owner)
        if isinstance(kind, t.Record):
            return object_lacks(kind.cls, attr, [one.name for one in kind.fields])
        if isinstance(kind, t.Enumeration):
            return member_lacks(kind.cls, attr)
        if made in CLASSES:
            if hasattr(CLASSES[made], attr):
                return None
            why = f"{article(made)} has no `{attr}`"
            return Fault(why, "AttributeError", attribute_way(made, attr, text))
        return self._of_module(owner, attr)

    def _of_module(self, owner: ast.expr, attr: str) -> Fault | None:
        """The fault of an attribute that a class of the file or a standard module lacks."""
        value = self._value(owner)
        if isinstance(value, type) and value.__module__ == self._module.namespace.get("__name__"):
            return None if self._is_given(attr) else class_lacks(value, attr)
        return module_lacks(value, attr) if type(value) is ModuleType else None

    def _is_given(self, attr: str) -> bool:
        """Whether something in the file may set this attribute on a class."""
        text = self._module.file.text
        return "setattr" in text or f".{attr} =" in text or f".{attr}:" in text

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Name(name) if name in self._modules and self._times.get(name) == 1:
                alias = self._modules[name]
                top = alias.name if alias.asname else alias.name.partition(".")[0]
                return importlib.import_module(top) if top in KNOWN else None
            case ast.Name(name) if name not in self._own:
                return self._module.namespace.get(name)
            case ast.Attribute(owner, attr):
                value = self._value(owner)
                return getattr(value, attr, None) if type(value) is ModuleType else None
            case _:
                return None

    def _item(self, owner: ast.expr, index: ast.expr, env: Mapping[str, t.Type]) -> Fault | None:
        made, kind = self._of(owner, env)
        text, key = ast.unparse(owner), index.value if isinstance(index, ast.Constant) else None
        if isinstance(kind, t.Record):
            cls = kind.cls
            rows = issubclass(cls, tuple)
            if (rows and not isinstance(key, str)) or (not rows and hasattr(cls, "__getitem__")):
                return None
            names = [one.name for one in kind.fields]
            way = f"write `{text}.{key}`" if key in names else f"its fields are {', '.join(names)}"
            why = f"{article(cls.__name__)} has fields, and no {'keys' if isinstance(key, str) else 'items'}"
            return Fault(why, "TypeError", way)
        if made in _SINGLE:
            way = f"take one of `{text}.parts`" if made == "Path" else kind_way(text)
            return Fault(f"{article(made)} has no items", "TypeError", way)
        if made in ("list", "tuple", "str") and isinstance(key, str):
            return Fault(f"{article(made)} has no keys", "TypeError", "take an item by its number")
        return None

    def _operation(self, node: ast.BinOp, env: Mapping[str, t.Type]) -> Fault | None:
        left, operator, right = node.left, node.op, node.right
        if type(operator) not in _OPERATORS:
            return None
        one, other = self._of(left, env), self._of(right, env)
        first, second = one.made, other.made
        if first not in CLASSES or second not in CLASSES or "set" in (first, second):
            return None
        if first in _NUMBERS and second in _NUMBERS:
            return None
        if isinstance(operator, ast.Add) and first == second and first in _ADDED:
            return None
        if isinstance(operator, ast.Div) and {first, second} <= {"Path", "str"} and "Path" in (first, second):
            return None
        sign = _OPERATORS[type(operator)]
        way = "make both of one type"
        if isinstance(operator, ast.Add) and "Path" in (first, second):
            way = f"join paths with `/`, or write `str({ast.unparse(left if first == 'Path' else right)})`"
        elif isinstance(operator, ast.Add) and "str" in (first, second):
            wrong = right if first == "str" else left
            way = f"write `str({ast.unparse(wrong)})`, or an f-string"
        return Fault(f"`{sign}` takes no {word(first)} and {word(second)}", "TypeError", way)

    def _call(self, node: ast.Call, env: Mapping[str, t.Type]) -> Fault | None:
        match node:
            case ast.Call(ast.Name(name)) if self._is_builtin(name):
                lacking = unbound(getattr(builtins, name), node)
                if lacking.startswith("missing"):
                    return Fault(lacking, "TypeError", f"give `{name}` what it needs")
                return self._of_builtin(name, node.args, env)
            case ast.Call(ast.Name(name) as called):
                made = self._of(called, env).made
                if made in CLASSES:
                    way = f"give the variable another name, if a function `{name}` is meant"
                    return Fault(f"{article(made)} is not a function", "TypeError", way)
                return self._of_file(name, node)
            case ast.Call(ast.Attribute(owner, verb)) if lacking := self._too_few(node, owner, verb, env):
                return Fault(lacking, "TypeError", f"give `{verb}` what it needs")
            case ast.Call(ast.Attribute(ast.Name() as source, verb), items, []) if verb in _VERBS:
                module = getattr(self._value(source), "__name__", "")
                return self._of_path(module, verb, items, env) if (module, verb) in _OPENED else None
            case ast.Call(ast.Attribute(owner, "write_text" | "write_bytes" as verb), [one], []):
                wanted = "str" if verb == "write_text" else "bytes"
                made = self._of(one, env).made
                if made in CLASSES and made != wanted and self._of(owner, env).made == "Path":
                    why = f"`{verb}` takes {wanted}, not {article(made)}"
                    return Fault(why, "TypeError", write_way(made, one, verb))
            case _:
                pass
        return None

    def _is_known(self, name: str) -> bool:
        """Whether a name is defined in the file or built in."""
        return name in self._module.namespace or hasattr(builtins, name)

    def _is_builtin(self, name: str) -> bool:
        return name not in self._own and name not in self._module.namespace and hasattr(builtins, name)

    def _of_builtin(self, name: str, items: list[ast.expr], env: Mapping[str, t.Type]) -> Fault | None:
        if name in _WALKED and len(items) == 1:
            return self._walked(items[0], env)
        for one in items if name == "range" else ():
            made = self._of(one, env).made
            if made in CLASSES and made not in ("int", "bool"):
                text = ast.unparse(one)
                way = f"write `int({text})`, or annotate it as int"
                if made in ("list", "tuple", "dict"):
                    way = f"write `range(len({text}))`"
                return Fault(f"`range` takes whole numbers, not {article(made)}", "TypeError", way)
        return None

    def _of_file(self, name: str, node: ast.Call) -> Fault | None:
        """The fault of a call of a function or class of the file whose arguments do not fit."""
        value = self._module.namespace.get(name) if name not in self._own else None
        if isinstance(value, type):
            made: Callable[..., object] = value
            returned = self._step.signature.returns
            if made.__module__ != self._module.namespace.get("__name__") or issubclass(value, Enum):
                return None
            if isinstance(returned, t.Record) and returned.cls is made:
                return None  # reported for results
        elif isinstance(value, FunctionType) and value.__globals__ is self._module.namespace:
            made = value
        else:
            return None
        problem = unbound(made, node)
        return Fault(problem, "TypeError", f"it is `{name}{form_of(made)}`") if problem else None

    def _too_few(self, node: ast.Call, owner: ast.expr, verb: str, env: Mapping[str, t.Type]) -> str:
        """The missing arguments of a call of a method or a function of Python; later versions may accept more."""
        cls, module = CLASSES.get(self._of(owner, env).made or ""), self._value(owner)
        known = type(module) is ModuleType and module.__name__ in KNOWN
        function = getattr(module if known else cls, verb, None)
        if function is None or isinstance(function, type):
            return ""
        problem = unbound(function, node, bound=not known)
        return problem if problem.startswith("missing") else ""

    def _of_path(
        self, module: str, verb: str, items: list[ast.expr], env: Mapping[str, t.Type]
    ) -> Fault | None:
        """The fault of a path in place of an open file."""
        at, written = _OPENED[module, verb]
        made = self._of(items[at], env).made if len(items) > at else None
        if made not in ("Path", "str"):
            return None
        texts = [ast.unparse(one) for one in items]
        if made == "str":
            texts[at] = f"Path({texts[at]})"
        why = f"`{module}.{verb}` takes an open file, not {article(made)}"
        return Fault(why, "AttributeError", f"write `{written.format(*texts)}`")


def _guarded(variables: Variables) -> set[str]:
    """The variables whose types a function inspects."""
    found: set[str] = set()
    for call in variables.of(ast.Call):
        if call.args and isinstance(call.func, ast.Name) and call.func.id in _ASKING:
            found.update(names_in(call.args[0]))
    for one in variables.of(ast.Match):
        found.update(names_in(one.subject))
    return found
