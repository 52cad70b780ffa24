"""When a run was due, as a value: in arguments, texts, paths, conditions and loops."""

from pathlib import Path

from flowdsl import Volume, either, fan_out, pipeline, run, step, when

DATA = Volume("datasets")


@step(image="python:3.12-slim")
def load(due: str, note: str = "", part: int = 0) -> int:
    return len(due) + len(note) + part


@step(image="python:3.12-slim")
def read(folder: Path) -> None:
    print(folder)


@pipeline
def scheduled(day: str | None = None) -> tuple[int, str]:
    due = either(day, run.scheduled_time)
    rows = load(due, f"due at {run.scheduled_time}")
    read(DATA / f"raw/{run.scheduled_time}")
    with when(run.scheduled_time != due):
        load.options(name="late")(run.scheduled_time)
    fan_out(load.options(name="parts"), over={"part": [1, 2]}, due=run.scheduled_time)
    return rows, run.scheduled_time
