"""Dates and times: as values, in records and lists, compared and in texts, over which a loop runs."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import NamedTuple

from flowdsl import command, container, either, fan_out, grid, output, pipeline, step, when

PYTHON = "python:3.12-slim"
START = date(1999, 9, 9)


@dataclass
class Window:
    first: date
    last: date | None = None
    times: list[datetime] = field(default_factory=list[datetime])


class Loaded(NamedTuple):
    day: date
    at: datetime
    rows: int


@step(image=PYTHON)
def days(first: date, count: int) -> list[date]:
    """So many days."""
    return [first + timedelta(days=number) for number in range(count)]


@step(image=PYTHON)
def window(first: date, at: datetime, more: datetime | None = None) -> Window:
    """A record of them."""
    return Window(first, first + timedelta(days=1), [at, more] if more else [at])


@step(image=PYTHON)
def load(day: date, mode: str = "a", since: date = START) -> Loaded:
    """A time of the day."""
    at = datetime(day.year, day.month, day.day, 5, 4, 3, 21, timezone(timedelta(hours=2)))
    return Loaded(day, at, (day - since).days + len(mode))


@step(image=PYTHON)
def late(day: date) -> date | None:
    """The day, or none."""
    return day if day.year > 2025 else None


@step(image=PYTHON)
def said(loaded: list[Loaded], windows: list[Window], pair: tuple[date, int], named: dict[str, date]) -> str:
    """All of it."""
    return str((loaded, windows, pair, named))


@step(image=PYTHON)
def plan(by_day: dict[date, int], noon: time = time(12)) -> dict[date, list[time]]:
    """Times for each day."""
    return {day: [noon, time(hour, 5, 0, 7)] for day, hour in by_day.items()}


@step(image=PYTHON)
def planned(plans: dict[date, list[time]], by_time: dict[time, date], first: list[time]) -> str:
    """All of it."""
    return str((plans, by_time, first))


@step(image=PYTHON)
def moment(at: datetime, naive: datetime) -> bool:
    """Whether the zone is kept."""
    return at.tzinfo is not None and naive.tzinfo is None


@container(image="busybox:1.37.0")
def echo(day: date, at: datetime) -> str:
    """As texts."""
    return command(
        "sh", "-c", 'printf "%s %s" "$1" "$AT" > "$OUT"', "sh", day, env={"AT": at, "OUT": output()}
    )


@pipeline
def part(day: date, shared: Window) -> Loaded:
    return load.options(name="inner")(either(shared.last, day), f"of {day}")


@pipeline
def moments(
    day: date = date(2026, 1, 31),
    at: datetime = datetime(2026, 1, 31, 6, tzinfo=UTC),
    other: date | None = None,
) -> str:
    shared = window.options(name="window")(day, at)
    found = days.options(name="days")(day, 2)
    rows = fan_out(load, over={"day": found})
    every = fan_out(load, over=grid(day=[START, day], mode=["x", "y"]))
    parts = fan_out(part, over={"day": found}, shared=shared)
    moment.options(name="moment")(at, datetime.fromisoformat("2026-01-31T06:30"))
    with when((day >= date(2026, 1, 1)) & (day != date(2026, 1, 2))):
        load.options(name="new")(day, f"{day} or later")
    with when(day == START):
        load.options(name="first")(day)
    load.options(name="late")(either(late.options(name="perhaps")(day), START))
    load.options(name="other")(either(other, START))
    text = echo.options(name="echo")(day, at)
    load.options(name="text")(rows[1].day, text)
    plans = plan.options(name="plan")({START: 3, date(2001, 2, 3): 4})
    planned.options(name="planned")(plans, {time(1, 2, 3): day, time(0): START}, plans[date(2001, 2, 3)])
    said.options(name="rest")(every, [Window(day, None, [at])], (START, 3), {"a": START})
    return said.options(name="said")(parts, [shared], (found[1], 3), {"a": day, "b": found[0], "c": START})
