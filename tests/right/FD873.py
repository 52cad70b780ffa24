from pathlib import Path

from flowdsl import Volume, command, container, fan_out, output, pipeline

DATA = Volume("datasets")


@container(image="registry.example.com/trainer:2.4.0")
def train(corpus: Path, rate: float, layers: int) -> float:
    return command("/bin/train", "--corpus", corpus, "--rate", rate, "--layers", layers, "--loss", output())


@container(image="registry.example.com/trainer:2.4.0")
def soak(part: int, _before: float) -> None:
    command("/bin/soak")


@container(image="registry.example.com/trainer:2.4.0")
def report(day: str) -> None:
    command("/bin/report")


@pipeline
def nightly() -> None:
    loss = train(DATA / "corpus.txt", 0.1, layers=2)
    fan_out(soak, over={"part": [1, 2, 3]}, _before=loss)
    report.options(argo={"metadata": {"labels": {"day": "{{inputs.parameters.day}}"}}})("monday")
