from pathlib import Path

from flowdsl import Volume, choice, command, container, fan_out, http, manifest, minimize, output, pipeline, request
from flowdsl import resource, sweep

DATA = Volume("datasets")


@container(image="registry.example.com/trainer:2.4.0")
def train(corpus: Path, rate: float, layers: int) -> float:
    return command("/bin/train", "--corpus", corpus, "--layers", layers, "--loss", output())


@container(image="registry.example.com/trainer:2.4.0")
def tune(rate: float) -> float:
    return command("/bin/tune", "--loss", output())


@container(image="registry.example.com/trainer:2.4.0")
def soak(part: int, _before: float) -> None:
    command("/bin/soak")


@resource("apply")
def settings(name: str, loss: float) -> None:
    return manifest({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}})


@http()
def announce(loss: float) -> str:
    return request("POST", "https://chat.example.com/messages", body={"text": "done"})


@pipeline
def nightly() -> None:
    loss = train(DATA / "corpus.txt", 0.1, layers=2)
    found = sweep(tune, over={"rate": choice(0.1, 0.2)}, objective=minimize())
    fan_out(soak, over={"part": [1, 2, 3]}, _before=found.best)
    settings("trained", loss)
    announce(loss)
