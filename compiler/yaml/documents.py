"""YAML and JSON that somebody wrote: the values of each document, and where each of them stands.

Text is read with PyYAML's C parser as far as nodes with marks; values and spans are made of the nodes.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, cast

import yaml

from flowdsl.compiler.tree import is_mapping
from flowdsl.compiler.yaml.findings import (
    InvalidYaml,
    KeyNotText,
    KeyReadOtherwise,
    MergedToo,
    UnknownTag,
)
from flowdsl.compiler.yaml.nodes import CORE, Merged, Refused, Values, is_merge, key_text, nodes, scalar
from flowdsl.compiler.yaml.scalars import positions
from flowdsl.compiler.yaml.slips import slip
from flowdsl.diagnostic import Diagnostic, Related
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex
from flowdsl.places.place import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding


class Document(NamedTuple):
    """One document: its value, its node, and the lines of its file with their offsets.

    `paired` are the characters that were two escapes in the file, by their offsets in the text that YAML parsed.
    `renamed` are the keys that are not read as written. `within`: it is nested in a document of another
    kind, which makes objects of it, with other values at the paths of `decided`. `merged` are the keys that are in a
    mapping and are merged by `<<` too, or merged twice. `tagged` are the nodes with an unknown tag.
    """

    file: str
    lines: list[str]
    starts: list[int]
    paired: list[int]
    body: Any
    node: yaml.Node
    renamed: Sequence[yaml.ScalarNode] = ()
    merged: Sequence[Merged] = ()
    tagged: Sequence[yaml.Node] = ()
    within: bool = False
    decided: Sequence[Path] = ()

    @property
    def doubts(self) -> Iterator[Diagnostic]:
        """Probable mistakes, whatever the document is for."""
        for key in dict.fromkeys(self.renamed):
            yield Diagnostic(KeyReadOtherwise(key.value, key_text(key)), self.extent(key))
        for key, name, again, taken in dict.fromkeys(self.merged):
            yield Diagnostic(MergedToo(name, again, taken), self.extent(key))
        for node in dict.fromkeys(self.tagged):
            one_line = isinstance(node, yaml.ScalarNode) or node.start_mark.line == node.end_mark.line
            place = self.extent(node) if one_line else self._first_line(node)
            yield Diagnostic(UnknownTag(node.tag.replace(CORE, "!!")), place)

    @property
    def listed(self) -> list[Document]:
        """The documents in a `List` or `WorkflowList`; itself, if it is none."""
        body = self.body
        found: Any = (
            body.get("items") if is_mapping(body) and str(body.get("kind")).endswith("List") else None
        )
        if not isinstance(found, list):
            return [self]
        items = cast("list[object]", found)
        nodes = [self._found(("items", index))[1] for index in range(len(items))]
        return [self._part(item, node) for item, node in zip(items, nodes, strict=True)]

    def held(self, kinds: Collection[str], decided: Sequence[Path] = ()) -> list[Document]:
        """The objects of some kinds nested in a document of another kind, such as a Sensor or an Experiment.

        `decided` are paths of the document whose values are replaced when objects are made of it.
        """
        found: list[Document] = []
        stack: list[tuple[object, yaml.Node, Path]] = [(self.body, self.node, ())]
        while stack:
            value, node, path = stack.pop()
            if is_mapping(value) and value.get("kind") in kinds and is_mapping(value.get("spec")):
                part = self._part({**value, "metadata": value.get("metadata") or {}}, node)
                own = [each[len(path) :] for each in decided if each[: len(path)] == path]
                found.append(part._replace(within=True, decided=own))
                continue
            below = value.items() if is_mapping(value) else enumerate(cast("list[object]", value))
            for key, each in below:
                if isinstance(each, (dict, list)) and (there := _below(node, key)) is not None:
                    stack.append((cast("object", each), there[1], (*path, key)))
        return found[::-1]

    def _part(self, body: object, node: yaml.Node) -> Document:
        """A part of the document as a separate document."""
        start, end = node.start_mark.index, node.end_mark.index
        renamed = [key for key in self.renamed if start <= key.start_mark.index < end]
        tagged = [each for each in self.tagged if start <= each.start_mark.index < end]
        return self._replace(body=body, node=node, renamed=renamed, tagged=tagged)

    def place(self, problem: Problem) -> Span:
        """The span of a problem: the part or name that it is about, in the value or key at its path."""
        if problem.part is not None and (exact := self._exact(problem.path, *problem.part)) is not None:
            return exact
        span = self.span(problem.path, problem.on_key)
        return self._narrowed(span, problem.finding)

    def written(self, path: Path) -> str:
        """The source text of the scalar at a path, without quotes; empty if there is none."""
        _, node, whole = self._found(path)
        return str(node.value) if whole and isinstance(node, yaml.ScalarNode) else ""

    def span(self, path: Path, on_key: bool = False) -> Span:
        """The span of the value at a path, of its key if `on_key`, or of the nearest part that exists.

        For a mapping or list of several lines, its key; in a list, its first line.
        """
        key, node, whole = self._found(path)
        if on_key and whole and key is not None:
            return self.extent(key)
        if isinstance(node, yaml.ScalarNode) or node.start_mark.line == node.end_mark.line:
            return self.extent(node)
        return self._first_line(node) if key is None else self.extent(key)

    def region(self, path: Path) -> Span:
        """The full extent of the entry at a path, or of the nearest part that exists."""
        key, node, _ = self._found(path)
        span = self.extent(node)
        return span if key is None else span._replace(line=key.start_mark.line + 1)

    def _exact(self, path: Path, start: int, end: int) -> Span | None:
        """The span of a part of the text at a path; None if it cannot be found in the source."""
        _, node, whole = self._found(path)
        if not whole or not isinstance(node, yaml.ScalarNode) or str(scalar(node)) != node.value:
            return None
        value: str = node.value
        if start == end == len(value):  # a missing part is reported after the last word
            start = end = len(value.rstrip())
        (line, column), (last, behind) = self._position(node.start_mark), self._position(node.end_mark)
        lines = self.lines[line : last + 1]
        lines[-1] = lines[-1][:behind]
        lines[0] = lines[0][column:]
        source = "\n".join(lines)
        found = positions(source, node.style, value)
        if found is None or not 0 <= start <= end < len(found):
            return None

        def place(offset: int) -> tuple[int, int]:
            below = source.count("\n", 0, offset)
            return line + below + 1, offset - source.rfind("\n", 0, offset) + (0 if below else column)

        finish = place(found[end])
        if end and finish[0] > (before := place(found[end - 1]))[0]:
            # A part ends with its last character, not where the next line begins.
            finish = before[0], min(before[1] + 1, len(self.lines[before[0] - 1]) + 1)
        return Span(self.file, *(finish if start == end else place(found[start])), *finish)

    def _found(self, path: Path) -> tuple[yaml.Node | None, yaml.Node, bool]:
        """The last existing key and node of a path, and whether they are the end of it."""
        key: yaml.Node | None = None
        node = self.node
        for step in path:
            found = _below(node, step)
            if found is None:
                return key, node, False
            key, node = found
        return key, node, True

    def extent(self, node: yaml.Node) -> Span:
        """The span of a node."""
        (line, column), (end, last) = self._position(node.start_mark), self._position(node.end_mark)
        if end > line and last == 0:  # a block ends where the next node begins
            end -= 1
            while end > line and not self.lines[end].strip():
                end -= 1
            last = len(self.lines[end])
        return Span(self.file, line + 1, column + 1, end + 1, last + 1)

    def _first_line(self, node: yaml.Node) -> Span:
        line, column = self._position(node.start_mark)
        return Span(
            self.file, line + 1, column + 1, line + 1, max(len(self.lines[line].rstrip()), column) + 1
        )

    def _position(self, mark: Any) -> tuple[int, int]:
        """The line and column of a mark, from 0; YAML has more line breaks than others."""
        index = mark.index + 11 * bisect_left(self.paired, mark.index)
        line = bisect_right(self.starts, index) - 1
        return line, index - self.starts[line]

    def _narrowed(self, span: Span, finding: Finding) -> Span:
        """The span of the part that the finding names, if it is there literally."""
        for words in ("call", "name"), ("name",), ("producer",):
            names = [getattr(finding, word, None) for word in words]
            if all(isinstance(name, str) and name for name in names):
                wanted = r"\.".join(re.escape(str(name)) for name in names)
                part = re.compile(rf"(?<![\w-])(?:[\w.-]+\.)?{wanted}(?![\w-])")
                if (found := self._search(part, span)) is not None:
                    return found
        return span

    def _search(self, part: re.Pattern[str], span: Span) -> Span | None:
        for number in range(span.line, min(span.end_line, len(self.lines)) + 1):
            text = self.lines[number - 1]
            start = span.column - 1 if number == span.line else 0
            end = span.end_column - 1 if number == span.end_line else len(text)
            if (found := part.search(text, start, end)) is not None:
                return Span(self.file, number, found.start() + 1, number, found.end() + 1)
        return None


def read(text: str, file: str) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of a text, without empty ones, and the errors that prevent reading others."""
    documents, problems = _read(text, file)
    if problems and _HELM.search(text):
        problems = [
            each._replace(finding=type(each.finding)(**{**vars(each.finding), "way": _FILL}))
            if isinstance(each.finding, (InvalidYaml, KeyNotText))
            else each
            for each in problems
        ]
    return documents, problems


_HELM = re.compile(
    r"\{\{-?\s*(?:\.(?:Values|Release|Chart|Files|Capabilities)\b|(?:include|if|with|range|define|template|end)\b)"
)
_FILL = "let Helm fill it in first, and check what comes out: `helm template CHART | flowdsl check -`"


def _read(text: str, file: str) -> tuple[list[Document], list[Diagnostic]]:
    documents: list[Document] = []
    problems: list[Diagnostic] = []
    lines = text.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)][:-1]
    paired: list[int] = []
    try:
        source = _paired(text, paired)
        # YAML 1.1 has no `\/`; a text that begins with a brace is read as JSON, which has it.
        slashed = source if "\\/" in source and not source.lstrip().startswith("{") else ""
        for node in nodes(source):
            document = Document(file, lines, starts, paired, None, node)
            values = Values(slashed)
            try:
                body = values.of(node, in_flow=False)
            except Refused as refused:
                first = [] if refused.other is None else [document.extent(refused.other)]
                others = tuple(Related(span, "it is here first") for span in first)
                problems.append(Diagnostic(refused.finding, document.extent(refused.node), others))
            else:
                if body is not None:
                    documents.append(
                        document._replace(
                            body=body, renamed=values.renamed, merged=values.merged, tagged=values.tagged
                        )
                    )
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        reason = " ".join(str(part) for part in (error.problem, error.context) if part)
        finding = InvalidYaml(reason)
        if mark is not None and (found := slip(lines, error)) is not None:
            line, column, way = found
            finding = InvalidYaml(reason, way)
        problems.append(Diagnostic(finding, Span(file, line, column, line, column + 1)))
    except yaml.reader.ReaderError as error:
        line, column = _unreadable(text)
        finding = InvalidYaml(error.reason)
        problems.append(Diagnostic(finding, Span(file, line, column, line, column + 1)))
    except RecursionError:
        problems.append(Diagnostic(InvalidYaml("it is nested too deeply"), Span(file, 1, 1, 1, 2)))
    return documents, problems


_UNREADABLE = regex(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that YAML does not allow. Source: c-printable of YAML 1.2, chapter 5.1."""


def _unreadable(text: str) -> tuple[int, int]:
    """The line and column of the first character that YAML does not allow."""
    found = _UNREADABLE.search(text)
    before = text[: found.start()] if found is not None else ""
    return before.count("\n") + 1, len(before) - before.rfind("\n")


_PAIR = re.compile(r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})")


def _paired(text: str, places: list[int]) -> str:
    """The text with surrogate pairs of escapes in JSON decoded: YAML has no such pairs.

    Argo and kubectl read a text that begins with a brace as JSON, and any other as YAML. `places` are filled with the
    offsets of these characters in the result.
    """

    def written(pair: re.Match[str]) -> str:
        places.append(pair.start(2) - 11 * len(places))
        character: str = json.loads(f'"{pair[2]}"')
        return pair[1] + character

    return _PAIR.sub(written, text) if "\\u" in text and text.lstrip().startswith("{") else text


def _below(node: yaml.Node, step: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    """The key, if there is one, and the value of one step of a path."""
    value: Any = node.value
    if isinstance(node, yaml.SequenceNode):
        return (None, value[step]) if isinstance(step, int) and step < len(value) else None
    if not isinstance(node, yaml.MappingNode):
        return None
    for key, inner in reversed(value):  # the last one counts, also of those merged by `<<`
        if isinstance(key, yaml.ScalarNode) and not is_merge(key) and key_text(key) == step:
            return key, inner
        if is_merge(key):
            for one in inner.value if isinstance(inner, yaml.SequenceNode) else (inner,):
                if (found := _below(one, step)) is not None:
                    return found
    return None
