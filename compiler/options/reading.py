"""How the readers of options say what is wrong, and what they have in common.

A reader takes the name of an option and what the user wrote, and answers what the IR wants, or raises `Wrong`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any, ParamSpec, TypeGuard, TypeVar, cast

from flowdsl.compiler.findings.amounts import BadDuration
from flowdsl.compiler.findings.objects import ReservedKey, UnknownWord
from flowdsl.compiler.findings.options import MEMBER, OptionType
from flowdsl.compiler.findings.surroundings import BadLabelText, BadObjectName
from flowdsl.compiler.objects import MARKS
from flowdsl.diagnostic import is_long
from flowdsl.grammar.duration import in_hours, seconds_in
from flowdsl.grammar.error import GrammarError
from flowdsl.grammar.labels import PREFIX
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.names import is_dns_subdomain, is_label_value, is_qualified_name
from flowdsl.values.lift import as_written
from flowdsl.values.textual import textual

if TYPE_CHECKING:
    from flowdsl.diagnostic import Finding
    from flowdsl.places.place import Place

P = ParamSpec("P")
T = TypeVar("T")
N = TypeVar("N", bound=NamedTuple)
Reader = Callable[[str, Any], Any]
Doubter = Callable[[Any], "Iterator[Wrong]"]
"""Checks a valid option for what is probably not meant."""


class Wrong(Exception):
    """An option that cannot be used as written.

    `part` is the part of the option at fault, as in `flowdsl.places.place.Argument`: "name" is the
    option's name, "item:NAME" and "key:NAME" are an entry of its dict, or an argument of its call. So is `path`.
    `place` is where it was written, if not in the option itself.
    """

    def __init__(
        self,
        finding: Finding,
        part: str = "value",
        path: tuple[str | int, ...] = (),
        place: Place | None = None,
    ) -> None:
        super().__init__(finding.message)
        self.finding = finding
        self.part = part
        self.path = path
        self.place = place


class Parts:
    """Reads the arguments of an option such as `Retry(...)`, and reports all errors together."""

    def __init__(self) -> None:
        self._wrong: list[Wrong] = []

    def read(self, name: str, reader: Callable[P, T], *given: P.args, **named: P.kwargs) -> T | None:
        """The result of a reader for the argument of that name; None if it raises `Wrong`, which is kept."""
        try:
            return reader(*given, **named)
        except Wrong as error:
            self.add(name, error.finding)
            return None

    def add(self, name: str, finding: Finding) -> None:
        """Add a finding about the argument of that name."""
        self._wrong.append(Wrong(finding, f"item:{name}"))

    def end(self) -> None:
        """Raise a group of `Wrong` if there were errors."""
        if self._wrong:
            raise ExceptionGroup("parts", self._wrong)


def filled_in(record: N, found: Mapping[str, Any]) -> N:
    """A record with the values of the options that its fields are named after."""
    return record._replace(**{field: found[field] for field in record._fields if field in found})


def flattened(group: BaseExceptionGroup[Wrong]) -> Iterator[Wrong]:
    """The findings in a group, and in groups inside it."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from flattened(error)
        else:
            yield error


def said(thing: object) -> str:
    """A value for a message."""
    if isinstance(thing, Enum):
        return f"{MEMBER}{as_written(thing)}"
    long = isinstance(thing, int) and is_long(thing)
    shown = "" if long else repr(thing)
    return type(thing).__name__ if long or len(shown) > 60 or " at 0x" in shown else shown


def entries(name: str, written: object, want: str, entry: Callable[[Any, Any], T]) -> list[T]:
    """The result of `entry` for each entry of a dict; raises `Wrong`, or a group of it for all errors."""
    if not is_mapping(written):
        raise Wrong(OptionType(name, want, said(written)))
    return all_of(partial(entry, key, value) for key, value in written.items())


def listed(name: str, written: object, want: str) -> Sequence[object]:
    """The entries of a list; raises `Wrong`."""
    if not isinstance(written, (list, tuple)):
        raise Wrong(OptionType(name, want, said(written)))
    return cast("list[object]", written)


def all_of(readers: Iterable[Callable[[], T]]) -> list[T]:
    """The result of each of the readers; raises a group of all errors."""
    found: list[T] = []
    wrong: list[Wrong] = []
    for read in readers:
        try:
            found.append(read())
        except* Wrong as group:
            wrong += flattened(group)
    if wrong:
        raise ExceptionGroup("entries", wrong)
    return found


def each(listed: Sequence[object], read: Callable[[object], T], several: bool = True) -> tuple[T, ...]:
    """The result of `read` for each entry of a list; raises `Wrong`, or a group of it for all errors.

    `several` tells that the user wrote a list, not its single entry.
    """

    def entry(index: int, one: object) -> T:
        try:
            return read(one)
        except Wrong as error:
            raise Wrong(error.finding, path=(index,) if several else ()) from None

    return tuple(all_of(partial(entry, index, one) for index, one in enumerate(listed)))


def is_mapping(thing: object) -> TypeGuard[Mapping[Any, Any]]:
    """Whether a value is a mapping."""
    return isinstance(thing, Mapping)


def text_option(name: str, written: object, *, part: str = "value") -> str:
    """A text that is not empty; raises `Wrong`."""
    if not isinstance(written, str):
        raise Wrong(OptionType(name, "a string", said(written)), part)
    if not written.strip():
        raise Wrong(OptionType(name, "a non-empty string", said(written)), part)
    if "{{" in written:
        raise Wrong(OptionType(name, "a string without `{{`", said(written)), part)
    return written


def flag(name: str, written: object) -> bool:
    """True or False; raises `Wrong`."""
    if not isinstance(written, bool):
        raise Wrong(OptionType(name, "True or False", said(written)))
    return written


def words(name: str, written: object) -> tuple[str, ...]:
    """A list of texts, such as a command line; raises `Wrong`."""
    found: list[str] = []
    for word in listed(name, written, "a list of strings"):
        if not isinstance(word, str) or "{{" in word:
            raise Wrong(OptionType(name, "a list of strings without `{{`", said(word)))
        found.append(word)
    return tuple(found)


def object_name(kind: str) -> Callable[[str, object], str]:
    """The reader of the name of an object of the cluster; it raises `Wrong`."""

    def read(name: str, written: object) -> str:
        text = text_option(name, written)
        if not is_dns_subdomain(text):
            raise Wrong(BadObjectName(repr(text), f"a {kind}"))
        return text

    return read


def period(name: str, written: object) -> str:
    """A duration option in Argo's format; raises `Wrong`."""
    row = textual(written)
    if row is not None and row.form == "duration":
        text = row.text(written)
    elif isinstance(written, (int, str)) and not isinstance(written, bool):
        text = str(written)
    else:
        raise Wrong(OptionType(name, "a string such as '6h', whole seconds or a timedelta", said(written)))
    try:
        found = seconds_in(text)
    except GrammarError as error:
        raise Wrong(BadDuration(name, text, error.expected)) from None
    if found <= 0:
        raise Wrong(BadDuration(name, text, "a time above 0"))
    return f"{text}s" if text.isdecimal() else in_hours(text)


def seconds(name: str, written: object) -> float:
    """A duration option in seconds; raises `Wrong`."""
    return seconds_in(period(name, written))


def whole_seconds(name: str, written: object) -> int:
    """A duration option in whole seconds, at least one; raises `Wrong`."""
    return max(1, round(seconds(name, written)))


def one_of(name: str, written: object, words: tuple[str, ...], *, part: str = "value") -> str:
    """One of a few words; raises `Wrong`."""
    text = text_option(name, written, part=part)
    if text not in words:
        raise Wrong(UnknownWord(f"`{name}`", text, words), part)
    return text


def whole(
    name: str, written: object, least: int, most: int | None = None, *, want: str = "", part: str = "value"
) -> int:
    """An integer of at least `least`, and up to `most` if there is a limit; raises `Wrong`.

    `want` describes it in a message, where that is more than its bounds.
    """
    if (
        not isinstance(written, int)
        or isinstance(written, bool)
        or written < least
        or (most is not None and written > most)
    ):
        bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise Wrong(OptionType(name, want or f"a whole number {bounds}", said(written)), part)
    return written


def count(name: str, written: object) -> int:
    """An integer of at least 1; raises `Wrong`."""
    return whole(name, written, 1)


def label_texts(name: str, written: object) -> dict[str, str]:
    """Labels of an object; raises `Wrong`, or a group of it."""
    return _marks(name, written, "a label", is_label_value)


def annotation_texts(name: str, written: object) -> dict[str, str]:
    """Annotations of an object; raises `Wrong`, or a group of it."""
    return _marks(name, written, "an annotation", lambda text: True)


def _marks(name: str, written: object, what: str, is_value: Callable[[str], bool]) -> dict[str, str]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if not isinstance(value, str):
            raise Wrong(OptionType(f"{name}[{key!r}]", "a string", said(value)), f"item:{key}")
        if not isinstance(key, str) or not is_qualified_name(key):
            finding = BadLabelText(str(key), f"the key of {what}")
            raise Wrong(finding, f"key:{key}")
        if by := owner(key):
            raise Wrong(ReservedKey(key, by), f"key:{key}")
        if not is_value(value):
            raise Wrong(BadLabelText(value, f"the value of {what}"), f"item:{key}")
        return key, value

    return dict(entries(name, written, "a dict of strings", entry))


def owner(key: str) -> str:
    """Who alone may write a label or annotation; empty for others."""
    if key.rpartition("/")[0] == MARKS:
        return "flowdsl"
    return "Argo" if key.startswith(PREFIX) and key.removeprefix(PREFIX) in _ARGO else ""


#: What Argo sets on workflows and pods, and selects them by. The user's are applied last and would win.
#: Source: Argo Workflows, workflow/common/common.go, and createWorkflowPod.
_ARGO = frozenset(
    [
        "phase",
        "completed",
        "workflow-archiving-status",
        "creator",
        "creator-email",
        "creator-preferred-username",
        "actor",
        "actor-email",
        "actor-preferred-username",
        "action",
        "resubmitted-from-workflow",
        "cron-workflow",
        "workflow-template",
        "cluster-workflow-template",
        "workflow",
        "on-exit",
        "component",
        "node-id",
        "node-name",
        "pod-gc-strategy",
        "progress",
        "scheduled-time",
    ]
)
