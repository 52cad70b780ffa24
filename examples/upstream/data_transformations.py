"""The objects of a bucket that match, and one task for each."""

from pathlib import Path

from flowdsl import S3, command, container, fan_out, pipeline

LIST = {
    "container": None,
    "data": {
        "source": {"artifactPaths": {"name": "test-bucket", "s3": {"bucket": "my-bucket"}}},
        "transformation": [{"expression": 'filter(data, {# endsWith "main.log"})'}],
    },
}


# Argo lists the bucket itself: the container is taken away.
@container(image="argoproj/argosay:v2", argo=LIST)
def list_log_files() -> list[str]:
    return command("list", stdout=True)


SHOW = "echo {{inputs.parameters.file_name}}\nhead /file\n"


@container(image="argoproj/argosay:v2", argo={"container": {"args": ["-c", SHOW]}})
def process_logs(file_name: str, file: Path) -> None:
    command("sh", file_name, paths={"file": "/file"})


@pipeline
def process(name: str) -> None:
    process_logs(name, S3(name))


@pipeline
def data_transformations() -> None:
    fan_out(process, over={"name": list_log_files()})
