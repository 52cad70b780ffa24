"""Values that reach a step of a kind in a form that it cannot take."""

from pathlib import Path

from flowdsl import Volume, approve, call_template, fan_out, http, manifest, pipeline, request, resource, step

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def score(text: str) -> float:
    return float(len(text))


@resource("apply")
def apply(objects: Path) -> None:
    manifest(objects)


@call_template("library", "train")
def train(corpus: Path) -> None: ...


@http()
def report(scores: list[float]) -> None:
    request("POST", "https://example.com", body={"scores": scores})


@approve()
def look(scores: list[float]) -> None: ...


@pipeline
def nightly() -> None:
    apply(DATA / "objects.yaml")
    train(DATA / "raw")
    scores = fan_out(score, over={"text": ["a", "b"]})
    report(scores)
    look(scores)
