from typing import TYPE_CHECKING

from flowdsl import step

if TYPE_CHECKING:
    import decimal

if __name__ == "__main__":
    LIMIT = 3


@step(image="python:3.12-slim")
def train(n: int) -> int:
    return decimal.Decimal(LIMIT)
