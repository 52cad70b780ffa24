"""Decimals, UUIDs and spans of time: as values, in records and lists, as keys, and over which a loop runs."""

from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID, uuid5

from flowdsl import choice, command, container, either, fan_out, minimize, output, pipeline, step, sweep, when

PYTHON = "python:3.12-slim"
SHOP = UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8")


class Bill(NamedTuple):
    amount: Decimal
    order: UUID
    tax: Decimal | None
    waits: list[timedelta]


@step(image=PYTHON)
def bill(price: Decimal, order: UUID, wait: timedelta, tax: Decimal | None = None) -> Bill:
    """A record of them."""
    return Bill(price * 2, uuid5(order, str(price)), tax, [wait, -wait / 7, timedelta()])


@step(image=PYTHON)
def prices(count: int) -> list[Decimal]:
    """Amounts that are equal to others, with another text."""
    return [Decimal("1.0"), Decimal("1.00"), Decimal("1E+2"), Decimal("NaN")][:count]


@step(image=PYTHON)
def by_order(orders: dict[Decimal, UUID], waits: dict[timedelta, str]) -> dict[UUID, Decimal]:
    """Keys as values, and values as keys."""
    return {order: price * len(waits) for price, order in orders.items()}


class Trial(NamedTuple):
    loss: float
    wait: timedelta
    rate: Decimal


@step(image=PYTHON)
def trial(wait: timedelta, rate: Decimal) -> Trial:
    """A loss and its point."""
    return Trial(float(rate) / wait.total_seconds(), wait, rate)


@step(image=PYTHON)
def said(text: str, bills: list[Bill], price: Decimal, wait: timedelta = timedelta(days=7)) -> str:
    """All of it."""
    return f"{text} {bills} {price} {wait}"


@container(image="busybox:1.37.0")
def echo(price: Decimal, wait: timedelta, order: UUID) -> Decimal:
    """The first one, as its text."""
    script = 'echo "$2 $3"; printf "%s" "$1" > "$OUT"'
    return command("sh", "-c", script, "sh", price, wait, order, env={"OUT": output()})


@pipeline
def amounts(
    price: Decimal = Decimal("1.50"),
    order: UUID = SHOP,
    wait: timedelta = timedelta(hours=36, microseconds=1500),
    tax: Decimal | None = None,
) -> str:
    first = bill.options(name="first")(price, order, wait, tax)
    orders = by_order({Decimal("1.0"): order, Decimal("2E+2"): SHOP}, {timedelta(1): "a", timedelta(0): "b"})
    with when((order == SHOP) & (first.tax == None)):  # noqa: E711
        bill.options(name="same")(orders[SHOP], order, first.waits[1], Decimal("-0"))
    found = fan_out(bill, over={"price": prices(4)}, order=first.order, wait=wait)
    runs = sweep(
        trial,
        over={
            "wait": choice(timedelta(1), timedelta(hours=30)),
            "rate": choice(Decimal("0.1"), Decimal("0.3")),
        },
        objective=minimize("loss"),
    )
    bill.options(name="best")(runs.best.rate, order, runs.best.wait)
    echoed = echo(either(first.tax, price), first.waits[0], order)
    return said(f"order {order}", found, echoed)
