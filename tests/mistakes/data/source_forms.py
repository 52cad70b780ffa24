"""Addresses where a key is wanted, and the other way round."""

from pathlib import Path

from flowdsl import GCS, S3, Azure, Git, Http, Secret, pipeline, step


@step(image="python:3.12-slim")
def read(file: Path) -> int:
    return len(file.read_bytes())


@pipeline
def main() -> None:
    read.options(name="from-s3")(S3("s3://datasets/corpus.txt"))
    read.options(name="from-gcs")(GCS("gs://datasets/corpus.txt", "datasets"))
    read.options(name="from-azure")(Azure("corpus.txt", "datasets", "account.blob.core.windows.net"))
    read.options(name="from-http")(Http("example.org/corpus.txt"))
    read.options(name="from-git")(Git("github.com/example/data"))
    read.options(name="over-ssh")(Git("git@github.com/example/data", ssh_key=Secret("git", "key")))
