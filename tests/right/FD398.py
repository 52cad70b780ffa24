from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def improve(score: float) -> float:
    while score < 0.9:
        score = score * 1.1
    return score


@pipeline
def nightly() -> None:
    fan_out(improve, over={"score": [number / 100 for number in range(1, 50)]})
