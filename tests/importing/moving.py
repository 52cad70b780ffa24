"""The pipeline `moving`."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import command, container, pipeline, run


class MakeOutputs(NamedTuple):
    lines: str
    file: Path


@container(image="busybox:1.37.0")
def make(day: str, number: int, suffix: str) -> MakeOutputs:
    return command(
        "sh",
        "-c",
        'mkdir -p "/out/$DAY"; echo $WORKFLOW_NAME > "/out/$DAY/$NUMBER.$SUFFIX"; echo 3 > /tmp/$WORKFLOW_NAME-$NUMBER',
        env={"DAY": day, "WORKFLOW_NAME": run.name, "NUMBER": number, "SUFFIX": suffix},
        paths={
            "lines": f"/tmp/{run.name}-{number}",
            "file": f"/out/{day}/{number}.{suffix}",
        },
    )


@container(image="busybox:1.37.0")
def use(lines: str, file: Path) -> None:
    command(
        "sh",
        "-c",
        'echo "$0"; wc -l < /in/file',
        lines,
        paths={"file": "/in/file"},
    )


@pipeline
def moving(day: str = "2026-01-01", suffix: str = "txt") -> None:
    make_ = make(day=day, number=7, suffix=suffix)
    use(lines=make_.lines, file=make_.file)
