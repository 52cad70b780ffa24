"""Amounts and times, of which Argo knows texts that do not compare as they do."""

from datetime import datetime, timedelta
from decimal import Decimal

from flowdsl import pipeline, step, when


@step(image="python:3.12-slim")
def price(item: str) -> Decimal | None:
    return Decimal(len(item))


@step(image="python:3.12-slim")
def prices() -> dict[Decimal, str]:
    return {Decimal("1.00"): "a"}


@step(image="python:3.12-slim")
def report(text: str) -> None:
    print(text)


@pipeline
def billing(most: Decimal, wait: timedelta, due: datetime) -> None:
    found = price("bread")
    with when(most > 0):
        report("some")
    with when(found == most):
        report.options(name="exact")(f"exactly {most}")
    with when(wait < timedelta(hours=1)):
        report.options(name="soon")(prices()[Decimal("1.0")])
    with when(due != datetime(2026, 1, 31, 6)):
        report.options(name="late")(due)
        report.options(name="double")(most * 2)
        price.options(name="less")(-most)
