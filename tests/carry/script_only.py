import sys

from flowdsl import step

NAMES = ["a"]
ARGUMENTS = {}

if __name__ == "__main__":
    NAMES.append(sys.argv[1])


@step(image="python:3.12-slim")
def train() -> list[str]:
    return NAMES


if "__main__" == __name__:
    train()
