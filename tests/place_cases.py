"""Snippets with their expected spans between « and »: all recorded places must be just these.

Runs by itself under any Python, without pytest: `python -m tests.place_cases` prints how many snippets held.
"""

from __future__ import annotations

import linecache
import sys
from inspect import unwrap
from types import ModuleType
from typing import Any, NamedTuple

from flowdsl.places.place import Argument, Definition, Site, Span
from flowdsl.places.source import Sources

# Functions of a language: as modules of flowdsl, their frames are skipped in the search for the user's frame.
PROBE = """
import functools
from flowdsl.places.place import here

met = []

def note(*args):
    met.append((here(), len(args)))

class Value:
    def options(self, *args, **named):
        note(*args)
        return self
    def __call__(self, *args, **named):
        note(*args)
        return self
    def __add__(self, other):
        note()
        return self
    __radd__ = __mul__ = __lt__ = __gt__ = __and__ = __or__ = __getitem__ = __truediv__ = __add__
    def __neg__(self):
        note()
        return self
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        note()
        return self
    def __format__(self, spec):
        note()
        return "text"
    def __bool__(self):
        note()
        return True
    def __iter__(self):
        note()
        return iter((1,))
    def __contains__(self, item):
        note()
        return True
    def __enter__(self):
        note()
        return self
    def __exit__(self, *args):
        note()

def call(*args, **named):
    note(*args)
    return args[0] if args else None

def step(**options):
    note()
    return lambda function: function

def bare(function):
    note(function)
    return function

def nested(*args, **named):
    return through(*args, **named)

def through(*args, **named):
    note(*args)

class when:
    def __init__(self, *args):
        note(*args)
    def __enter__(self):
        return self
    def __exit__(self, *args):
        return None

value = Value()
"""


class Case(NamedTuple):
    """One snippet: what is resolved at each recorded site, and for which versions of Python the spans hold."""

    name: str
    text: str
    keyword: str | None = None
    position: int | None = None
    part: str = "value"
    since: tuple[int, int] = (3, 11)
    until: tuple[int, int] = (4, 0)


def kw(name: str, text: str, keyword: str, part: str = "value") -> Case:
    return Case(name, text, keyword, None, part)


def at(name: str, text: str, position: int) -> Case:
    return Case(name, text, None, position)


NOWHERE = compile("", "", "exec")  # stands for the code of the requested function

SITES = [
    Case("a call", "«call(1)»"),
    Case("a call in a longer line", "x = [1, «call(1)», 2]"),
    Case("a call over several lines", "x = «call(\n    1,\n    lr=2,\n)»  # end"),
    Case("twice on one line", "«call(1)»; «call(2)»"),
    Case("nested", "«call(«call(1)», a=«call(2)»)»"),
    Case("a list comprehension", "x = [«call(i)» for i in range(2)]"),
    Case("a dict comprehension", "x = {i: «call(i)» for i in range(2)}"),
    Case("a generator", "x = list(«call(i)» for i in range(2))"),
    Case("a lambda", "f = lambda x: «call(x)»\nf(1)"),
    Case("a helper function", "def helper(x):\n    return «call(x)»\nhelper(1)\nhelper(2)"),
    Case("a method of the user's", "class A:\n    def run(self):\n        «call(self)»\nA().run()"),
    Case("a method of ours", "x = «value.options(retries=2)»"),
    Case("a call with options", "x = ««value.options(retries=2)»(1)»"),
    Case("a chain over several lines", "x = (\n    value\n    .«options(\n        retries=2\n    )»\n)"),
    Case("a starred chain over several lines", "x = (\n    «value\n    .options(*[1])»\n)"),
    Case("an alias", "train = call\n«train(1)»"),
    Case("an attribute of a module", "import flowdsl._probe as probe\n«probe.call(1)»"),
    Case("through two functions of ours", "«nested(1)»"),
    Case("text that is not ASCII", "é = 'ü'; «call('日本', ключ=é)»  # ё"),
    Case("after wide characters", "x = ['🚀', '日本', «call('ü')»]"),
    Case("a tab and a form feed", "if True:\n\tx = «call(1)»\n\x0cy = «call(2)»"),
    Case("parentheses are not part of it", "x = («call(1)»)"),
    Case("a star", "a = [1, 2]\n«call(*a)»"),
    Case("two stars", "a = {'b': 1}\n«call(**a)»"),
    Case("partial", "import functools\nf = functools.partial(call, 1)\n«f(2)»"),
    Case("map in a loop", "for x in «map(call, [1])»:\n    pass"),
    Case("map in list()", "x = «list(map(call, [1]))»"),
    Case("a decorator", "@«step(image='a')»\ndef f(): pass"),
    Case("a decorator over several lines", "@«step(\n    image='a',\n    cpu=2,\n)»\ndef f(): pass"),
    Case("two decorators", "@«step(cpu=1)»\n@«step(cpu=2)»\nasync def f(): pass"),
    Case("a decorator without parentheses", "@«bare»\ndef f(): pass"),
    Case("a with statement's call", "with «when(1)»:\n    pass"),
    Case("two calls in one with statement", "with «when(1)» as a, «when(2)» as b:\n    pass"),
    Case("a with statement of ours", "with «value»:\n    pass"),
    Case("an operator", "x = «value + 1»"),
    Case("an operator from the right", "x = («1 + value»)"),
    Case("operators in a row", "x = ««value * 1» + 2»"),
    Case("an operator over several lines", "x = («value\n     + 1»)"),
    Case("a minus sign", "x = «-value»"),
    Case("a comparison", "x = «value < 3»"),
    Case("a comparison from the right", "x = «3 < value»"),
    Case("and, or of conditions", "x = «(«value < 3») & («value > 1»)»"),
    Case("membership", "x = «1 in value»"),
    Case("a subscript", "x = «value['a']»"),
    Case("an attribute", "x = «value.best»"),
    Case("attributes in a row", "x = ««value.best».accuracy»"),
    Case("an attribute on a new line", "x = (value\n     .«best»)"),
    Case("a hole of an f-string", "x = f'runs/{«value»}'"),
    Case("a hole of an f-string over lines", 'x = f"""\nruns/{«value»}\n"""'),
    Case("an expression in an f-string", "x = f'é{str(«value + 1») * 0}{2}'"),
    Case("two holes of an f-string", "x = f'{«value»}/{«value»}'"),
    Case("two holes of an f-string over lines", 'x = f"""{1:{2}}\n{«value»}{3!r}\n{«value»}"""'),
    Case("f-strings in an f-string", "x = f'{1}{f\"{«value»}{2}\"}{«value»}'"),
    Case("a call in an f-string", "x = f'{«call(1)»}/{2}'"),
    Case("if", "if «value»:\n    pass"),
    Case("elif", "if 0:\n    pass\nelif «value»:\n    pass"),
    Case("while", "while «value»:\n    break"),
    Case("assert", "assert «value», 'text'"),
    Case("a conditional expression", "x = 1 if «value» else 2"),
    Case("not", "x = «not value»"),
    Case("for", "for x in «value»:\n    pass"),
    Case("a comprehension's source", "x = [y for y in «value»]"),
    Case("a set comprehension's source", "x = {y for y in «value»}"),
    Case("a comprehension's filtered source", "x = [y for y in «value» if y]"),
    Case("a generator's source", "x = sum(y for y in «value»)"),
    Case("a comprehension's condition", "x = [y for y in [1] if «value»]", since=(3, 12)),
    Case("a comprehension's condition", "x = «[y for y in [1] if value]»", until=(3, 12)),
    Case("a comprehension in a comprehension", "x = [[y for y in «value»] for z in [1]]"),
    Case("unpacking", "«x,» = value"),
    Case("unpacking in a call", "x = «call(*value)»"),
    Case("unpacking in a list", "x = «[*value]»"),
    Case("a built-in function", "x = «list(value)»"),
    Case("a class body", "class A:\n    x = «call(1)»"),
    Case("a default", "def f(x=«call(1)»): pass"),
    Case(
        "an annotation", "def f(x: «call(1)»): pass", until=(3, 14)
    ),  # from that version on evaluated lazily
    Case("match", "match «call(1)»:\n    case 1: pass"),
    Case(
        "a try block",
        "try:\n    raise ValueError\nexcept ValueError:\n    «call(1)»\nfinally:\n    «call(2)»",
    ),
]

ARGUMENTS = [
    kw("a keyword's value", "call(1, lr=«0.1»)", "lr"),
    kw("a keyword's name", "call(1, «lr»=0.1)", "lr", "name"),
    kw("a keyword's name that is not ASCII", "call('é', «größe» = 1)", "größe", "name"),
    kw("a keyword's name that Python folds", "call(1, «ﬁle»=1)", "file", "name"),
    kw("a keyword's value over several lines", "call(\n    1,\n    lr=«[\n        1,\n    ]»,\n)", "lr"),
    kw("a keyword on its own line", "call(\n    1,\n    «leanring_rate»=2,\n)", "leanring_rate", "name"),
    kw("a value in parentheses", "call(lr=(«0.1»))", "lr"),
    kw("a keyword that the text does not have", "a = {'lr': 1}\n«call(1, **a)»", "lr"),
    kw("a keyword of partial", "import functools\nf = functools.partial(call, lr=1)\n«f(2)»", "lr"),
    kw("a keyword of the inner call", "«value.options(retries=«2»)(1, lr=3)»", "retries"),
    kw("a keyword of a decorator", "@step(image='a', memory=«'8GB'»)\ndef f(): pass", "memory"),
    kw(
        "a decorator's keyword over lines",
        "@step(\n    image='a',\n    memory=«'8GB'»,\n)\ndef f(): pass",
        "memory",
    ),
    kw("a decorator's keyword name", "@step(«imag»='a')\ndef f(): pass", "imag", "name"),
    kw(
        "a keyword in a chain over lines",
        "x = (\n    value\n    .options(\n        retries=«2»\n    )\n)",
        "retries",
    ),
    kw("after text that is not ASCII", "call('日本', lr=«'ü'»)  # é", "lr"),
    kw("an item of a dict", "call(1, over={'a': [1], 'lr': «[2]»})", "over", "item:lr"),
    kw("a key of a dict", "call(1, over={'a': [1], «'lr'»: [2]})", "over", "key:lr"),
    kw("an item of a call with keywords", "dict(x=call(over=dict(a=[1], lr=«[2]»)))", "over", "item:lr"),
    kw("a key of a call with keywords", "dict(x=call(over=dict(a=[1], «lr»=[2])))", "over", "key:lr"),
    kw("an item of a variable", "space = {'lr': 1}\ncall(over=«space»)", "over", "item:lr"),
    kw("an item that is unpacked", "more = {'lr': 1}\ncall(over=«{**more}»)", "over", "item:lr"),
    at("a position", "call(1, «2», lr=3)", 1),
    at("a position over several lines", "call(\n    1,\n    «call»,\n)", 1),
    at("a position with options", "call(1).real if 0 else (call)(1, «2»)", 1),
    at("a surplus position", "call(1, 2, «3»)", 2),
    at("a position with a star", "a = [2]\n«call(1, *a)»", 0),
    at("a position of partial", "import functools\nf = functools.partial(call, 1)\n«f(2)»", 0),
    at("a position of map", "for x in «map(call, [1])»:\n    pass", 0),
    at("a position of with", "with when(«1 < 2»):\n    pass", 0),
    at("a position of a lambda", "f = lambda x: call(«x + 1»)\nf(1)", 0),
    at("a position that is a generator", "call«(i for i in [1])»", 0),
    at("a position of an operator", "x = «value + 1»", 0),
    at("a position of a decorator without parentheses", "@«bare»\ndef f(): pass", 0),
]

# The variable to which the result of the last call in a snippet is assigned.
ASSIGNED = {
    "x = call(1)": "x",
    "x: int = call(1)": "x",
    "x = (call(1))": "x",
    "(x := call(1))": "x",
    "if (x := call(1)) and True:\n    pass": "x",
    "str(x := call(1))": "x",
    "x = value.options(a=1)": "x",
    "x = (\n    value\n    .options(a=1)\n)": "x",
    "x = call(\n    1,\n    2,\n)": "x",
    "def f():\n    x = call(1)\n    return x\nf()": "x",
    "def f():\n    global x\n    x = call(1)\nf()": "x",
    "def f():\n    x = call(1)\n    return lambda: x\nf()": "x",
    "def f():\n    x = call(1)\n    y = x\n    return y\nf()": "x",
    "with when():\n    x = 1\nx = 2": None,
    "if True:\n    x = call(1)": "x",
    "for i in [1, 2]:\n    x = call(i)": "x",
    "try:\n    pass\nfinally:\n    x = call(1)": "x",
    "try:\n    raise ValueError\nexcept ValueError:\n    x = call(1)": "x",
    "match 1:\n    case 1:\n        x = call(1)": "x",
    "class A:\n    x = call(1)": "x",
    "while True:\n    x = call(1)\n    break\nelse:\n    pass": "x",
    "größe = call(1)": "größe",
    "y, x = 1, call(1)": "x",
    "y, x = str(1), call(1)": "x",
    "z, y, x = 1, str(str(2)), call(1)": "x",
    "[d, c, b, a, x] = [1, str(2), int(3), 4, call(1)]": "x",
    "y, (x, z) = str(1), (call(1), str(2))": "x",
    "def f():\n    y, x = str(1), call(1)\n    return y\nf()": "x",
    "x, y = (\n    value\n    .options(a=1),\n    str(value),\n)": "x",
    "y, x = lambda: str(1), call(1)": "x",
    "x, *y = call(1), 2, 3": None,
    "x, y = *[call(1)], 2": None,
    "x = call(1), 2": None,
    "x, y = [call(i) for i in [1, 2]]": None,
    "x = y = call(1)": None,
    "y = 1; x = [call(1)]": None,
    "x = call(1) or 2": None,
    "x, y = call((1, 2))": None,
    "x = {}\nx['a'] = call(1)": None,
    "class A: pass\nA.x = call(1)": None,
    "x = 1\nx += call(1)": None,
    "call(1)": None,
    "x = 1; call(1)": None,
    "x = [call(i) for i in [1]]": None,
    "y = 1; x = int(call(1)); z = 2": None,
    "def f():\n    return call(1)\nx = f()": None,
    "x = 1; y = int(call(2))": None,
}
# Beyond 256 names an instruction needs a prefix of its own.
ASSIGNED["\n".join(f"x{i} = {i}" for i in range(300)) + "\nlast = call(1)"] = "last"

# Parts of the function `f` of a snippet.
DEFINITIONS: list[tuple[Definition, str]] = [
    (Definition(NOWHERE), "def «f»(x): pass"),
    (Definition(NOWHERE), "@step(image='a')\n@step(\n    cpu=1\n)\nasync   def «f»(x):\n    pass"),
    (Definition(NOWHERE), "def f(): pass\ndef «f»(): pass"),
    (Definition(NOWHERE), "class A:\n    @staticmethod\n    def «größe»(): pass\nf = A.größe"),
    (Definition(NOWHERE), "if True:\n    def «f»(): pass\nelse:\n    def f(): pass"),
    (Definition(NOWHERE), "def \\\n  «f»(): pass"),
    (
        Definition(NOWHERE),
        "import functools\ndef log(f):\n    return functools.wraps(f)(lambda: f())\n@log\ndef «f»(): pass",
    ),
    (Definition(NOWHERE, "x"), "def f(a, /, b, *more, «x»: 'list[int]'): pass"),
    (Definition(NOWHERE, "x"), "def f(a, *«x»): pass"),
    (Definition(NOWHERE, "x"), "def f(a, **«x»: int): pass"),
    (Definition(NOWHERE, "x"), "def «f»(a): pass"),
    (Definition(NOWHERE, "x", "annotation"), "def f(\n    a,\n    x: «list[\n        int\n    ]»,\n): pass"),
    (Definition(NOWHERE, "return", "annotation"), "def f(a) -> «tuple[int, str]»: pass"),
    (Definition(NOWHERE, "return", "annotation"), "def «f»(a): pass"),
    (Definition(NOWHERE, "x"), "def f(a, «x»: int = 2): pass"),
    (Definition(NOWHERE, "x"), "def f(é='é', *, «x»: int = 2): pass"),
    (Definition(NOWHERE, "x", "annotation"), "def f(a, x: «int» = 2): pass"),
    (Definition(NOWHERE, "x", "annotation"), "def «f»(a, x = 2): pass"),
    (Definition(NOWHERE, "x", "default"), "def f(a, b=1, x: int = «2»): pass"),
    (Definition(NOWHERE, "x", "default"), "def f(a, /, b, *, c, x: int = «2», y): pass"),
    (Definition(NOWHERE, "x", "default"), "def «f»(a, x, b=1): pass"),
    (Definition(NOWHERE, "y", "default"), "def «f»(a, x=1): pass"),
    (Definition(NOWHERE, "return"), "def f(a) -> «int»: pass"),
]


def probe() -> ModuleType:
    module = ModuleType("flowdsl._probe")
    exec(compile(PROBE, "<probe>", "exec"), module.__dict__)
    return module


def marked(text: str) -> tuple[str, set[tuple[int, int, int, int]]]:
    """The text without its marks, and their spans: line, column, end line, end column."""
    plain: list[str] = []
    line = column = 1
    begun: list[tuple[int, int]] = []
    places: set[tuple[int, int, int, int]] = set()
    for char in text:
        if char == "«":
            begun.append((line, column))
        elif char == "»":
            places.add((*begun.pop(), line, column))
        else:
            plain.append(char)
            line, column = (line + 1, 1) if char == "\n" else (line, column + 1)
    return "".join(plain), places


def run(text: str, filename: str, into: dict[str, Any] | None = None) -> list[tuple[Site, int]]:
    """Execute a snippet; returns the recorded sites, with the number of positional arguments."""
    module = probe()
    scope: dict[str, Any] = {} if into is None else into
    sys.modules[module.__name__] = module
    scope.update((name, thing) for name, thing in vars(module).items() if not name.startswith("__"))
    try:
        scope["__name__"] = "user"
        exec(compile(text, filename, "exec", dont_inherit=True), scope)
    finally:
        del sys.modules[module.__name__]
    met: list[tuple[Site, int]] = module.met
    return met


def spans(case: Case, plain: str, sources: Sources) -> set[tuple[int, int, int, int]]:
    found: set[tuple[int, int, int, int]] = set()
    for site, arrived in run(plain, "snippet.py"):
        place: Site | Argument = site
        if case.keyword is not None or case.position is not None:
            place = Argument(site, case.keyword, case.position, case.part, arrived)
        span = sources.resolve(place)
        assert span is not None
        assert span.file == "snippet.py"
        found.add(tuple(span[1:]))  # type: ignore[arg-type]  # a span's four numbers
    return found


def check(case: Case) -> None:
    """Compare the spans of all places of a snippet with its marks."""
    plain, expected = marked(case.text)
    sources = Sources()
    sources.add("snippet.py", plain)
    assert spans(case, plain, sources) == expected, case.name
    # The same through linecache, as for a notebook's cell.
    linecache.cache["snippet.py"] = (len(plain), None, plain.splitlines(keepends=True), "snippet.py")
    try:
        assert spans(case, plain, Sources()) == expected, case.name
    finally:
        del linecache.cache["snippet.py"]


def check_assigned(text: str, name: str | None) -> None:
    """Compare the variable of the last place of a snippet with the expected one."""
    sources = Sources()
    sources.add("snippet.py", text)
    for site, _ in run(text, "snippet.py"):
        assert sources.assigned(site) == name, text


def check_definition(part: Definition, text: str) -> None:
    """Compare the span of a part of `f` with the mark."""
    plain, expected = marked(text)
    sources = Sources()
    sources.add("snippet.py", plain)
    scope: dict[str, Any] = {}
    run(plain, "snippet.py", scope)
    span = sources.resolve(part._replace(code=unwrap(scope["f"]).__code__))
    assert span is not None
    assert {tuple(span[1:])} == expected, text


def applies(case: Case) -> bool:
    return case.since <= sys.version_info[:2] < case.until


def check_without_columns(case: Case) -> None:
    """Check the results without debug ranges: the line of a mark, and no column."""
    plain, expected = marked(case.text)
    sources = Sources()
    sources.add("snippet.py", plain)
    for site, _ in run(plain, "snippet.py"):
        span = sources.resolve(site)
        assert span is not None
        assert span == Span("snippet.py", span.line, 0, span.line, 0)
        if "f-string" in case.name:
            continue  # 3.11 has the first line of the string
        assert span.line in {line for first, _, last, _ in expected for line in range(first, last + 1)}, (
            case.name
        )


def main() -> int:
    """Check all snippets; with `-X no_debug_ranges` only their lines and variables."""
    columns = next(iter(compile("x", "", "eval").co_positions()))[2] is not None
    cases: list[Any] = [case for case in SITES + ARGUMENTS if applies(case)]
    for case in cases:
        if columns:
            check(case)
        elif case in SITES:
            check_without_columns(case)
    for text, name in ASSIGNED.items():
        check_assigned(text, name)
    for part, text in DEFINITIONS:
        check_definition(part, text)
    return len(cases) + len(ASSIGNED) + len(DEFINITIONS)


if __name__ == "__main__":
    sys.stdout.write(f"{main()} snippets\n")
