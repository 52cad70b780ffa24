from flowdsl import step

ARGUMENTS = {"n": 2}
LIMIT = 3


def make():
    local = 1

    # Says what it does.
    @step(
        image="python:3.12-slim",
    )
    def train(n: int, most: int = LIMIT) -> str:
        """Text over
        several lines."""
        if n > most:
            return "more"
        return '''less
  than'''

    return train


train = make()
