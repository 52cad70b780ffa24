"""The folder of checkpoints in a command, where no task is given it."""

from flowdsl import Volume, command, container, output, pipeline, run


@container(image="ghcr.io/acme/train:4")
def train(epochs: int) -> float:
    return command("/bin/train", "--state", run.checkpoint_dir, "--out", output(), env={"STATE": run.checkpoint_dir})


@pipeline(checkpoints=Volume("datasets") / "checkpoints")
def nightly() -> None:
    train(3)
