"""Files in a straight line are Argo's own artifacts; everything else is a parameter."""

from enum import Enum
from pathlib import Path
from typing import NamedTuple

from flowdsl import pipeline, step

IMAGE = "python:3.12-slim"


class Mode(Enum):
    FAST = 1
    EXACT = 2


class Fitted(NamedTuple):
    model: Path
    loss: float
    notes: dict[str, int]


@step(image=IMAGE)
def read(source: str, limit: int = 10) -> Path:
    out = Path("data.txt")
    out.write_text(source * limit)
    return out


@step(image=IMAGE)
def fit(data: Path, mode: Mode, rates: list[float], name: str | None = None) -> Fitted:
    model = Path("model.txt")
    model.write_text(f"{data.read_text()} {mode.name} {rates} {name}")
    return Fitted(model, rates[0], {"depth": len(rates)})


@step(image=IMAGE)
def report(model: Path, loss: float, depth: int, title: str) -> None:
    print(title, loss, depth, model.read_text())


@pipeline
def straight(title: str = "run", base: float = 0.5) -> float:
    data = read("x")
    fitted = fit(data, Mode.EXACT, [base, base * 2, 1.0])
    report(fitted.model, fitted.loss + 1, fitted.notes["depth"], f"{title}: {fitted.loss}")
    return fitted.loss
