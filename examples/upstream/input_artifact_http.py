"""A program that is fetched before the step begins, and run by it."""

from pathlib import Path

from flowdsl import Http, command, container, pipeline

RELEASE = Http("https://storage.googleapis.com/kubernetes-release/release/v1.8.0/bin/linux/amd64/kubectl")


# A file that is fetched is no program yet: its mode makes it one.
@container(image="alpine:3.23", argo={"inputs": {"artifacts": [{"name": "kubectl", "mode": 0o755}]}})
def version(kubectl: Path) -> None:
    command("sh", "-c", "kubectl version", paths={"kubectl": "/bin/kubectl"})


@pipeline
def input_artifact_http() -> None:
    version(RELEASE)
