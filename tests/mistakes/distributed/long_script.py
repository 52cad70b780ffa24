"""A script on several pods, which is in a variable there, and too long for one."""

from flowdsl import Torch, command, container, pipeline


@container(image="trainer:2.4.0", distributed=Torch(workers=2))
def train() -> None:
    command("python3", source="print('begin')\n" * 10_000)


@container(image="trainer:2.4.0", env={"WORDS": "lorem ipsum " * 20_000})
def report() -> None:
    command("/bin/report", "--words", "lorem ipsum " * 20_000)


@pipeline
def nightly() -> None:
    train()
    report()
