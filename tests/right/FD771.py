from flowdsl import command, container, pipeline


@container(image="trainer:1")
def train(lr: float) -> None:
    command("python", "train.py", "--lr", lr)


@pipeline
def nightly() -> None:
    train(0.1)
