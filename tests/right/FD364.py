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
        tell(f"training: {ended.status}")
    tell.options(name="settings")(f"with {SETTINGS.name}")
