"""Work in the body of a step that only says what it takes and gives."""

from flowdsl import approve, call_template, pipeline, step


@step(image="python:3.12-slim")
def train(rate: float) -> float:
    return 1.0 - rate


@approve
def release(accuracy: float) -> bool:
    """Release this model?"""
    if accuracy > 0.5:
        print("please look at the model of accuracy", accuracy)
    return bool(input("release it? "))


@call_template("notifications", "send")
def send(text: str) -> None:
    sent = text.strip()
    print(sent)


@pipeline
def nightly() -> None:
    release(train(0.1))
    send("done")
