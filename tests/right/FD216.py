from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def check(table: str) -> bool:
    return bool(table)


@step(image="python:3.12-slim")
def columns(table: str) -> list[str]:
    return table.split(",")


@step(image="python:3.12-slim")
def report(valid: bool, columns: list[str]) -> None:
    print(f"valid: {valid}, columns: {columns}")


@pipeline
def nightly() -> None:
    report(check("orders"), columns("orders"))
