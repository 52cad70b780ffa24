from flowdsl import command, container, pipeline


@container(image="python:3.12-slim")
def train(lr: float) -> None:
    command("python", "train.py", f"--lr={lr}", "--out", "${OUT}/{step}.bin")


@container(image="python:3.12-slim")
def test(lr: float) -> None:
    command("python", "test.py", "--lr", lr, f"--name=lr-{lr}")


@pipeline
def nightly() -> None:
    train(0.1)
    test(0.1)
