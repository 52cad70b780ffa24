from flowdsl import pipeline, step

LIMITS = {"orders": 100, "users": 50}


@step(image="python:3.12-slim")
def load(table: str, limit: int) -> int:
    return len(table[:limit])


@pipeline
def nightly() -> None:
    load("orders", limit=LIMITS["orders"])
    load("users", LIMITS["users"])
