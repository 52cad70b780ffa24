"""What a reader sees: the goldens are in tests/report, renewed with `--snapshot-update`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, get_args

import pytest

from flowdsl.cli.display.report import DOCS, Format, internal_error, render, suppressed
from flowdsl.cli.display.texts import visible
from flowdsl.compiler.load import LoadError, load
from flowdsl.diagnostic import AGAIN, Diagnostic, Finding, Related
from flowdsl.places.place import Span
from flowdsl.places.source import Sources
from tests.place_cases import marked

if TYPE_CHECKING:
    from collections.abc import Callable

GOLDENS = Path(__file__).parent / "report"
FORMATS: tuple[Format, ...] = get_args(Format)


def check(name: str, text: str, request: pytest.FixtureRequest) -> None:
    """Compare with the golden file of that name."""
    path = GOLDENS / f"{name.replace(' ', '-')}.txt"
    if request.config.getoption("--snapshot-update"):
        path.write_text(text, encoding="utf-8", newline="\n")
    assert text == path.read_text(encoding="utf-8")


class UnknownParameter(Finding):
    code: ClassVar[str] = "FD203"
    title: ClassVar[str] = "`{step}` has no parameter `{name}`"
    label: ClassVar[str] = "did you mean `{close}`?"
    step: str
    name: str
    close: str


class Wrong(Finding):
    code: ClassVar[str] = "FD204"
    title: ClassVar[str] = "{text}"
    label: ClassVar[str] = "{under}"
    help: ClassVar[str] = "{way_out}"
    text: str
    under: str = ""
    way_out: str = ""


class Doubtful(Wrong):
    code: ClassVar[str] = "FD310"
    severity: ClassVar = "warning"


class Page:
    """Files with marked texts, and findings at the marks."""

    def __init__(self) -> None:
        self.sources = Sources()
        self.found: list[Diagnostic] = []

    def file(self, text: str, name: str = "pipeline.py") -> list[Span]:
        plain, places = marked(text)
        self.sources.add(name, plain)
        return [Span(name, *place) for place in sorted(places)]

    def add(self, finding: Finding, span: Span | None, *related: Related) -> None:
        self.found.append(Diagnostic(finding, span, related))


def unknown_parameter() -> Page:
    page = Page()
    text = "\n" * 21 + "def «train»(corpus, learning_rate, layers=2):" + "\n" * 9
    declared, wrong = page.file(text + "    model = train(corpus, «leanring_rate»=0.1)\n")
    spelled = "train(corpus: Path, learning_rate: float, layers: int = 2)"
    finding = UnknownParameter("train", "leanring_rate", "learning_rate")
    page.add(finding, wrong, Related(declared, spelled))
    return page


def several() -> Page:
    page = Page()
    one, two, three = page.file("a = «1»  # a\n\nb, c = «2», «f(\n    3,\n)»\n")
    (other,) = page.file("«x»: 1\n", "a.yaml")
    page.add(Wrong("the third", "over lines", "write it on one line"), three)
    page.add(Doubtful("the second is in doubt"), two, Related(one, "see"), Related(other, "and see"))
    page.add(Wrong("nowhere", "said without a place", "do it"), None)
    page.add(Wrong("the first", "here"), one)
    page.add(Wrong("the first", "again"), one)
    page.add(Doubtful("in another file", way_out="remove it"), other)
    page.add(Wrong("nowhere", "said without a place", "do it"), None)
    page.add(Doubtful("the first in other words"), one)
    return page


def over_lines() -> Page:
    page = Page()
    spans = page.file("x = «call(   # a comment\n    1,\n)»\ny = «'''\n'''»\n«\nz»\n")
    for span in spans:
        page.add(Wrong("from line to line", "it begins here"), span)
    return page


def tabs() -> Page:
    page = Page()
    for span in page.file("if x:\n\t«call»(a,\t«b»)\t# end\n«\t»y\n"):
        page.add(Wrong("among tabs", "here"), span)
    return page


def wide() -> Page:
    page = Page()
    text = "x = ('日本語', «a», 'ｱ', 'é', 'e\u0301', '🚀', '👩\u200d🔬', «b», «'ü日'»)\n"
    for span in page.file(text):
        page.add(Wrong("beside wide characters", "here"), span)
    return page


def lines_only() -> Page:
    page = Page()
    page.file("if x:\n    y = call(1)  \n\n")
    page.add(Wrong("the column is unknown", "somewhere here"), Span("pipeline.py", 2, 0, 2, 0))
    page.add(Wrong("there is nothing"), Span("pipeline.py", 3, 0, 3, 0))
    return page


def without_text() -> Page:
    page = Page()
    page.add(Wrong("in a string", "what is wrong", "what to do"), Span("<string>", 12, 3, 12, 5))
    page.add(Wrong("behind the end", "what is wrong"), Span("pipeline.py", 9, 1, 9, 2))
    page.file("x = 1\n")
    page.add(Wrong("only this"), None)
    return page


def edges() -> Page:
    page = Page()
    page.file("\n" * 8 + "nine\nten\n" + "\n" * 89 + "hundred")
    page.add(Wrong("an empty span", "here"), Span("pipeline.py", 9, 3, 9, 3))
    page.add(Wrong("at the end of a line", "here"), Span("pipeline.py", 10, 4, 10, 5))
    page.add(Wrong("at the end of the file", "here"), Span("pipeline.py", 100, 8, 100, 9))
    page.add(Wrong("beyond a line", "here"), Span("pipeline.py", 10, 40, 10, 50))
    page.add(Wrong("a line without text", "here"), Span("pipeline.py", 11, 1, 11, 2))
    return page


def controls() -> Page:
    page = Page()
    name = "a\x1b[31m.py"
    spans = page.file("x = 'a\x1b[2Jb\x07\u202e\ufeff\u2028\x7f\x85', «y»\n", name)
    finding = Wrong("a \x1b[2J and \n a line \ud800", "\rlabel\t\u202e", "help\x00")
    page.add(finding, spans[0], Related(spans[0], "related\x9b"))
    return page


PAGES: dict[str, Callable[[], Page]] = {
    "unknown parameter": unknown_parameter,
    "several": several,
    "over lines": over_lines,
    "tabs": tabs,
    "wide characters": wide,
    "lines only": lines_only,
    "without text": without_text,
    "edges": edges,
    "control characters": controls,
}


@pytest.mark.parametrize("name", PAGES)
def test_text(name: str, request: pytest.FixtureRequest) -> None:
    page = PAGES[name]()
    check(name, render(page.found, page.sources, "text"), request)


@pytest.mark.parametrize("form", FORMATS)
def test_format(form: Format, request: pytest.FixtureRequest) -> None:
    pages = (several(), lines_only(), controls())
    check(f"format {form}", "---\n".join(render(page.found, page.sources, form) for page in pages), request)


def test_color(request: pytest.FixtureRequest) -> None:
    page = several()
    colored = render(page.found, page.sources, "text", color=True)
    check("color", colored.replace("\x1b", "<ESC>"), request)
    plain = render(page.found, page.sources, "text")
    for code in ("1;31", "1;33", "1", "34", "0"):
        colored = colored.replace(f"\x1b[{code}m", "")
    assert colored == plain


def test_there_are_no_other_goldens() -> None:
    names = {*PAGES, *(f"format {form}" for form in FORMATS), "color"}
    assert {path.stem for path in GOLDENS.iterdir()} == {name.replace(" ", "-") for name in names}


def test_the_shape_of_a_finding() -> None:
    page = unknown_parameter()
    block = """\
pipeline.py:31:27: error[FD203]: `train` has no parameter `leanring_rate`
   |
31 |     model = train(corpus, leanring_rate=0.1)
   |                           ^^^^^^^^^^^^^ did you mean `learning_rate`?
   = train(corpus: Path, learning_rate: float, layers: int = 2), pipeline.py:22

1 error
"""
    assert render(page.found, page.sources, "text") == block


def count(diagnostics: list[Diagnostic], sources: Sources) -> str:
    return render(diagnostics, sources, "text").rstrip().rpartition("\n")[2]


def test_nothing_found() -> None:
    empty = [render([], Sources(), form) for form in FORMATS]
    found = dict(zip(FORMATS, empty, strict=True))
    assert json.loads(found.pop("sarif"))["runs"][0]["results"] == []
    assert found == {"text": "", "concise": "", "json": "[]\n", "github": ""}
    assert count([], Sources()) == ""


def test_json_says_all_that_is_known() -> None:
    page = several()
    rows = json.loads(render(page.found, page.sources, "json"))
    where = ["file", "line", "column", "end_line", "end_column"]
    keys = ["code", "severity", "message", *where, "label", "help", "url", "related"]
    assert all(list(row) == keys for row in rows)
    third = next(row for row in rows if row["message"] == "the third")
    assert (third["line"], third["column"], third["end_line"], third["end_column"]) == (3, 11, 5, 2)
    second = next(row for row in rows if row["code"] == "FD310" and row["related"])
    assert second["url"] == "docs/diagnostics/FD310.md" == DOCS.format(code="FD310")
    assert second["related"] == [
        {"file": "pipeline.py", "line": 1, "column": 5, "message": "see"},
        {"file": "a.yaml", "line": 1, "column": 1, "message": "and see"},
    ]
    last = rows[-1]
    assert {last[key] for key in where} == {None}


def test_findings_are_sorted_and_said_once_and_counted() -> None:
    page = several()
    rows = json.loads(render(page.found, page.sources, "json"))
    assert [(row["file"], row["line"], row["column"]) for row in rows] == [
        ("a.yaml", 1, 1),
        ("pipeline.py", 1, 5),
        ("pipeline.py", 1, 5),
        ("pipeline.py", 3, 8),
        ("pipeline.py", 3, 11),
        (None, None, None),
    ]
    assert [row["label"] for row in rows if row["message"] == "the first"] == ["here"]
    assert count(page.found, page.sources) == "3 errors, 3 warnings"
    assert count(page.found[:2], page.sources) == "1 error, 1 warning"
    assert count(page.found[1:2], page.sources) == "1 warning"


def test_a_mistake_at_several_places_has_a_line_at_each() -> None:
    page = Page()
    first, second, third = page.file("a = «x»\nb = «x», «y»\n")
    page.add(Wrong("no x"), first, Related(second, AGAIN), Related(third, AGAIN, Wrong("no z")))
    page.add(Wrong("no y"), third, Related(first, "see"))
    assert render(page.found, page.sources, "concise") == (
        "pipeline.py:1:5: error[FD204]: no x\n"
        "pipeline.py:2:5: error[FD204]: no x\n"
        "pipeline.py:2:8: error[FD204]: no z\n"
        "pipeline.py:2:8: error[FD204]: no y\n"
    )
    said = render(page.found, page.sources, "github").splitlines()
    assert [line.split(",")[1] for line in said] == ["line=1", "line=2", "line=2", "line=2"]
    assert count(page.found, page.sources) == "2 errors"


@pytest.mark.parametrize(("places", "shown", "left"), [(8, 8, ""), (9, 9, ""), (10, 8, "2"), (250, 8, "242")])
def test_of_many_places_of_a_mistake_some_are_shown_and_the_others_counted(
    places: int, shown: int, left: str
) -> None:
    page = Page()
    first, *others = page.file("«x»\n" * (places + 1))
    page.add(Wrong("no x"), first, *(Related(other, AGAIN) for other in others), Related(first, "see"))
    text = render(page.found, page.sources, "text")
    assert text.count("= the same here") == shown
    assert (f"= the same at {left} more places, which --format concise shows\n" in text) == bool(left)
    assert "= see, pipeline.py:1\n" in text
    assert render(page.found, page.sources, "concise").count("\n") == places + 1
    assert len(json.loads(render(page.found, page.sources, "json"))[0]["related"]) == places + 1


def test_of_a_very_long_line_what_is_near_is_shown() -> None:
    page = Page()
    for span in page.file("x" * 10_000 + "«" + "y" * 10 + "»" + "z" * 10_000 + "«" + "w" * 5_000 + "»\n"):
        page.add(Wrong("in a long line", "here"), span)
    text = render(page.found, page.sources, "text")
    assert max(map(len, text.splitlines())) < 700
    assert f"... {'x' * 200}{'y' * 10}{'z' * 200} ..." in text
    assert f"{'z' * 200}{'w' * 200} ...\n" in text


def test_one_line_stays_one_line() -> None:
    page = controls()
    for form in ("concise", "github"):
        text = render(page.found, page.sources, form)
        assert text.count("\n") == 1
        assert text.endswith("\n")
        assert text.rstrip("\n").isprintable()


def test_github_takes_what_would_end_a_field() -> None:
    page = Page()
    (span,) = page.file("«x» = 1\n", "a,b:c%.py")
    page.add(Wrong("50% of a:b, c", "label", "help"), span)
    assert render(page.found, page.sources, "github") == (
        "::error file=a%2Cb%3Ac%25.py,line=1,col=1,endColumn=2,title=FD204::50%25 of a:b, c%0Alabel%0Ahelp\n"
    )


@pytest.mark.parametrize(
    ("comment", "silent"),
    [
        ("", False),
        ("# flowdsl: ignore[FD310]", True),
        ("# flowdsl: ignore[FD309, FD310]", True),
        ("#flowdsl:ignore[FD309,FD310]", True),
        ("# noqa: E501  # flowdsl: ignore[FD310]", True),
        ("# flowdsl: ignore[FD310] read only once", True),
        ("# flowdsl: ignore[FD311]", False),
        ("# flowdsl: ignore[FD31]", False),
        ("# flowdsl: ignore[]", False),
        ("# flowdsl: ignore", False),
        ("# flowdsl: ignore[fd310]", False),
    ],
)
def test_a_comment_silences_warnings_on_its_line(comment: str, silent: bool) -> None:
    page = Page()
    one, two = page.file(f"x = «1» {comment}\ny = «2»\n")
    for span in (one, two):
        page.add(Doubtful("in doubt"), span)
    left = suppressed(page.found, page.sources, ())
    assert left == (page.found[1:] if silent else page.found)


def test_a_comment_may_be_at_the_end_of_what_it_is_about() -> None:
    page = Page()
    inner, call = page.file("x = «f(\n    «1»,\n)»  # flowdsl: ignore[FD310]\n")[::-1]
    page.add(Doubtful("in doubt"), call)
    page.add(Doubtful("in doubt"), inner)
    assert suppressed(page.found, page.sources, ()) == page.found[1:]


def test_a_setting_silences_warnings_everywhere() -> None:
    page = several()
    left = suppressed(page.found, page.sources, {"FD310"})
    assert [one.finding.code for one in left] == ["FD204"] * 5


def test_errors_are_never_silenced() -> None:
    page = Page()
    (span,) = page.file("x = «1»  # flowdsl: ignore[FD204]\n")
    page.add(Wrong("wrong"), span)
    page.add(Wrong("nowhere"), None)
    page.add(Doubtful("nowhere"), None)
    assert suppressed(page.found, page.sources, ["FD204"]) == page.found
    assert suppressed(page.found, page.sources, ["FD310"]) == page.found[:2]


def test_a_syntax_error_looks_like_every_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.py").write_text("é = 'é'; x = (1,\n", encoding="utf-8")
    with pytest.raises(LoadError) as caught:
        load(Path("pipeline.py"))
    assert caught.value.diagnostic is not None
    text = render([caught.value.diagnostic], caught.value.sources, "text")
    assert text.splitlines()[:4] == [
        "pipeline.py:1:14: error[FD101]: '(' was never closed",
        "  |",
        "1 | é = 'é'; x = (1,",
        "  |              ^",
    ]


def test_a_bug_of_ours_says_so_and_keeps_the_traceback() -> None:
    def fail() -> None:
        raise RuntimeError("a \x1b[2J b")

    with pytest.raises(RuntimeError) as caught:
        fail()
    text = internal_error(caught.value)
    assert text.startswith("This is a bug of flowdsl, not a mistake in your pipeline.\nPlease report it")
    assert "Traceback (most recent call last):\n" in text
    assert "in fail\n" in text
    assert text.endswith("\nRuntimeError: a \\x1b[2J b\n")


def test_what_is_invisible_is_made_visible() -> None:
    assert visible("plain é 日本 👩\u200d🔬") == "plain é 日本 👩\u200d🔬"
    assert visible("\x00\t\n\x1b\x7f\x85\u200b\u202e\u2028\ufeff\ud800") == (
        r"\x00\t\n\x1b\x7f\x85\u200b\u202e\u2028\ufeff\ud800"
    )
