import pickle
from pathlib import Path

from flowdsl import pipeline, step


class Model:
    layers = 1


class Mlp(Model):
    layers = 2


class Cnn(Model):
    layers = 5


MODELS: dict[str, type[Model]] = {"Mlp": Mlp, "Cnn": Cnn}


@step(image="python:3.12-slim")
def layers(model: str) -> int:
    return MODELS[model].layers


@step(image="python:3.12-slim")
def train(model: str) -> Path:
    made = MODELS[model]()
    out = Path("model.pkl")
    out.write_bytes(pickle.dumps(made))
    return out


@step(image="python:3.12-slim")
def evaluate(model: Path) -> int:
    found = pickle.loads(model.read_bytes())
    return found.layers if isinstance(found, (Mlp, Cnn)) else 0


@pipeline
def main() -> None:
    layers("Mlp")
    evaluate(train("Mlp"))
