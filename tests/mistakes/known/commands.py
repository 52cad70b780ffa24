"""A command written as one text, with a list in it, and with an input that is not declared."""

from flowdsl import command, container, pipeline


@container(image="trainer:1")
def one_text(lr: float) -> None:
    command("python train.py --lr 0.1")


@container(image="trainer:1")
def one_list(lr: float) -> None:
    command(["python", "train.py"])


@container(image="trainer:1")
def tag(lr: float) -> None:
    command("/bin/train", "{{inputs.parameters.rate}}")


@container(image="trainer:1")
def undeclared(lr: float) -> None:
    command("/bin/train", rate)


@pipeline
def nightly() -> None:
    one_text(0.1)
    one_list(0.1)
    tag(0.1)
    undeclared(0.1)
