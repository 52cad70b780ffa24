from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, Callable, Literal, Optional

import datetime
import numbers
from flowdsl import step

ARGUMENTS = {}


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@traced
def helper(number: "Optional[numbers.Number]" = None) -> Fraction:
    return Fraction(1, 2)


@dataclass
class Row:
    """Annotations of a class may be read; those of a plain function are not."""

    when: datetime.date
    kind: Literal["Decimal", "step"]
    path: "Path"

    def age(self, other: Decimal) -> int:
        return 0


@step(image="python:3.12-slim")
def train(amount: Optional[float] = None) -> float:
    return float(helper()) + (0 if Row.__name__ else 1)
