from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(schedule=["0 25 * * *", "@dayly", "0 3 * *", "0 0 31 2,4 *", "0 3 * * 7"], timezone="Berlin")
def nightly(table: str = "orders") -> None:
    load(table)


@pipeline(schedule="CRON_TZ=UTC 0 3 * * *", concurrency="Forbidden", keep_failed=-1, starting_deadline="1 day")
def hourly(table: str = "orders") -> None:
    load(table)


@pipeline(schedule=["@daily", "@daily"])
def twice(table: str = "orders") -> None:
    load(table)
