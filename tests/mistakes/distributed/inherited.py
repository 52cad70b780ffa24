from flowdsl import Git, Torch, pipeline, step


@step(image="python:3.12-slim", distributed=Torch(workers=4))
def train() -> None:
    print("training")


@step(image="python:3.12-slim")
def evaluate() -> None:
    print("evaluating")


@pipeline(code=Git("https://example.com/team/models.git", revision="v1.4.0"), cache=True)
def nightly() -> None:
    train()
    evaluate()
