"""A checkout of a tag, where the step begins."""

from pathlib import Path

from flowdsl import Git, command, container, pipeline


@container(image="golang:1.10", workdir="/src")
def git_clone(argo_source: Path) -> None:
    command("sh", "-c", "git status && ls && cat VERSION", paths={"argo_source": "/src"})


@pipeline
def input_artifact_git() -> None:
    git_clone(Git("https://github.com/argoproj/argo-workflows.git", "v2.1.1"))
