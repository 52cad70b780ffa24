import flowdsl
from flowdsl import GPU, Secret, Volume, choice, container, command, pipeline, run, step, when

DATA = Volume("datasets")
TOKEN = Secret("hub", "token")
RAW = DATA / "raw"
SPACE = choice(1, 2)
SETTINGS = {"gpu": GPU(1)}


@container(image="curlimages/curl")
def notify(text: str) -> None:
    command("curl", text)


@step(image="python:3.12-slim")
def other() -> int:
    return 1


@pipeline
def flow() -> None:
    other()


big = other.options(cpu=4)


@step(image="python:3.12-slim")
def train(n: int) -> str:
    with when(n > 3):
        print(DATA / "x", RAW, TOKEN)
    notify("x")
    flow()
    big()
    print(SETTINGS, SPACE, flowdsl.GPU(1))
    from flowdsl import GPU as processor

    return run.name
