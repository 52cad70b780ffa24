from flowdsl import pipeline, step


@step(image="python:3.12-slim", tolerations=["spot=true:NoSchedule"])
def effect(lr: float) -> None:
    print(lr)


@step(image="python:3.12-slim", tolerations=[{"key": "spot", "operator": "Exists"}])
def operator(lr: float) -> None:
    print(lr)


@pipeline
def nightly() -> None:
    effect(0.1)
    operator(0.1)
