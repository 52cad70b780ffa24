"""A file of the run with a default in a bucket."""

from pathlib import Path

from flowdsl import S3, Secret, command, container, pipeline

UPLOAD = S3(
    "input-file/upload.zip",
    "your-bucket-name",
    endpoint="s3.amazonaws.com",
    region="us-east-1",
    access_key=Secret("s3-creds", "accessKey"),
    secret_key=Secret("s3-creds", "secretKey"),
)


@container(image="alpine:latest")
def show(input_file: Path) -> None:
    command("cat", input_file, paths={"input_file": "/tmp/input-file"})


@pipeline
def input_artifacts(input_file: Path = UPLOAD) -> None:
    show(input_file)
