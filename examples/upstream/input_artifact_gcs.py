"""A file or folder from Google Cloud Storage."""

from pathlib import Path

from flowdsl import GCS, Secret, command, container, pipeline

OURS = GCS("path/in/bucket", "my-bucket-name", credentials=Secret("my-gcs-credentials", "serviceAccountKey"))


@container(image="debian:latest")
def show(my_art: Path) -> None:
    command("sh", "-c", "ls -l /my-artifact", paths={"my_art": "/my-artifact"})


@pipeline
def input_artifact_gcs() -> None:
    show(OURS)
