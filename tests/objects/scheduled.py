"""A pipeline with a schedule, and everything that is said about its runs as a whole."""

from datetime import timedelta

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def load(table: str) -> int:
    return len(table)


@pipeline(
    schedule=["0 3 * * *", "30 15 * * mon-fri"],
    timezone="Europe/Berlin",
    concurrency="Forbid",
    starting_deadline=timedelta(minutes=10),
    keep_succeeded=3,
    keep_failed=0,
    suspend=True,
    labels={"team": "search"},
    annotations={"example.com/owner": "search@example.com"},
    pod_labels={"team": "search"},
    pod_annotations={"example.com/cost": "17"},
    image_pull_secrets=["registry", "mirror"],
    service_account="pipelines",
    user=1000,
    pod_gc="OnPodSuccess",
    archive_logs=True,
    ttl={"success": "1h", "failure": "72h"},
)
def nightly(table: str = "orders") -> None:
    load(table)
