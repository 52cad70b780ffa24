"""Files on a volume: a straight line, an optional file, and files that come back; no artifact anywhere."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import Volume, pipeline, step

DATA = Volume("datasets")


class Cleaned(NamedTuple):
    text: Path
    rejected: Path | None
    lines: int


@step(image="python:3.12-slim", retries=2)
def clean(raw: Path, shortest: int) -> Cleaned:
    lines = raw.read_text().splitlines(keepends=True)
    kept = [line for line in lines if len(line) > shortest]
    text = Path("text")
    text.write_text("".join(kept))
    rejected = Path("rejected")
    rejected.write_text("".join(line for line in lines if len(line) <= shortest))
    return Cleaned(text, rejected if len(kept) < len(lines) else None, len(kept))


@step(image="python:3.12-slim")
def split(text: Path) -> list[Path]:
    parts: list[Path] = []
    for number, line in enumerate(text.read_text().splitlines()):
        parts.append(Path(f"part-{number}"))
        parts[-1].write_text(line)
    return parts


@step(image="python:3.12-slim")
def report(parts: list[Path], rejected: Path | None, lines: int) -> Path:
    found = Path("report.txt")
    found.write_text(f"{lines} {[one.read_text() for one in parts]} {rejected and rejected.read_text()!r}")
    return found


@pipeline(store=DATA / "runs")
def store_straight(shortest: int = 3) -> Path:
    cleaned = clean(DATA / "raw.txt", shortest)
    parts = split(cleaned.text)
    return report(parts, cleaned.rejected, cleaned.lines)
