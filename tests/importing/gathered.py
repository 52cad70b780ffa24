"""The pipelines `gathered`, `columns`."""

from typing import NamedTuple

from flowdsl import command, container, fan_out, pipeline


class WeighItem(NamedTuple):
    name: str


@container(
    image="python:3.12-slim",
    argo={
        "outputs": {
            "parameters": [
                {
                    "name": "note",
                    "valueFrom": {"path": "/tmp/parts", "default": "none"},
                },
            ],
            "artifacts": [
                {
                    "name": "parts",
                    "path": "/tmp/parts",
                    "archive": {"none": {}},
                    "s3": {"key": "{{workflow.name}}/parts"},
                },
            ],
        },
    },
)
def split(parts: int) -> list[WeighItem]:
    source = """
        import ast
        import os
        import json
        open("/tmp/parts", "w").write("parts")
        print(json.dumps([{"name": f"part {number}"} for number in range(ast.literal_eval(os.environ["PARTS"]))]))
    """
    return command("python3", source=source, env={"PARTS": parts}, stdout=True)


@container(image="busybox:1.37.0")
def weigh(name: str) -> str:
    return command(
        "sh",
        "-c",
        "printf '%s weighs' \"$NAME\" > /tmp/weight",
        env={"NAME": name},
        paths={"return": "/tmp/weight"},
    )


@pipeline
def weigh_each(item: WeighItem) -> str:
    return weigh(name=item.name)


@container(image="python:3.12-slim")
def show(weights: list[str]) -> None:
    source = """
        import os
        import json
        print(*json.loads(os.environ["WEIGHTS"]), sep="; ")
    """
    command("python3", source=source, env={"WEIGHTS": weights})


@container(image="busybox:1.37.0")
def each(weight: str) -> None:
    command("echo", weight)


@pipeline
def gathered(parts: int = 3) -> None:
    split_ = split(parts=parts)
    weigh_ = fan_out(weigh_each, over={"item": split_})
    show(weights=weigh_)
    fan_out(each, over={"weight": weigh_})


class MakeOutputs(NamedTuple):
    one: str
    two: str


@container(image="busybox:1")
def make(name: str) -> MakeOutputs:
    return command(
        "sh",
        "-c",
        'printf %s "$0" > /tmp/one; touch /tmp/two',
        name,
        paths={"one": "/tmp/one", "two": "/tmp/two"},
    )


@container(image="python:3.12-slim")
def say(m: list[str]) -> None:
    source = """
        import os
        import json
        print(*json.loads(os.environ["M"]))
    """
    command("python3", source=source, env={"M": m})


@pipeline
def columns() -> None:
    make_ = fan_out(make, over={"name": ["a", "b"]})
    say(m=[make_[0].one, make_[1].one])
