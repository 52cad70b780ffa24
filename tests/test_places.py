"""Places become the spans that a reader would point at, on every Python that flowdsl runs on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from flowdsl.places.place import Argument, Definition, Site, Span
from flowdsl.places.source import Sources
from tests.place_cases import (
    ARGUMENTS,
    ASSIGNED,
    DEFINITIONS,
    SITES,
    Case,
    applies,
    check,
    check_assigned,
    check_definition,
    run,
)

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = Path.home() / ".pyenv" / "versions"
PYTHONS = [
    Path(sys.executable),
    *sorted(folder / "bin" / "python" for folder in VERSIONS.glob("3.1[1-9].*") if (folder / "bin").is_dir()),
]


@pytest.mark.parametrize("case", [case for case in SITES if applies(case)], ids=lambda case: case.name)
def test_a_site_is_the_expression_that_called(case: Case) -> None:
    check(case)


@pytest.mark.parametrize("case", ARGUMENTS, ids=lambda case: case.name)
def test_an_argument_is_the_text_written_for_it(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(("text", "name"), ASSIGNED.items())
def test_the_variable_that_a_result_goes_to(text: str, name: str | None) -> None:
    check_assigned(text, name)


@pytest.mark.parametrize(("part", "text"), DEFINITIONS)
def test_the_parts_of_a_definition(part: Definition, text: str) -> None:
    check_definition(part, text)


@pytest.mark.parametrize("options", [[], ["-X", "no_debug_ranges"]], ids=["columns", "lines only"])
@pytest.mark.parametrize("python", PYTHONS, ids=lambda path: path.parents[1].name)
def test_every_python_agrees(python: Path, options: list[str]) -> None:
    done = subprocess.run(
        [python, *options, "-W", "error", "-m", "tests.place_cases"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    snippets, word = done.stdout.split()
    assert (int(snippets) > 100, word) == (True, "snippets")
    sys.stdout.write(f"{python.parents[1].name} {' '.join(options)}: {done.stdout}")


def test_a_string_that_was_executed_has_a_line_and_a_column_but_no_text() -> None:
    sources = Sources()
    ((site, _),) = run("\nx = [call(lr=1)]", "<a string>")
    span = sources.resolve(Argument(site, "lr"))
    assert span == Span("<a string>", 2, 6, 2, 16)
    assert sources.excerpt(Span("<a string>", 2, 6, 2, 16)) == []
    assert sources.assigned(site) is None
    assert sources.shown("<a string>") == "<a string>"


def test_a_path_leads_into_a_value_that_is_written_out() -> None:
    sources = Sources()
    text = 'x = call(a={"k": [1, {"ü": dict(n=2)}], 3: [*()]}, b=[[4], other])'
    ((site, _),) = run(text, "snippet.py", {"other": 5})
    sources.add("snippet.py", text)

    def shown(name: str, *path: str | int, part: str = "value") -> str:
        span = sources.resolve(Argument(site, name, part=part, path=path))
        assert span is not None
        return text[span.column - 1 : span.end_column - 1]

    assert shown("a", "k", 0) == "1"
    assert shown("a", "k", 1, "ü", "n") == "2"
    assert shown("a", "k", 1, "ü", "n", part="key") == "n"
    assert shown("a", "k", 1, "ü", part="key") == '"ü"'
    assert shown("a", "k", 1, part="key") == '{"ü": dict(n=2)}'  # a positional argument has no key
    assert shown("a", 3, 0) == "[*()]"  # the elements of the star are not visible
    assert shown("a", "k", 1, "other", "n") == '{"ü": dict(n=2)}'
    assert shown("b", 0, 0) == "4"
    assert shown("b", 1, "x") == "other"
    assert shown("b", 7) == "[[4], other]"
    assert shown("b") == "[[4], other]"


def test_a_function_without_text_is_declared_at_its_line() -> None:
    scope: dict[str, Any] = {}
    run("\ndef f(x): pass", "<a string>", scope)
    sources = Sources()
    for name in (None, "x", "return"):
        assert sources.resolve(Definition(scope["f"].__code__, name)) == Span("<a string>", 2, 0, 2, 0)


def test_a_lambda_is_declared_at_its_line() -> None:
    sources = Sources()
    file = sources.add("a.py", "f = lambda x: x\n")
    scope: dict[str, FunctionType] = {}
    exec(compile(file.text, "a.py", "exec"), scope)
    assert sources.resolve(Definition(scope["f"].__code__)) == Span("a.py", 1, 0, 1, 0)


def test_a_span_stays() -> None:
    span = Span("a.yaml", 3, 1, 4, 2)
    sources = Sources()
    sources.add("a.yaml", "a: 1\r\nb:\r\n- [1,\r\n2]\r\n")
    assert sources.resolve(span) == span
    assert sources.excerpt(span) == ["- [1,", "2]"]


def test_text_that_is_no_longer_python_gives_the_recorded_position() -> None:
    sources = Sources()
    ((site, _),) = run("x = call(lr=1)", "snippet.py")
    sources.add("snippet.py", "x = call(lr=1")
    assert sources.resolve(Argument(site, "lr")) == Span("snippet.py", 1, 5, 1, 15)
    assert sources.assigned(site) is None


def test_a_file_is_shown_relative_to_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sources = Sources()
    outside = str(tmp_path.parent / "b.py")
    assert sources.add(str(tmp_path / "sub" / "a.py"), "").shown == os.path.join("sub", "a.py")  # noqa: PTH118
    assert sources.add(outside, "").shown == outside
    assert sources.add(outside, "", shown="../b.py").shown == "../b.py"


def test_files_are_found_on_disk_when_a_place_is_in_them(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("# coding: latin-1\nx = ['é', call(lr='ü')]\n", encoding="latin-1")
    (site, _), *_ = run(helper.read_text(encoding="latin-1"), str(helper))
    assert Sources().resolve(Argument(site, "lr")) == Span(str(helper), 2, 19, 2, 22)
    assert Sources().file(str(tmp_path / "missing.py")) is None


def test_the_code_of_one_load_may_be_collected_without_mixing_up_another() -> None:
    # An id may be reused; a cache by id must keep its code alive.
    sources = Sources()
    for number in range(50):
        name = f"snippet{number}.py"
        text = "\n" * (number % 7) + f"x{number} = call(1)"
        sources.add(name, text)
        ((site, _),) = run(text, name)
        assert sources.assigned(site) == f"x{number}"
        del site


def test_an_instruction_without_a_line_has_no_place() -> None:
    code = compile("pass", "snippet.py", "exec").replace(co_linetable=b"\xf8" * 4)
    assert Sources().resolve(Site(code, 0)) is None
