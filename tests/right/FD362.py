from flowdsl import Torch, command, container, pipeline


@container(image="trainer:2.4.0", distributed=Torch(workers=2))
def train() -> None:
    command("python3", source="for _ in range(10_000): print('begin')\n")


@container(image="trainer:2.4.0", env={"WORDS": "lorem ipsum"})
def report() -> None:
    command("/bin/report", "--words", "lorem ipsum")


@pipeline
def nightly() -> None:
    train()
    report()
