"""The pipeline `kinds`."""

from pathlib import Path
from typing import Literal, NamedTuple

from flowdsl import (
    S3,
    Http,
    Ready,
    Retry,
    Secret,
    approve,
    call_template,
    command,
    container,
    http,
    manifest,
    pipeline,
    request,
    resource,
    run,
)

WORDS = Http("https://example.com/words.txt")
MODELS = S3(
    "base",
    "models",
    endpoint="minio:9000",
    access_key=Secret("minio", "id"),
    secret_key=Secret("minio", "key"),
)
MARK_MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: "{{pod.name}}", annotations: {reviewed: "true"}}
"""


class FetchOutputs(NamedTuple):
    count_: str
    words_2: Path


@container(
    image="busybox:1.37.0",
    argo={"outputs": {"artifacts": [{"name": "words_2", "mode": 420}]}},
)
def fetch(
    words: Path = WORDS,
    extra: Path | None = None,
    models: Path = MODELS,
) -> FetchOutputs:
    return command(
        "cat",
        "/tmp/words.txt",
        paths={
            "words": "/tmp/words.txt",
            "extra": "/tmp/extra.txt",
            "models": "/models",
            "count_": "/tmp/count",
            "words_2": "/tmp/words.txt",
        },
    )


@call_template(
    "ml-library",
    "fit-model",
    names={"learning_rate": "learning-rate", "return": "accuracy"},
)
def fit_model(learning_rate: float, corpus: Path) -> str:
    raise NotImplementedError


@call_template("ml-library", "fit-model")
def fit_model_2(corpus: Path) -> None:
    raise NotImplementedError


@approve()
def release() -> Literal["ann", "bob"]:
    """Who releases it?"""
    raise NotImplementedError


@http()
def announce(text: str) -> None:
    request(
        "POST",
        "https://chat.example.com/messages",
        body=text,
        success="response.statusCode == 201",
        headers={"Authorization": Secret("chat", "token")},
    )


@resource("apply", success="status.succeeded > 0", owner=True)
def job(size: int) -> str:
    body = f"""
        apiVersion: batch/v1
        kind: Job
        metadata:
          name: "job-{size}"
        spec:
          completions: {size}
          template:
            spec:
              restartPolicy: Never
              containers:
              - {{name: main, image: "busybox:1.37.0", command: ["true"]}}
    """
    manifest(body, "{.metadata.uid}")


@container(
    image="postgres:16",
    daemon=True,
    ready=Ready(port=5432),
    argo={
        "outputs": {
            "artifacts": [{"name": "data", "path": "/var/lib/postgresql/data"}],
        },
    },
)
def database() -> str:
    return command("postgres")


@container(image="postgres:16")
def query(host: str) -> None:
    command("psql", "-h", host, "-c", "select 1")


@container(
    image="replaced-below:latest",
    retries=Retry(2, policy="OnFailure"),
    argo={
        "container": None,
        "resource": {
            "action": "delete",
            "flags": ["configmap", "--selector", "run={{inputs.parameters.run_}}"],
        },
    },
)
def clear(run_: str) -> None:
    command("true")


@container(
    image="replaced-below:latest",
    argo={
        "container": None,
        "resource": {"action": "patch", "manifest": MARK_MANIFEST},
    },
)
def mark() -> None:
    command("true")


@pipeline(
    argo={
        "templates": [
            {
                "name": "kinds",
                "dag": {
                    "tasks": [
                        {
                            "name": "fit",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "settings",
                                        "value": "{{workflow.parameters}}",
                                    },
                                    {
                                        "name": "words",
                                        "value": "{{=sprig.trim(tasks.fetch.outputs.parameters.count_)}}",
                                    },
                                ],
                            },
                        },
                    ],
                },
            },
        ],
    },
)
def kinds(region: str = "north") -> None:
    fetch_ = fetch()
    fit = fit_model(learning_rate=0.1, corpus=fetch_.words_2)
    fit_model_2.options(name="refit")(corpus=fetch_.words_2)
    release_ = release.options(after=[fit])()
    announce_ = announce(text=f"{fit} by {release_}")
    job.options(after=[announce_])(size=4)
    database_ = database()
    query_ = query(host=database_)
    clear.options(after=[query_])(run_=run.name)
    mark.options(after=[query_])()
