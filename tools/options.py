"""The page docs/guide/options.md: every option, who takes it, and what it means.

`python -m tools.options` writes it; with `--check` it only tells whether the page is current. The options are those of
flowdsl/options.py; what they mean is said once, in the tables of the other pages.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flowdsl.grammar.regex import regex
from tools.page import DOCS, ROOT, anchor, keep

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = DOCS / "guide" / "options.md"
SOURCE = ROOT / "flowdsl" / "options.py"

TAKERS = {
    "DeclaredOptions": "`@step`, `@container`",
    "CallOptions": "`.options` of a step",
    "ResourceStepOptions": "`@resource`",
    "GateStepOptions": "`@approve`",
    "RequestOptions": "`@http`",
    "LibraryStepOptions": "`@call_template`",
    "PipelineOptions": "`@pipeline`",
    "SubgraphOptions": "`.options` of a pipeline",
}
"""Which words accept the options of a class of the source."""

HEAD = """\
# Every option

What decorators and `.options` take besides arguments, by concern. What each means is quoted from the page behind its
link, which says more.
"""

_FENCE = regex(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_ROW = regex(r"\| (`\w+`(?:, `\w+`)*) \| (?:`[^|]*` \| )?(.*) \|")


class Concern(NamedTuple):
    """A class of options: the first line of its docstring, the options that it declares, and its base classes."""

    text: str
    own: list[str]
    bases: list[str]


class Meaning(NamedTuple):
    """The description of an option on a page."""

    text: str
    page: Path
    heading: str

    @property
    def section(self) -> tuple[Path, str]:
        """The section of the description."""
        return self.page, self.heading

    @property
    def link(self) -> str:
        """A link to the section, from a page of the guide."""
        name = self.page.name if self.page.parent == PAGE.parent else f"../{self.page.name}"
        return f"[{self.heading}]({name}#{anchor(self.heading)})"


def concerns() -> dict[str, Concern]:
    """The classes of the source, by name."""
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    return {
        one.name: Concern(
            (ast.get_docstring(one) or "").partition("\n")[0],
            [ast.unparse(part.target) for part in one.body if isinstance(part, ast.AnnAssign)],
            [ast.unparse(base) for base in one.bases],
        )
        for one in tree.body
        if isinstance(one, ast.ClassDef)
    }


def meanings() -> dict[str, list[Meaning]]:
    """The descriptions in the tables of the pages, by option."""
    found: dict[str, list[Meaning]] = {}
    for page in (DOCS / "language.md", *sorted(PAGE.parent.glob("*.md"))):
        if page == PAGE:
            continue
        heading = table = before = ""
        for line in _FENCE.sub("", page.read_text(encoding="utf-8")).splitlines():
            if line.startswith("#"):
                heading = line.lstrip("# ")
            elif line.startswith("|---"):
                table = before
            elif (row := _ROW.fullmatch(line)) and table.startswith("| option |"):
                for option in re.findall(r"`(\w+)`", row[1]):
                    found.setdefault(option, []).append(Meaning(_lifted(row[2], page), page, heading))
            before = line
    return found


def _lifted(text: str, page: Path) -> str:
    """A text of another page, with its links adapted to this one."""

    def link(match: re.Match[str]) -> str:
        words, target = match.groups()
        if target.startswith("http"):
            return match[0]
        if target.startswith("#"):
            target = page.name + target
        path = (page.parent / target).resolve()
        shown = path.name if path.parent == PAGE.parent else f"../{path.name}"
        return f"[{words}]({shown})"

    return re.sub(r"\[([^\]]*)\]\(([^)]*)\)", link, text)


def page() -> str:
    """The text of the page."""
    known, said = concerns(), meanings()
    parts = [HEAD]
    for name, one in known.items():
        if not one.own:
            continue
        takers = ", ".join(words for taker, words in TAKERS.items() if name in _made_of(taker, known))
        heading = one.text.removesuffix(".").removesuffix("; every word is optional")
        parts.append(f"\n## {heading}\n\nTaken by {takers}.\n\n| option | meaning |\n|---|---|\n")
        parts += [f"| `{option}` | {_best(said, option, one.own)} |\n" for option in one.own]
    return "".join(parts)


def _made_of(name: str, known: dict[str, Concern]) -> Iterator[str]:
    """A class, and its base classes."""
    if name in known:
        yield name
        for base in known[name].bases:
            yield from _made_of(base, known)


def _best(said: dict[str, list[Meaning]], option: str, beside: list[str]) -> str:
    """The description of an option in the section with most of the options beside it, and fewest others."""
    near = [one.section for each in beside for one in said.get(each, [])]
    every = [one.section for several in said.values() for one in several]
    best = max(said[option], key=lambda one: (near.count(one.section), -every.count(one.section)))
    return f"{best.text} ({best.link})"


if __name__ == "__main__":
    sys.exit(keep("options", {PAGE: page()}))
