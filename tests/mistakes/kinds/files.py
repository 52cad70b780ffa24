"""Files for steps that run in no container."""

from pathlib import Path

from flowdsl import approve, http, manifest, pipeline, request, resource


@approve()
def look(model: Path) -> Path: ...


@http()
def upload(model: Path) -> str:
    return request("PUT", "https://example.com/model", body=f"{model}")


@resource("apply")
def job(data: list[Path]) -> None:
    manifest({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "job"}, "data": data})


@pipeline
def nightly() -> None:
    upload(Path("model"))
