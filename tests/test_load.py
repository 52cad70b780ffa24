"""A user's file is executed as `python FILE` would, and what is wrong with it is said at its line."""

from __future__ import annotations

import dataclasses
import os
import pickle
import re
import subprocess
import sys
import textwrap
import typing
from pathlib import Path

import pytest

from flowdsl.compiler.load import Loaded, LoadError, importing, load
from flowdsl.places.place import Definition, Span


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


def loaded(path: Path, text: str) -> Loaded:
    return load(write(path, text))


def refused(path: Path, text: str | bytes) -> LoadError:
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        write(path, text)
    with pytest.raises(LoadError) as caught:
        load(path)
    return caught.value


def refusal(path: Path, text: str | bytes) -> tuple[str, str, tuple[int, ...] | None]:
    error = refused(path, text)
    assert error.diagnostic is not None
    assert error.traceback is None
    span = error.span
    assert span is None or span.file == str(path)
    return error.diagnostic.finding.code, error.message, None if span is None else tuple(span[1:])


def test_a_file_is_a_module_of_its_own(folder: Path) -> None:
    done = loaded(Path("pipeline.py"), "name, file, main = __name__, __file__, __name__ == '__main__'\n")
    assert done.path == Path("pipeline.py")
    assert done.module.file == str(folder / "pipeline.py")
    assert (done.module.main, "pipeline" in done.module.name) == (False, True)
    assert not done.module.name.startswith("flowdsl")
    assert sys.modules[done.module.name] is done.module
    assert "pipeline" not in sys.modules
    assert done.source.shown == "pipeline.py"
    assert done.source is done.sources.file(str(folder / "pipeline.py"))


def test_a_file_elsewhere_is_shown_as_it_was_named(folder: Path) -> None:
    write(folder / "pipeline.py", "")
    (folder / "sub").mkdir()
    os.chdir(folder / "sub")
    assert load(Path("../pipeline.py")).source.shown == "../pipeline.py"


def test_its_classes_are_found_by_the_name_of_their_module(folder: Path) -> None:
    text = """
        from __future__ import annotations
        from dataclasses import dataclass
        from enum import Enum
        from typing import ClassVar, NamedTuple

        class Color(Enum):
            RED = 1

        @dataclass
        class Options:
            color: Color
            count: ClassVar[int] = 0

        class Row(NamedTuple):
            options: Options
        """
    module = loaded(folder / "my.pipeline.py", text).module
    assert [field.name for field in dataclasses.fields(module.Options)] == ["color"]
    assert typing.get_type_hints(module.Row) == {"options": module.Options}
    row = module.Row(module.Options(module.Color.RED))
    assert pickle.loads(pickle.dumps(row)) == row


def test_a_file_may_be_named_like_a_module_of_python_or_of_ours(folder: Path) -> None:
    random = sys.modules.get("random")
    ours = sys.modules["flowdsl"]
    assert loaded(folder / "random.py", "import random as me; x = me.__name__").module.x == "random"
    place = "from flowdsl.places.place import here\nx = here().code.co_filename\n"
    assert loaded(folder / "flowdsl.py", place).module.x == str(folder / "flowdsl.py")
    assert (sys.modules.get("random") is random or random is None, sys.modules["flowdsl"] is ours) == (
        True,
        True,
    )


def test_modules_beside_it_are_imported_and_layers_of_ours_do_not_collide(folder: Path) -> None:
    write(folder / "compiler" / "__init__.py", "")
    write(folder / "compiler" / "load.py", "mine = True")
    write(folder / "runtime.py", "import compiler.load; also = compiler.load.mine")
    text = "from compiler.load import mine\nfrom runtime import also\nimport flowdsl.compiler.load as ours\n"
    module = loaded(folder / "pipeline.py", text).module
    assert (module.mine, module.also) == (True, True)
    assert module.ours is sys.modules["flowdsl.compiler.load"]
    assert module.ours.load is load


def test_the_folder_of_the_file_comes_first_and_goes_again(folder: Path) -> None:
    write(folder / "lib" / "more.py", "")
    text = """
        import os, sys
        first = sys.path[0]
        sys.path.append(os.path.join(first, "lib"))
        import more
        """
    before = [*sys.path]
    done = loaded(folder / "pipeline.py", text)
    assert done.module.first == os.path.realpath(folder)
    try:
        assert sys.path == [*before, str(folder / "lib")]
    finally:
        sys.path[:] = before


def test_a_link_imports_from_beside_the_file_it_points_to(folder: Path) -> None:
    write(folder / "real" / "helper.py", "x = 1")
    write(folder / "real" / "pipeline.py", "from helper import x")
    (folder / "link.py").symlink_to(folder / "real" / "pipeline.py")
    assert load(folder / "link.py").module.x == 1


def test_no_byte_code_is_written(folder: Path) -> None:
    write(folder / "helper.py", "")
    loaded(folder / "pipeline.py", "import helper")
    assert not list(folder.rglob("*.pyc"))
    assert not list(folder.rglob("__pycache__"))


def test_loading_again_gives_fresh_modules(folder: Path) -> None:
    helper = write(folder / "helper.py", "x = 1")
    first = loaded(folder / "pipeline.py", "import helper, json\nclass A: pass\n")
    helper.write_text("x = 22")
    second = load(folder / "pipeline.py")
    assert (first.module.helper.x, second.module.helper.x) == (1, 22)
    assert first.module is not second.module
    assert first.module.json is second.module.json
    for done in (first, second):
        assert pickle.loads(pickle.dumps(done.module.A)) is done.module.A


def test_two_files_have_their_own_module_of_one_name(folder: Path) -> None:
    for name in ("a", "b"):
        write(folder / name / "helper.py", f"x = {name!r}")
        write(folder / name / "pipeline.py", "from helper import x")
    assert [load(folder / name / "pipeline.py").module.x for name in ("a", "b")] == ["a", "b"]


def test_a_function_may_import_when_it_is_called(folder: Path) -> None:
    write(folder / "late.py", "x = 1")
    done = loaded(folder / "pipeline.py", "def body():\n    import late\n    return late.x\n")
    with importing(done.path):
        assert done.module.body() == 1
    write(folder / "late.py", "x = 22")
    done = load(done.path)
    with importing(done.path):
        assert done.module.body() == 22


def test_a_file_of_a_package_is_a_module_of_it(folder: Path) -> None:
    for name in ("mine/__init__.py", "mine/inner/__init__.py", "mine/top.py", "mine/inner/beside.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, f"name = {name!r}\n")
    text = (
        "from .beside import name as one\nfrom ..top import name as two\nfrom mine.top import name as three\n"
        "from beside import name as four\ndef late():\n    from .beside import name\n    return name\n"
    )
    before = [*sys.path]
    for _ in range(2):
        module = loaded(folder / "mine/inner/pipeline.py", text).module
        assert (module.one, module.two, module.three) == (
            "mine/inner/beside.py",
            "mine/top.py",
            "mine/top.py",
        )
        assert module.four == module.one
        with importing(folder / "mine/inner/pipeline.py"):
            assert module.late() == module.one
        assert sys.path == before
        write(folder / "mine/top.py", "name = 'mine/top.py'  # changed\n")


def test_libraries_in_the_folder_are_kept(folder: Path) -> None:
    site = folder / ".venv" / "lib" / "site-packages"
    write(site / "flowdsl_test_library.py", "")
    sys.path.append(str(site))
    try:
        first = loaded(folder / "pipeline.py", "import flowdsl_test_library as it").module.it
        assert load(folder / "pipeline.py").module.it is first
    finally:
        sys.path.remove(str(site))
        sys.modules.pop("flowdsl_test_library", None)


def test_the_text_is_decoded_as_python_does(folder: Path) -> None:
    path = folder / "pipeline.py"
    path.write_bytes("# coding: latin-1\nx = 'é'\r\n".encode("latin-1"))
    assert load(path).module.x == "é"
    path.write_bytes(b"\xef\xbb\xbfx = '\xc3\xa9'\r\ny = '''a\r\nb'''\r\n")
    done = load(path)
    assert (done.module.x, done.module.y) == ("é", "a\nb")
    assert done.source.lines == ["x = 'é'", "y = '''a", "b'''", ""]


def test_the_tree_is_the_one_that_was_executed(folder: Path) -> None:
    done = loaded(folder / "pipeline.py", "def f(x: int) -> str: ...\n")
    assert done.source.tree is not None
    assert [type(node).__name__ for node in done.source.tree.body] == ["FunctionDef"]
    place = Definition(done.module.f.__code__, "return", "annotation")
    assert done.sources.resolve(place) == Span(str(folder / "pipeline.py"), 1, 18, 1, 21)


SYNTAX: list[tuple[str, str, tuple[int, ...]]] = [
    ("x = (1,\n", "'(' was never closed", (1, 5, 1, 6)),
    ("é = 'é'; y y\n", "invalid syntax", (1, 12, 1, 13)),
    ("x = 'abc\n", "unterminated string literal (detected at line 1)", (1, 5, 1, 6)),
    ("def f():\n", "expected an indented block after function definition on line 1", (1, 9, 1, 10)),
    ("def f():\n  a\n b\n", "unindent does not match any outer indentation level", (3, 3, 3, 4)),
    ("if 1:\n\ta\n        b\n", "inconsistent use of tabs and spaces in indentation", (3, 1, 3, 2)),
    ("ééé = 3; return 1\n", "'return' outside function", (1, 10, 1, 18)),
    ("f(é=1,\n  é=2)\n", "keyword argument repeated: é", (2, 3, 2, 6)),
    ("\n\nbreak\n", "'break' outside loop", (3, 1, 3, 6)),
    ("x = 1\n\ny = 2\0\n", "source code string cannot contain null bytes", (3, 0, 3, 0)),
    ("-" * 100_000 + "1\n", "the file is nested too deeply for Python", (1, 0, 1, 0)),
]


@pytest.mark.parametrize(("text", "message", "span"), SYNTAX, ids=[row[1] for row in SYNTAX])
def test_invalid_syntax_is_said_at_its_place(
    folder: Path, text: str, message: str, span: tuple[int, ...]
) -> None:
    assert refusal(folder / "pipeline.py", text.encode()) == ("FD101", message, span)


def test_invalid_syntax_in_an_f_string_is_at_its_line_at_least(folder: Path) -> None:
    code, message, span = refusal(folder / "pipeline.py", b"a = 1\nx = f'{a b}'\n")
    assert (code, "invalid syntax" in message, span and span[0]) == ("FD101", True, 2)


def test_invalid_syntax_leaves_the_text_to_be_shown(folder: Path) -> None:
    error = refused(folder / "pipeline.py", "x = (1,\n")
    assert error.span is not None
    assert error.sources.excerpt(error.span) == ["x = (1,"]


def test_what_cannot_be_read(folder: Path) -> None:
    path = folder / "pipeline.py"
    what = "the file is not text that Python can read: "
    assert refusal(path, b"x = 1\ny = '\xc3\xa9 \xe9'\n") == (
        "FD104",
        what + "byte 0xe9 is not UTF-8",
        (2, 8, 2, 9),
    )
    assert refusal(path, b"1\n2\n3\n#\xff") == ("FD104", what + "byte 0xff is not UTF-8", (4, 2, 4, 3))
    assert refusal(path, b"# coding: klingon\n") == (
        "FD104",
        what + "unknown encoding: klingon",
        (1, 0, 1, 0),
    )


def test_what_is_not_there(folder: Path) -> None:
    write(folder / "pipeline.py", "")
    (folder / "link.py").symlink_to("gone.py")
    for name, code, way_out in (
        ("pipelin.py", "FD102", "did you mean `pipeline.py`?"),
        ("other/x.py", "FD102", f"name a file that exists; the current folder is {folder}"),
        ("in.py", "FD102", f"name a file that exists; the current folder is {folder}"),
        ("pipeline.py/x", "FD102", "name a file that exists"),
        (".", "FD103", "name a file in it: `pipeline.py`"),
        ("a\0b", "FD106", "make it readable for yourself, or name another file"),
        (f"{'x' * 300}.py", "FD106", "make it readable for yourself, or name another file"),
        ("link.py", "FD102", "it is a link to `gone.py`, which is not there: make the link again"),
    ):
        with pytest.raises(LoadError) as caught:
            load(Path(name))
        diagnostic = caught.value.diagnostic
        assert diagnostic is not None
        assert (diagnostic.finding.code, diagnostic.place) == (code, None)
        assert diagnostic.finding.advice.startswith(way_out)
        assert name in caught.value.message


def test_a_file_that_ends_python(folder: Path) -> None:
    path = folder / "pipeline.py"
    text = "import sys\ndef main():\n    sys.exit(3)\nmain()\n"
    message = "the file ends Python when it is loaded: SystemExit(3)"
    assert refusal(path, text) == ("FD105", message, (3, 5, 3, 16))
    assert refusal(path, "raise SystemExit\n")[1].endswith("SystemExit()")
    parser = "import argparse\nargparse.ArgumentParser().parse_args(['--help'])\n"
    assert refusal(path, parser)[2] == (2, 1, 2, 49)


def test_an_interrupt_is_not_a_mistake(folder: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded(folder / "pipeline.py", "raise KeyboardInterrupt")


RAISES = {
    "plain": "def f(x):\n    return 1 / x\n\nf(0)\n",
    "two lines": "class E(Exception): pass\nraise E('a\\nb')\n",
    "cause": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('é') from error\n",
    "context": "try:\n    {}['a']\nexcept KeyError:\n    undefined\n",
    "note": "error = ValueError('a')\nerror.add_note('more')\nraise error\n",
    "group": "raise ExceptionGroup('many', [ValueError('a'), ExceptionGroup('b', [KeyError('c')])])\n",
    "missing module of another": "import asks\n",
    "helper": "import helper\nhelper.f()\n",
    "broken helper": "import broken\n",
    "deep": "def f():\n    f()\nf()\n",
    "cycle": "a, b = KeyError('a'), KeyError('b')\na.__context__, b.__context__ = b, a\nraise a\n",
    "in a standard module": "import json\njson.loads('{')\n",
    "base": "raise BaseException('base')\n",
}


@pytest.mark.parametrize("text", RAISES.values(), ids=RAISES.keys())
def test_an_exception_is_shown_as_python_shows_it(folder: Path, text: str) -> None:
    write(folder / "helper.py", "def f():\n    raise ValueError('from the helper')\n")
    write(folder / "broken.py", "x = (\n")
    write(folder / "asks.py", "import flowdsl_test_missing\n")
    write(folder / "pipeline.py", text)
    python = subprocess.run(
        [sys.executable, "-B", "pipeline.py"], cwd=folder, capture_output=True, text=True, check=False
    )
    error = refused(folder / "pipeline.py", text)
    assert error.traceback is not None
    assert without_depth(error.traceback) == without_depth(python.stderr)
    assert error.diagnostic.finding.code == "FD107"
    assert error.span is not None
    assert error.span.file == str(folder / "pipeline.py")


def test_a_file_that_is_in_no_package(folder: Path) -> None:
    write(folder / "helper.py", "def f():\n    return 1\n")
    with pytest.raises(LoadError) as caught:
        loaded(folder / "pipeline.py", "from .helper import f\n")
    assert caught.value.traceback is None
    assert caught.value.diagnostic.finding.advice.startswith("put an `__init__.py` beside the file")
    write(folder / "__init__.py", "")
    assert loaded(folder / "pipeline.py", "from .helper import f\n").module.f() == 1


@pytest.mark.parametrize("line", ["%matplotlib inline", "!pip install torch", "    %time f()"])
def test_a_line_for_a_notebook(folder: Path, line: str) -> None:
    error = refused(folder / "pipeline.py", f"import json\nif json:\n    pass\n{line}\n")
    assert error.diagnostic.finding.code == "FD101"
    assert error.diagnostic.finding.advice == "leave the line out: it is for a notebook"


def test_a_module_that_is_not_installed(folder: Path) -> None:
    error = refused(folder / "pipeline.py", "import flowdsl_test_missing.part as part\n")
    assert error.traceback is None
    assert error.diagnostic.finding.code == "FD107"
    assert error.diagnostic.finding.advice == (
        "install `flowdsl_test_missing` where flowdsl runs, or import it inside the steps that need it"
    )


def test_a_module_that_the_language_does_not_have(folder: Path) -> None:
    error = refused(folder / "pipeline.py", "from flowdsl.dsl import step\n")
    assert error.traceback is None
    assert error.diagnostic.finding.advice == (
        "import the word from `flowdsl` itself: `from flowdsl import pipeline, step`"
    )


@pytest.mark.parametrize(("package", "place"), [("src/shapes", "../src"), ("shapes", "..")])
def test_a_module_in_another_folder_of_the_project(
    folder: Path, monkeypatch: pytest.MonkeyPatch, package: str, place: str
) -> None:
    (folder / "pipelines").mkdir()
    (folder / package).mkdir(parents=True)
    write(folder / package / "area.py", "AREA = 1\n")
    write(folder / "pyproject.toml", "")
    monkeypatch.chdir(folder / "pipelines")
    error = refused(folder / "pipelines/pipeline.py", "from shapes.area import AREA\n")
    assert error.diagnostic.finding.advice == (
        f"`shapes` is in {place}: set PYTHONPATH={place}, or install the project: `pip install -e .`"
    )


def without_depth(text: str) -> str:
    """A traceback without the number of frames that Python had left."""
    return re.sub(r"repeated \d+ more times", "repeated", text)


def test_frames_of_ours_are_left_out(folder: Path) -> None:
    text = """
        from flowdsl.places.place import Span
        from flowdsl.diagnostic import Finding

        class Mine(Finding):
            code = "X"
            title = "{a}"
            a: str

        def f():
            Mine()

        f()
        """
    shown = refused(folder / "pipeline.py", text).traceback
    assert shown is not None
    lines = [line.split(", ")[-1] for line in shown.splitlines() if line.lstrip().startswith("File")]
    assert lines == ["in <module>", "in f"]
    assert shown.endswith("TypeError: Mine needs 'a'\n")


def test_a_failed_load_leaves_nothing_behind(folder: Path) -> None:
    path, writes = [*sys.path], sys.dont_write_bytecode
    before = {name for name in sys.modules if name.startswith("<")}
    refused(folder / "pipeline.py", "import helper_that_is_missing")
    refused(folder / "pipeline.py", "raise SystemExit")
    assert sys.path == path
    assert {name for name in sys.modules if name.startswith("<")} == before
    assert sys.dont_write_bytecode == writes
