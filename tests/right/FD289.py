from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def concatenate(parts: list[str], options: dict[str, str]) -> str:
    return options.get("separator", "").join(parts)


@pipeline
def nightly() -> None:
    concatenate(["a", "b"], {"separator": " "})
