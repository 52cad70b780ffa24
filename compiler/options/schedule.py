"""When runs start by themselves: the options of a pipeline that become those of a CronWorkflow."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, cast, get_args

from flowdsl.compiler.findings.objects import BadSchedule, UnknownZone, WithoutSchedule
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.options.reading import Wrong, each, one_of, said, text_option, whole, whole_seconds
from flowdsl.grammar.cron import cron, is_zone
from flowdsl.grammar.error import GrammarError
from flowdsl.options import Concurrency

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from flowdsl.compiler.options.reading import Reader

POLICIES: tuple[str, ...] = get_args(Concurrency)


def _schedule(name: str, written: object) -> tuple[str, ...]:
    several = isinstance(written, (list, tuple))
    listed: Sequence[object] = cast("list[object]", written) if several else (written,)
    if not listed:
        raise Wrong(OptionType(name, "a schedule or a list of schedules", said(written)))
    found: set[str] = set()

    def read(one: object) -> str:
        text = text_option(name, one)
        try:
            cron(text)
        except GrammarError as error:
            raise Wrong(BadSchedule(text, str(error))) from None
        if text in found:
            raise Wrong(OptionType(name, "a list without repetitions", f"{text!r} twice"))
        found.add(text)
        return text

    return each(listed, read, several)


def _timezone(name: str, written: object) -> str:
    text = text_option(name, written)
    if not is_zone(text):
        raise Wrong(UnknownZone(text))
    return text


def _limit(name: str, written: object) -> int:
    return whole(name, written, 0, 2**31 - 1, want="a whole number of at least 0")


def lonely(options: Mapping[str, object]) -> Iterator[tuple[str, Wrong]]:
    """The options for a schedule where there is none, each with its error."""
    if options.get("schedule") is None:
        for name in READERS:
            if options.get(name) is not None:
                yield name, Wrong(WithoutSchedule(name), "name")


READERS: dict[str, Reader] = {
    "schedule": _schedule,
    "timezone": _timezone,
    "concurrency": partial(one_of, words=POLICIES),
    "starting_deadline": whole_seconds,
    "keep_succeeded": _limit,
    "keep_failed": _limit,
}
