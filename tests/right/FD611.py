from flowdsl import fan_out, http, pipeline, request, step


@step(image="python:3.12-slim")
def score(text: str) -> float:
    return float(len(text))


@step(image="python:3.12-slim")
def mean(scores: list[float]) -> float:
    return sum(scores) / len(scores)


@http()
def report(score: float) -> None:
    request("POST", "https://example.com", body={"score": score})


@pipeline
def nightly() -> None:
    scores = fan_out(score, over={"text": ["a", "b"]})
    report(mean(scores))
