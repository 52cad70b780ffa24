"""Templates, and the spec around them, with the known values of their tags in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.lint.combined import NONE, Guest, beside
from flowdsl.compiler.lint.manifest.template import Template
from flowdsl.compiler.lint.workflow.passed_values import composed
from flowdsl.compiler.tree import is_list, is_mapping, pairs, put, value_at
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from flowdsl.compiler.lint.combined import Whole
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path
    from flowdsl.diagnostic import Finding

_LEFT = frozenset(
    (
        "args",
        "command",
        "dag",
        "expression",
        "from",
        "fromExpression",
        "parameter",
        "podSpecPatch",
        "source",
        "steps",
    )
)
"""The fields of templates whose values are of any form, or are followed elsewhere."""

_AROUND = frozenset(("arguments", "hooks", "podSpecPatch", "templateDefaults", "templates"))
"""The fields of the spec that are not filled: those that others read or that have values of their own."""

_DIGITS = regex(r"[0-9]+")


def filled(view: View) -> Whole | None:
    """A document with its templates as they are with each of their known values; None without such values.

    A finding about a value is reported where the value is written.
    """
    around = Template({key: each for key, each in view.spec.items() if key not in _AROUND}, view.path)
    spec, places = next(_filled(view, around), (around.data, NONE))
    values = {(*view.path, *path): place for path, place in places.items()}
    return beside(view, _templates(view), {**view.spec, **spec}, values)


def _templates(view: View) -> Iterator[tuple[Object, Guest]]:
    for template in view.all:
        for data, places in _filled(view, template) if "{{" in template.text else ():
            yield data, Guest(view, template, template.path, _same, places)


def _same(finding: Finding) -> Finding:
    return finding


def _filled(view: View, template: Template) -> Iterator[tuple[Object, dict[Path, Path]]]:
    """The variants of a template, each with the places of the values by the paths of the texts in the template.

    Texts with the same number of values get those of the same call. Empty values are placeholders.
    """
    known: dict[int, dict[_Text, list[tuple[Path, str]]]] = {}
    for one in _texts(template.data):
        values = list(composed(view, template, one.text, (*template.path, *one.path)))
        if values and all(value and "{{" not in value for _, value in values):
            known.setdefault(len(values), {})[one] = values
    single = {one: values[0] for one, values in known.pop(1, {}).items()}
    rows = [row for several in known.values() for row in _rows(several)]
    for row in rows or ([single] if single else []):
        data, places = template.data, {}
        both = {**single, **row}
        for one in sorted(both, key=lambda one: (one.is_key, -len(one.path))):
            place, value = both[one]
            data, path = one.replaced(data, value)
            places[path] = place
        yield data, places


_Row = dict["_Text", "tuple[Path, str]"]


def _rows(several: dict[_Text, list[tuple[Path, str]]]) -> Iterable[_Row]:
    """The values that some texts have together; of those that differ in digits only, the first and the longest.

    There may be thousands of them: the items of a loop.
    """
    first: dict[str, _Row] = {}
    longest: dict[str, tuple[int, _Row]] = {}
    for values in zip(*several.values(), strict=True):
        row = dict(zip(several, values, strict=True))
        text = "\n".join(value for _, value in values)
        form = _DIGITS.sub("0", text)
        first.setdefault(form, row)
        if form not in longest or len(text) > longest[form][0]:
            longest[form] = len(text), row
    found = [*first.values(), *(row for _, row in longest.values())]
    return {id(row): row for row in found}.values()


class _Text(NamedTuple):
    """A text with tags at a path: a value, or the last key of the path."""

    path: Path
    text: str
    is_key: bool = False

    def replaced(self, data: Object, value: str) -> tuple[Object, Path]:
        """The data with a value in place of the text, and the path that it has there."""
        above = self.path[:-1]
        if not self.is_key:
            return put(data, self.path, value), self.path
        owner: Object = value_at(data, above)
        renamed = {value if key == self.text else key: each for key, each in owner.items()}
        return put(data, above, renamed), (*above, value)


def _texts(node: object, path: Path = ()) -> Iterator[_Text]:
    """The texts with tags that must have some form; keys after what is below them."""
    if is_mapping(node):
        for key, each in pairs(node):
            if key not in _LEFT and (key != "parameters" or path != ("inputs",)):
                yield from _texts(each, (*path, key))
                if isinstance(key, str) and "{{" in key:
                    yield _Text((*path, key), key, is_key=True)
    elif is_list(node):
        for index, each in enumerate(node):
            yield from _texts(each, (*path, index))
    elif isinstance(node, str) and "{{" in node and not _is_free(path):
        yield _Text(path, node)


def _is_free(path: Path) -> bool:
    """Whether a text may have any form: that of a variable, an output or a file."""
    if path[-1] == "value":
        return path[-3:-2] in (("env",), ("parameters",))
    return path[-2:] == ("raw", "data")
