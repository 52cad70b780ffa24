from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(
    suspend="yes",
    pod_labels={"team": "search and find"},
    image_pull_secrets=["registry", "My Mirror"],
    user="root",
    pod_gc="OnSuccess",
    ttl={"success": "1 day", "error": "1h"},
)
def nightly(table: str = "orders") -> None:
    load(table)
