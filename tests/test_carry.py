"""What is carried of a module, and what is refused: tests/carry/<case>.py with its golden files.

`<case>.txt` is the carried source below a line that says what else came of it; `<case>.err` the findings.
`UPDATE_GOLDEN=1 pytest tests/test_carry.py` writes them anew.
"""

from __future__ import annotations

import ast
import os
import sys
import types
import warnings
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowdsl.compiler.carry.carry import Carried, ModuleSource, carry
from flowdsl.compiler.carry.text import keep_dollars
from flowdsl.compiler.load import Loaded, load
from flowdsl.diagnostic import Diagnostic
from flowdsl.places.place import Span
from flowdsl.values import types as t
from flowdsl.values.signature import read

FOLDER = Path(__file__).parent / "carry"
CASES = sorted(path.stem for path in FOLDER.glob("*.py") if not path.name.startswith("_"))
UPDATE = bool(os.environ.get("UPDATE_GOLDEN"))


def function_of(loaded: Loaded) -> FunctionType:
    made: Any = loaded.module.train
    while not isinstance(made, FunctionType):
        made = made.__wrapped__
    return made


def classes_in(kind: t.Type) -> list[type[Any]]:
    """The classes that reading a value of the type needs."""
    match kind:
        case t.Enumeration(cls):
            return [cls]
        case t.Record(cls, fields):
            return [cls, *(inner for field in fields for inner in classes_in(field.type))]
        case t.Sequence(item) | t.Mapping(item) | t.Maybe(item):
            return classes_in(item)
        case _:
            return []


def carried(path: Path) -> tuple[Loaded, Carried | None, list[Diagnostic]]:
    loaded = load(path)
    function = function_of(loaded)
    needed = [cls for parameter in read(function).parameters for cls in classes_in(parameter.type)]
    made, found = carry(function, ModuleSource(loaded.source, vars(loaded.module)), needed)
    return loaded, made, found


def shown(loaded: Loaded, found: list[Diagnostic]) -> str:
    """The findings as text, in the order of their places."""
    lines: list[tuple[Span, str]] = []
    for diagnostic in found:
        assert diagnostic.place is not None
        finding, span = diagnostic.finding, loaded.sources.resolve(diagnostic.place)
        assert span is not None
        other = "" if span.file == loaded.source.filename else f"{Path(span.file).name}:"
        where = f"{other}{span.line}:{span.column}-{span.end_line}:{span.end_column}"
        text = [
            f"{where}: {finding.severity}[{finding.code}]: {finding.message}",
            finding.caption,
            finding.advice,
        ]
        for related in diagnostic.related:
            place = loaded.sources.resolve(related.place)
            assert place is not None
            text.append(f"{related.message}, {place.line}:{place.column}")
        lines.append((span, "\n  ".join(text)))
    return "".join(f"{text}\n" for _, text in sorted(lines))


def summary(made: Carried) -> str:
    needs = f"{made.needs[0]}.{made.needs[1]}"
    classes = ", ".join(name for _, name in made.classes)
    by_position = ", ".join(made.positional)
    parts = [f"{made.function} on Python {needs}", f"classes: {classes}", f"by position: {by_position}"]
    return f"# {'; '.join(part for part in parts if not part.endswith(': '))}\n"


def golden(path: Path, text: str | None) -> None:
    if UPDATE:
        path.unlink(missing_ok=True)
        if text:
            path.write_text(text, encoding="utf-8")
    expected = path.read_text(encoding="utf-8") if path.exists() else None
    assert (text or None) == expected


@pytest.mark.parametrize("case", CASES)
def test_a_case(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    loaded, made, found = carried(FOLDER / f"{case}.py")
    golden(FOLDER / f"{case}.txt", made and summary(made) + made.text)
    golden(FOLDER / f"{case}.err", shown(loaded, found))
    assert (made is None) == any(one.finding.severity == "error" for one in found)
    if made is not None:
        assert len(made.lines()) == len(ast.parse(made.text).body), "one line for each statement"
    if made is not None and hasattr(loaded.module, "ARGUMENTS"):
        module = ModuleType("carried")
        monkeypatch.setitem(sys.modules, "carried", module)
        names = vars(module)
        names["__file__"] = str(FOLDER / f"{case}.py")
        exec(compile("from __future__ import annotations\n" + made.text, case, "exec"), names)
        assert made.names >= {made.function}
        given = dict(loaded.module.ARGUMENTS)
        by_position = [given.pop(name) for name in made.positional]
        expected = function_of(loaded)(*by_position, **given)
        assert names[made.function](*by_position, **given) == expected


def written(folder: Path, source: str | bytes, name: str = "pipeline.py") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source if isinstance(source, bytes) else source.encode())
    return path


STEP = '''from flowdsl import step

SIZE = 3

@step(image="python:3.12-slim")
def train(n: int) -> str:
    return """a
b""" * SIZE
'''


def test_line_ends_and_the_byte_order_mark_make_no_difference(tmp_path: Path) -> None:
    texts: list[str] = []
    for source in (STEP.encode(), STEP.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + STEP.encode()):
        _, made, found = carried(written(tmp_path, source))
        assert made is not None
        assert not found
        texts.append(made.text)
    assert texts == [texts[0]] * 3
    assert "\r" not in texts[0]


def test_steps_of_one_module_share_what_was_found(tmp_path: Path) -> None:
    source = "from flowdsl import step\nimport os, sys\nLIMIT = 3\n\ndef shared() -> int:\n    return LIMIT\n"
    for number in range(3):
        used = "os" if number % 2 else "sys"
        source += (
            f'\n@step(image="python:3.12-slim")\ndef step_{number}() -> object:\n'
            f"    return shared() + {number}, {used}\n"
        )
    loaded = load(written(tmp_path, source))
    module = ModuleSource(loaded.source, vars(loaded.module))
    texts: list[str] = []
    for _ in range(2):
        for number in range(3):
            made, found = carry(vars(loaded.module)[f"step_{number}"].__wrapped__, module)
            assert made is not None
            assert not found
            texts.append(made.text)
    assert texts[:3] == texts[3:]
    assert texts[1] == (
        "import os\n\nLIMIT = 3\n\n\ndef shared() -> int:\n    return LIMIT\n\n\n"
        "def step_1() -> object:\n    return shared() + 1, os\n"
    )
    assert texts[2].startswith("import sys\n")


def test_a_function_that_another_module_wraps_is_found_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / "site-packages"
    written(
        library,
        "import functools\n\ndef logged(function):\n    @functools.wraps(function)\n"
        "    def wrapper(*args):\n        return function(*args)\n\n    return wrapper\n",
        "company_logging.py",
    )
    monkeypatch.setattr(sys, "path", [str(library), *sys.path])
    source = STEP.replace("def train", "@company_logging.logged\ndef train").replace(
        "SIZE =", "import company_logging\nSIZE ="
    )
    _, made, found = carried(written(tmp_path / "project", source))
    assert made is not None
    assert not found
    assert made.text.startswith("import company_logging\n\nSIZE = 3\n\n\n@company_logging.logged\ndef train(")


@pytest.mark.parametrize(
    ("place", "own"),
    [
        ("project/pipelines/shapes.py", "shapes.py"),
        ("project/shapes.py", "../shapes.py"),
        ("project/src/shapes/__init__.py", "../src/shapes/__init__.py"),
        ("project/src/shapes/area.py", "../src/shapes"),
        ("project/.venv/lib/python3/site-packages/shapes.py", None),
        ("elsewhere/shapes.py", None),
    ],
)
@pytest.mark.parametrize("inside", [False, True], ids=["top", "body"])
def test_modules_of_the_project(
    place: str, own: str | None, inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "SIDES = 4\n", place)
    folder = path.parent.parent if path.parent.name == "shapes" else path.parent
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    monkeypatch.delitem(sys.modules, "shapes", raising=False)
    written(tmp_path, "", "project/pyproject.toml")
    using, top = ("    import shapes\n", "") if inside else ("", "import shapes\n")
    source = STEP.replace("    return", using + "    return shapes and").replace("SIZE", top + "SIZE", 1)
    loaded, made, found = carried(written(tmp_path, source, "project/pipelines/pipeline.py"))
    monkeypatch.delitem(sys.modules, "shapes", raising=False)
    assert (made is None) == (own is not None)
    seen = os.path.normpath(tmp_path / "project/pipelines" / own) if own else None
    assert [one.finding.caption for one in found] == ([f"found at {seen}"] if own else [])
    for one in found:
        assert one.place is not None
        span = loaded.sources.resolve(one.place)
        assert span is not None
        assert loaded.source.lines[span.line - 1].strip() == "import shapes"


@pytest.mark.parametrize("imported", [True, False])
def test_a_module_of_ones_own_with_the_name_of_one_of_python(
    imported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "mailbox", raising=False)
    written(tmp_path, "SIDES = 4\n", "mailbox.py")
    if imported:
        taken = types.ModuleType("mailbox")
        taken.__file__ = str(tmp_path / "mailbox.py")
        monkeypatch.setitem(sys.modules, "mailbox", taken)
    source = STEP.replace("    return", "    import mailbox, json\n    return mailbox and json and")
    _, _, found = carried(written(tmp_path, source))
    # If Python has not imported it from here, Python's own module may be meant.
    assert [one.finding.caption for one in found] == (
        [f"found at {tmp_path / 'mailbox.py'}"] if imported else []
    )


LITERALS = st.text("$()ARGO_POD_NAME \\'\"{}x\n", max_size=20) | st.lists(
    st.sampled_from(["$", "$$", "$(ARGO_POD_NAME)", "(", "x", "\\", "{", "}"]), max_size=6
).map("".join)


@settings(max_examples=200)
@given(LITERALS, st.sampled_from(["", "b", "r", "rb", "f", "rf", "u"]), st.sampled_from(['"""', "'"]))
def test_no_dollar_is_left_for_the_kubelet(text: str, prefix: str, quotes: str) -> None:
    line = text.replace("\n", " ")
    source = f"X = {prefix}{quotes}{text if len(quotes) > 1 else line}{quotes}  # {line}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return
        kept, offset = keep_dollars(source)
        assert ast.dump(ast.parse(kept)) == ast.dump(tree)
    if offset is None:
        assert "$$" not in kept
        assert "$(ARGO_POD_NAME)" not in kept
    else:
        assert kept == source
        assert source[offset] == "$"
