"""Objects in a text that have none of their own: how a task ended, and one of the file's."""

from flowdsl import on_exit, pipeline, step


class Settings:
    def __init__(self, name: str) -> None:
        self.name = name


SETTINGS = Settings("nightly")


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return rate


@step(image="python:3.12-slim")
def tell(text: str) -> None:
    print(text)


@pipeline
def nightly() -> None:
    loss = train(0.1)
    with on_exit(loss) as ended:
        tell(f"training: {ended}")
    tell.options(name="settings")(f"with {SETTINGS}")
