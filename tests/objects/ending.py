"""What runs at the end, with parameters of the run."""

from pathlib import Path

from flowdsl import S3, on_exit, on_failure, pipeline, run, step, when


@step(image="python:3.12-slim")
def work(rows: int) -> int:
    return rows


@step(image="python:3.12-slim")
def tell(who: str, text: str, report: Path | None = None) -> str:
    return f"{who}: {text} ({report})"


@pipeline(schedule="0 3 * * *")
def ending(who: str = "ml", rows: int = 3, month: str = "2025-01") -> None:
    with on_exit():
        with when(rows > 2):
            tell(who, f"{run.status}: {rows}", S3(f"reports/{month}.txt", bucket="models"))
    with on_failure():
        tell.options(name="failed")(who, f"{rows} of {month}")
    work(rows)
