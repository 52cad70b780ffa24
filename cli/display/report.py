"""The only renderer of diagnostics: text, one line each, JSON, or GitHub workflow commands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from flowdsl.cli.display.located import Elsewhere, Located
from flowdsl.cli.display.texts import visible, wide
from flowdsl.diagnostic import AGAIN
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from flowdsl.diagnostic import Diagnostic
    from flowdsl.places.place import Span
    from flowdsl.places.source import Sources

Format = Literal["text", "concise", "json", "github", "sarif"]

# The page of a finding's code, below the root of the repository.
DOCS = "docs/diagnostics/{code}.md"

_TAB = " " * 4
_IGNORE = regex(r"#\s*flowdsl:\s*ignore\[([^\]]*)\]")
_LONGEST = 200
"""Characters of a line that are shown before its mark, under it, and after it; JSON may be one line of a megabyte."""
_PLACES = 8
"""So many further places of one mistake are shown, and of the others how many they are."""
# Select Graphic Rendition of ECMA-48.
_STYLES = {
    "error": "\x1b[1;31m",
    "warning": "\x1b[1;33m",
    "place": "\x1b[1m",
    "gutter": "\x1b[34m",
    "plain": "\x1b[0m",
}


def render(diagnostics: Sequence[Diagnostic], sources: Sources, format: Format, color: bool = False) -> str:
    """All findings about one file and what it imports: `render_all` of one."""
    return render_all([(diagnostics, sources)], format, color)


def render_all(reports: Sequence[tuple[Sequence[Diagnostic], Sources]], format: Format, color: bool) -> str:
    """All findings, sorted by place, equal ones once; complete lines, or nothing.

    `text` ends with their count, as in `2 errors, 1 warning`; `json` is a list, `[]` without findings, with
    columns in code points from 1, ends exclusive, null where there is no place; `sarif` is a log of SARIF
    2.1.0; `github` is the workflow command `error` or `warning` (docs.github.com, "Workflow commands for
    GitHub Actions"). `color` is for text.
    """
    found = _located(reports)
    if format == "json":
        return json.dumps([_json(one) for one in found], indent=2) + "\n"
    if format == "sarif":
        from flowdsl.cli.display.sarif import log

        return log(found)
    if format == "github":
        return "".join(_github(one) + "\n" for one in _everywhere(found))

    def paint(style: str, text: str) -> str:
        return f"{_STYLES[style]}{text}{_STYLES['plain']}" if color and text else text

    if format == "concise":
        return "".join(_head(one, paint) + "\n" for one in _everywhere(found))
    blocks = ["\n".join(_block(one, paint)) for one in found]
    return "\n\n".join([*blocks, _count(found)]) + "\n" if blocks else ""


def suppressed(
    diagnostics: Sequence[Diagnostic], sources: Sources, codes: Collection[str]
) -> list[Diagnostic]:
    """The findings without silenced warnings.

    Warnings are silenced by code: everywhere by `codes`, or by a comment `# flowdsl: ignore[FD217, FD341]` on the
    first or the last line of their place, or of the whole text if they are about a part of one. Errors stay.
    """
    left: list[Diagnostic] = []
    for diagnostic in diagnostics:
        finding = diagnostic.finding
        if finding.severity == "error" or (
            finding.code not in codes and finding.code not in _ignored(diagnostic, sources)
        ):
            left.append(diagnostic)
    return left


def internal_error(error: BaseException) -> str:
    """The report of an unexpected exception of flowdsl, with its traceback."""
    import platform
    from importlib import metadata
    from traceback import format_exception

    try:
        version = metadata.version("flowdsl")
    except metadata.PackageNotFoundError:
        version = "(not installed)"
    trace = "".join(format_exception(error)).rstrip("\n").split("\n")
    return "\n".join(
        (
            "This is a bug of flowdsl, not a mistake in your pipeline.",
            "Please report it with all of the following text and, if you can, the file that shows it.",
            "",
            f"flowdsl {version}, Python {platform.python_version()}, {platform.platform()}",
            *(visible(line) for line in trace),
            "",
        )
    )


def _located(reports: Sequence[tuple[Sequence[Diagnostic], Sources]]) -> list[Located]:
    found: dict[tuple[Span | None, str], Located] = {}
    for diagnostics, sources in reports:
        for finding, place, related, _ in diagnostics:
            span = None if place is None else sources.resolve(place)
            others = [(sources.resolve(other.place), other) for other in related]
            one = Located(
                finding,
                span,
                "" if span is None else sources.shown(span.file),
                tuple(
                    Elsewhere(
                        sources.shown(at.file) if at else "", at, other.message, other.finding or finding
                    )
                    for at, other in others
                ),
                sources,
            )
            found.setdefault((span, finding.message), one)
    return sorted(found.values(), key=_order)


def _everywhere(found: Sequence[Located]) -> list[Located]:
    """The findings at all of their places, sorted by place, for formats that show places only."""
    return sorted((place for one in found for place in one.everywhere()), key=_order)


def _order(one: Located) -> tuple[bool, str, int, int]:
    if one.span is None:
        return (True, "", 0, 0)
    return (False, one.file, one.span.line, one.span.column)


def _count(found: Sequence[Located]) -> str:
    def words() -> Iterator[str]:
        for severity in ("error", "warning"):
            number = sum(one.finding.severity == severity for one in found)
            if number:
                yield f"{number} {severity}" + ("s" if number > 1 else "")

    return ", ".join(words())


def _head(one: Located, paint: Callable[[str, str], str]) -> str:
    finding, span = one.finding, one.span
    place = ""
    if span is not None:
        column = f":{span.column}" if span.column else ""
        place = paint("place", f"{visible(one.file)}:{span.line}{column}:") + " "
    kind = paint(finding.severity, f"{finding.severity}[{finding.code}]")
    return f"{place}{kind}: {visible(finding.message)}"


def _block(one: Located, paint: Callable[[str, str], str]) -> Iterator[str]:
    finding, span = one.finding, one.span
    label = visible(finding.caption)
    advice = "" if finding.advice == finding.caption else visible(finding.advice)
    number = "" if span is None else str(span.line)
    margin = " " * max(len(number), 1)
    yield _head(one, paint)
    lines = [] if span is None else one.sources.excerpt(span)
    notes: list[str] = []
    if span is None or not lines:
        notes.append(label)
    else:
        before, marked, after = _cut(lines[0], span)
        carets = paint(finding.severity, "^" * max(wide(marked), 1) + (" " + label if label else ""))
        bar = paint("gutter", f"{margin} |")
        yield bar
        yield f"{paint('gutter', f'{number} |')} {before}{marked}{after}".rstrip()
        yield f"{bar} {' ' * wide(before)}{carets}"
    again = [each for each in one.related if each.text == AGAIN]
    others = [each for each in one.related if each.text != AGAIN]
    shown = again if len(again) <= _PLACES + 1 else again[:_PLACES]
    for file, other, text, _ in (*others, *shown):
        notes.append(visible(text) + (f", {visible(file)}:{other.line}" if other else ""))
    if left := len(again) - len(shown):
        notes.append(f"the same at {left} more places, which --format concise shows")
    notes.append(f"help: {advice}" if advice else "")
    yield from (f"{paint('gutter', f'{margin} =')} {note}" for note in notes if note)


def _cut(line: str, span: Span) -> tuple[str, str, str]:
    """The first line of a span before, inside and after the mark, without invisible characters."""
    code = line.rstrip()
    if span.column == 0:
        start, end = len(code) - len(code.lstrip()), len(code)
    else:
        start = min(span.column - 1, len(line))
        end = span.end_column - 1 if span.end_line == span.line else len(code)
    end = max(start, end)
    before, marked, after = _near(line[:start], line[start:end], line[end:])
    return visible(before, _TAB), visible(marked, _TAB), visible(after, _TAB)


def _near(before: str, marked: str, after: str) -> tuple[str, str, str]:
    """The parts of a line; of a very long one those near the beginning of the mark."""
    if len(before) > _LONGEST:
        before = f"... {before[-_LONGEST:]}"
    if len(marked) > _LONGEST:
        marked, after = f"{marked[:_LONGEST]} ...", ""
    return before, marked, after if len(after) <= _LONGEST else f"{after[:_LONGEST]} ..."


def _json(one: Located) -> dict[str, object]:
    finding, span = one.finding, one.span
    known = span is not None and span.column > 0
    return {
        "code": finding.code,
        "severity": finding.severity,
        "message": finding.message,
        "file": one.file if span else None,
        "line": span.line if span else None,
        "column": span.column if span and known else None,
        "end_line": span.end_line if span else None,
        "end_column": span.end_column if span and known else None,
        "label": finding.caption,
        "help": finding.advice,
        "url": DOCS.format(code=finding.code),
        "related": [
            {
                "file": file if other else None,
                "line": other.line if other else None,
                "column": other.column or None if other else None,
                "message": text,
            }
            for file, other, text, _ in one.related
        ],
    }


def _github(one: Located) -> str:
    finding, span = one.finding, one.span
    properties: dict[str, object] = {}
    if span is not None:
        properties = {"file": one.file, "line": span.line}
        if span.end_line > span.line:  # GitHub takes columns only within one line
            properties["endLine"] = span.end_line
        elif span.column:
            properties |= {"col": span.column, "endColumn": span.end_column}
    properties["title"] = finding.code
    said = ",".join(f"{name}={_property(visible(str(value)))}" for name, value in properties.items())
    texts = dict.fromkeys((finding.message, finding.caption, finding.advice))
    text = "\n".join(visible(one) for one in texts if one)
    return f"::{finding.severity} {said}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _ignored(diagnostic: Diagnostic, sources: Sources) -> set[str]:
    """The codes in the comments on the first and the last line of a finding's place, or of what is around it."""
    codes: set[str] = set()
    for place in {diagnostic.place, diagnostic.around} - {None}:
        assert place is not None
        span = sources.resolve(place)
        lines = [] if span is None else sources.excerpt(span)
        for line in lines[:1] + lines[-1:]:
            for comment in _IGNORE.finditer(line):
                codes.update(code.strip() for code in comment[1].split(","))
    return codes
