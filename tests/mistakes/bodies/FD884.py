import pickle
import sys
from pathlib import Path

from flowdsl import pipeline, step


class Mlp:
    layers = 2


class Cnn:
    layers = 5


@step(image="python:3.12-slim")
def layers(model: str) -> int:
    own = getattr(sys.modules[__name__], model)
    return globals()[model].layers + globals()["Cnn"].layers + own.layers


@step(image="python:3.12-slim")
def train(model: str) -> Path:
    made = Mlp() if model == "Mlp" else Cnn()
    out = Path("model.pkl")
    out.write_bytes(pickle.dumps(made))
    return out


@step(image="python:3.12-slim")
def fit() -> Path:
    made = Cnn()
    with open("model.pkl", "wb") as file:
        pickle.dump(made, file)
    return Path("model.pkl")


@step(image="python:3.12-slim")
def evaluate(model: Path) -> int:
    found = pickle.loads(model.read_bytes())
    return found.layers


@pipeline
def main() -> None:
    layers("Mlp")
    train("Mlp")
    evaluate(fit())
