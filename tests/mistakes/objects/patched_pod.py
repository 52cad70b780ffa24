"""A field of a pod, on top of a step, with a word that Kubernetes does not know."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim", argo={"script": {"imagePullPolicy": "always", "ports": [{"containerPort": 70000}]}})
def train() -> None:
    print("x")


@pipeline
def nightly() -> None:
    train()
