"""A result of a template whose name there is not said."""

from flowdsl import call_template, pipeline


@call_template("library", "score")
def score(text: str) -> float:
    raise NotImplementedError


@pipeline
def nightly() -> None:
    score("a")
