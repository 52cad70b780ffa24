"""Parts of GPUs that cannot be asked for as written."""

from flowdsl import GPU, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, gpu=GPU(2, share="8Gi"))
def embed(text: str) -> int:
    return len(text)


@step(image=IMAGE, gpu=GPU(1, share="8Gi", vendor="amd"))
def classify(size: int) -> int:
    return size


@step(image=IMAGE, gpu=GPU(1, share="8Gi", mig="1g.5gb"))
def rank(size: int) -> int:
    return size


@step(image=IMAGE, gpu=GPU(1, share="8 gigabytes"))
def answer(size: int) -> None:
    print(size)


@pipeline
def nightly(text: str = "ham") -> None:
    answer(rank(classify(embed(text))))
