"""Tasks for the end of a run, of a task, of a loop and of a called pipeline."""

from pathlib import Path

from flowdsl import Volume, either, fan_out, on_exit, on_failure, otherwise, pipeline, run, step, when

IMAGE = "python:3.12-slim"
DATA = Volume("datasets")


@step(image=IMAGE)
def train(size: int) -> Path:
    return Path(str(size))


@step(image=IMAGE)
def score(model: Path) -> float:
    return model.stat().st_size / 2


@step(image=IMAGE)
def tell(text: str, status: str = "") -> str:
    return f"{text} {status}"


@step(image=IMAGE)
def report(failures: list[dict[str, str]], seconds: float, source: Path) -> None:
    print(failures, seconds, source)


@step(image=IMAGE)
def keep(value: float, note: str) -> None:
    print(value, note)


@pipeline
def both(size: int) -> float:
    return score(train(size))


@pipeline
def ends(size: int = 1, source: Path = DATA / "raw", _unused: str = "x") -> float:
    with on_exit():
        report(run.failures, run.duration, source)
        with when(size > 1):
            tell(f"{run.name}: {run.status}")
        with otherwise():
            said = tell("small")
            tell.options(name="again")(said, run.status)
        with on_failure():
            tell.options(name="worse")("worse")
    model = train(size)
    with on_exit(model) as training:
        first = tell("trained", training.status)
        with when(training.status == "Error"):
            tell.options(name="lost")(first)
    accuracy = score(model)
    with on_failure(accuracy):
        tell.options(name="no-score")("no score")
    with on_exit(accuracy):
        keep(either(accuracy, 0.0), "one")
    inner = both(size)
    with on_exit(inner) as ended:
        keep.options(name="keep-inner")(either(inner, -1.0), ended.status)
    many = fan_out(both, over={"size": [1, 2]})
    with on_failure(many):
        fan_out(tell.options(name="tell-all"), over={"text": ["a", "b"]})
    with on_failure() as failed:
        tell.options(name="failed")("failed", failed.status)
        fan_out(tell.options(name="each"), over={"status": [run.name, run.namespace]}, text="of")
    return accuracy
