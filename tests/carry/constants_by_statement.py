import os
from contextlib import suppress

from flowdsl import step

ARGUMENTS = {}
SEEN = []

with suppress(KeyError):
    HOME = os.environ["NO_SUCH_VARIABLE"]

try:
    LEVEL = int("x")
except ValueError as error:
    LEVEL = 3
finally:
    SEEN.extend([1])

match LEVEL:
    case 3:
        NAME = "three"
    case [first, *others] | {"first": first, **others}:
        NAME = "more"

if (SIZE := LEVEL * 2) > 5:
    SIZE += 1
    del SEEN[:]


@step(image="python:3.12-slim")
def train() -> str:
    return f"{NAME} {SIZE} {LEVEL} {SEEN}"
