from flowdsl import otherwise, pipeline, step, when


@step(image="python:3.12-slim")
def find(text: str) -> str | None:
    return text or None


@step(image="python:3.12-slim")
def publish(text: str | None) -> None:
    print(text)


@pipeline
def nightly(text: str = "cat") -> None:
    found = find(text)
    with when(found != None):
        publish.options(name="found")(found)
    with otherwise():
        publish("nothing")
