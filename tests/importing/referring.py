"""The pipelines `tidy`, `tidy_every_night`, `maintenance`.

Compile `tidy` with `flowdsl compile FILE:tidy`.
Compile `tidy_every_night` with `flowdsl compile FILE:tidy_every_night`.
Compile `maintenance` with `flowdsl compile FILE:maintenance --as template`.
"""

from flowdsl import command, container, pipeline


@pipeline(
    argo={
        "workflowTemplateRef": {"name": "maintenance"},
        "entrypoint": "tidy",
        "onExit": "notify",
    },
)
def tidy(folder: str = "tmp") -> None:
    pass


@pipeline(
    schedule="0 2 * * *",
    argo={"workflowTemplateRef": {"name": "maintenance"}, "entrypoint": "tidy"},
)
def tidy_every_night(folder: str = "tmp") -> None:
    pass


@container(image="busybox:1.37.0")
def build() -> None:
    command("echo", "building")


@pipeline
def maintenance(folder: str = "data") -> None:
    build()
