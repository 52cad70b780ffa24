import json
from pathlib import Path

from flowdsl import step

ARGUMENTS = {}
HERE = Path(__file__).parent
VOCABULARY = json.loads((HERE / "names.json").read_text()) if (HERE / "names.json").exists() else []
with open(__file__) as source:
    LINES = len(list(source))


def load() -> str:
    return open("inside a function is fine").read()


@step(image="python:3.12-slim")
def train() -> list[str]:
    return VOCABULARY + [str(LINES)] + ([load()] if VOCABULARY else [])
