"""A misspelt parameter in `names`."""

from flowdsl import call_template, pipeline


@call_template("library", "score", names={"txet": "input-text"})
def score(text: str) -> None:
    raise NotImplementedError


@pipeline
def nightly() -> None:
    score("a")
