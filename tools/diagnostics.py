"""The pages in docs/diagnostics: one for each kind of finding, and the index; and the list of their codes.

`python -m tools.diagnostics` writes them from the classes, from the cases in tests/mistakes and tests/wrong,
and from the files in tests/right; with `--check` it only names the pages that are not current.
"""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
import tomllib
from string import Formatter
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.cli.display.report import render
from flowdsl.compiler.importing.compiled import findings
from flowdsl.compiler.importing.importing import imported
from flowdsl.compiler.manifests import check_manifests, manifests
from flowdsl.compiler.yaml.documents import read
from flowdsl.diagnostic import Finding
from flowdsl.places.source import Sources
from tools.page import DOCS, ROOT, keep

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = DOCS / "diagnostics"
CODES = ROOT / "compiler" / "findings" / "codes.py"
CASES = ROOT / "tests" / "mistakes"
WRONG = ROOT / "tests" / "wrong"
RIGHT = ROOT / "tests" / "right"
LAYERS = ("flowdsl", "cli", "compiler", "grammar", "runtime", "testing")

_KIND = re.compile(r'^    code(?:: ClassVar\[str\])? = "FD\d+"$', re.MULTILINE)
_CODE = re.compile(r"^.*\b(?:error|warning)\[(FD\d+)\]: ", re.MULTILINE)


class Example(NamedTuple):
    """An example of a kind of finding: its language, its text, the settings beside it, and the output."""

    language: str
    source: str
    settings: str = ""
    printed: str = ""


def kinds() -> list[type[Finding]]:
    """Every kind of finding, by code."""
    for layer in LAYERS:
        for path in (ROOT / layer).rglob("*.py"):
            if _KIND.search(_read(path)):
                inner = path.relative_to(ROOT).with_suffix("").parts
                name = ".".join(inner if layer == "flowdsl" else ("flowdsl", *inner))
                importlib.import_module(name.removesuffix(".__init__"))
    return sorted(_below(Finding), key=lambda kind: (kind.code, kind.__module__, kind.__name__))


def _below(kind: type[Finding]) -> Iterator[type[Finding]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("flowdsl.") and "code" in vars(each):
            yield each
        yield from _below(each)


def found(golden: str) -> list[str]:
    """The codes of the findings in a printed text, in order."""
    return _CODE.findall(golden)


def wrong() -> dict[str, Example]:
    """For each code an example of the mistake: a manifest of tests/wrong, or the simplest of the cases.

    Simplest: with the fewest other findings, and then the shortest.
    """
    ranked: dict[str, list[tuple[int, int, str, str, str]]] = {}
    for golden in sorted(CASES.glob("*/*.err")):
        source = golden.with_suffix(".py")
        if source.exists():
            text, printed = _read(source), _read(golden)
            codes = found(printed)
            for code in set(codes):
                rank = (len(set(codes)), len(text), text, _settings(source), _about(code, printed))
                ranked.setdefault(code, []).append(rank)
    plainest = {code: Example("python", *min(cases)[2:]) for code, cases in ranked.items()}
    return {**plainest, **{path.stem: _manifest(path) for path in sorted(WRONG.rglob("FD*.yaml"))}}


def right() -> dict[str, Example]:
    """For each code an example of tests/right: the mistake, corrected."""
    languages = {".py": "python", ".yaml": "yaml"}
    return {
        path.stem: Example(languages[path.suffix], _read(path), _settings(path))
        for path in sorted(RIGHT.rglob("FD*"))
        if path.suffix in languages
    }


def checked(path: Path) -> str:
    """The output of `flowdsl check` for a manifest, in its own folder; in a folder `importing`, of `flowdsl import`."""
    sources, text = Sources(), _read(path)
    sources.add(path.name, text)
    if path.parent.name == "importing":
        documents = [part for one in read(text, path.name)[0] for part in one.listed]
        return render(findings(imported(documents), documents), sources, "text")
    [diagnostics] = check_manifests([manifests(text, path.name, named=True)])
    return render(diagnostics, sources, "text")


def page(kind: type[Finding], bad: Example | None, good: Example | None) -> str:
    """The page of one kind of finding."""
    parts = [f"# {kind.code}", _meaning(kind), f"{kind.severity}: {_shown(kind.title)}"]
    if _says_something(kind.help):
        parts.append(f"help: {_shown(kind.help)}")
    if bad is not None:
        parts += ["## Wrong", *_shown_files(bad), _fenced("text", bad.printed)]
    if good is not None:
        same = bad is not None and bad.settings == good.settings
        parts += ["## Right", *_shown_files(good._replace(settings="") if same else good)]
    return "\n\n".join(parts) + "\n"


def index(every: list[type[Finding]]) -> str:
    """The page that lists all kinds."""
    rows = [
        f"| [{kind.code}]({kind.code}.md) | {kind.severity} | {_cell(_meaning(kind))} |" for kind in every
    ]
    head = (
        "# Diagnostics\n\n"
        "What flowdsl reports, by code. A warning can be silenced: on its line with a comment\n"
        '`# flowdsl: ignore[FD217]`, or for a project with `ignore = ["FD217"]` under `[tool.flowdsl]`.\n\n'
        "| code | severity | meaning |\n| --- | --- | --- |\n"
    )
    return head + "\n".join(rows) + "\n"


def codes(every: list[type[Finding]]) -> str:
    """The module that lists the codes."""
    listed = {
        severity: textwrap.fill(
            " ".join(sorted({each.code for each in every if each.severity == severity})), 110
        )
        for severity in ("error", "warning")
    }
    return (
        '"""The codes of all findings. Written by `python -m tools.diagnostics`."""\n\n'
        "from __future__ import annotations\n\n"
        f'_ERRORS = """\n{listed["error"]}\n"""\n_WARNINGS = """\n{listed["warning"]}\n"""\n'
        "WARNINGS = frozenset(_WARNINGS.split())\nCODES = WARNINGS.union(_ERRORS.split())\n"
    )


def pages() -> dict[Path, str]:
    """All pages and the list of codes, by path."""
    every, bad, good = kinds(), wrong(), right()
    made = {PAGES / f"{kind.code}.md": page(kind, bad.get(kind.code), good.get(kind.code)) for kind in every}
    return {CODES: codes(every), PAGES / "README.md": index(every), **made}


def there() -> list[Path]:
    """The pages that exist."""
    return [*PAGES.glob("*.md")]


def _manifest(path: Path) -> Example:
    return Example("yaml", _read(path), printed=_about(path.stem, checked(path)))


def _settings(path: Path) -> str:
    """The project settings beside a file."""
    beside = path.with_name("flowdsl.toml")
    return _read(beside) if beside.exists() else ""


def _shown_files(example: Example) -> list[str]:
    files = [_fenced(example.language, example.source)]
    if not example.settings:
        return files
    try:
        tomllib.loads(example.settings)
    except tomllib.TOMLDecodeError:  # the mistake is that it is no TOML
        return [*files, "`flowdsl.toml`:", _fenced("text", example.settings)]
    return [*files, "`flowdsl.toml`:", _fenced("toml", example.settings)]


def _about(code: str, printed: str) -> str:
    """The findings of one code in a printed text."""
    return "\n\n".join(block for block in printed.split("\n\n") if code in found(block))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _meaning(kind: type[Finding]) -> str:
    return " ".join((kind.__doc__ or "").split())


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _shown(template: str) -> str:
    """A message template with its doubled braces made single."""
    parts = (
        text + ("" if name is None else f"{{{name}}}") for text, name, _, _ in Formatter().parse(template)
    )
    return "".join(parts)


def _says_something(template: str) -> bool:
    """Whether a template has text besides its fields."""
    return any(text.strip() for text, _, _, _ in Formatter().parse(template))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(keep("diagnostics", pages(), there()))
