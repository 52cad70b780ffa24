"""Steps that fail, now and then or always, and what comes after them."""

import json
from pathlib import Path

from flowdsl import Volume, fan_out, pipeline, step

PYTHON = "python:3.12-slim"
DATA = Volume("data")


@step(image=PYTHON, retries=2, mounts={"/attempts": DATA / "attempts"})
def stubborn(needed: int) -> int:
    """Fails until it has been tried as often as needed."""
    tried = Path("/attempts/tried")
    count = 1 + (int(tried.read_text()) if tried.exists() else 0)
    tried.write_text(str(count))
    if count < needed:
        raise RuntimeError(f"attempt {count}")
    return count


@step(image=PYTHON)
def check(number: int) -> int:
    """Fails for a number that is too large."""
    if number > 3:
        raise ValueError(f"{number} is more than 3")
    return number


@step(image=PYTHON)
def total(numbers: list[int]) -> int:
    """The sum."""
    return sum(numbers)


@step(image=PYTHON)
def wrong(number: int) -> str:
    """Not what it says it returns."""
    found: str = json.loads(f"{number}")
    return found


@step(image=PYTHON)
def long(size: int) -> list[str]:
    """A value of many bytes."""
    return ["x" * 1000] * size


@step(image=PYTHON)
def take(texts: list[str], more: list[str]) -> int:
    """How many."""
    return len(texts) + len(more)


@pipeline
def failures(needed: int = 3, number: int = 3, size: int = 1) -> int:
    tried = stubborn(needed)
    checked = check(number)
    after = check.options(name="after")(checked)
    alone = check.options(name="alone")(1)
    each = fan_out(check, over={"number": [1, number, 2]})
    total([tried, alone])
    sizes = long(size)
    take(sizes, [])
    total.options(name="rows")(each)
    return after


@pipeline
def wrongs() -> str:
    return wrong(1)


@step(image=PYTHON)
def both(number: int, text: str) -> int:
    """The number."""
    return number


@pipeline
def walked(size: int) -> int:
    """Lists of different lengths, walked together."""
    lists = fan_out(take, over={"texts": [["a"], ["b"]], "more": [["a"], ["b"]]})
    return total(fan_out(both, over={"number": lists, "text": long(size)}))
