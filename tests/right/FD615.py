from flowdsl import call_template, pipeline


@call_template("library", "score", names={"return": "accuracy"})
def score(text: str) -> float:
    raise NotImplementedError


@pipeline
def nightly() -> None:
    score("a")
