from dataclasses import dataclass

from flowdsl import pipeline, step


@dataclass
class Batch:
    ids: list[int]
    name: str = ""


@dataclass
class Node:
    name: str
    children: list[str]


@step(image="python:3.12-slim")
def load(batch: Batch) -> Node:
    return Node(batch.name, [])


@pipeline
def nightly() -> None:
    load(Batch([1, 2]))
