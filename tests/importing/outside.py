"""The pipelines `outside`, `of_cluster`, `of_file`, `here`.

Compile `outside` with `flowdsl compile FILE:outside`.
Compile `of_cluster` with `flowdsl compile FILE:of_cluster`.
Compile `of_file` with `flowdsl compile FILE:of_file`.
Compile `here` with `flowdsl compile FILE:here --as template`.
"""

from typing import NamedTuple

from flowdsl import command, container, fan_out, pipeline


class EachItem(NamedTuple):
    id: str
    modelPath: str


@container(image="python:3.12-slim")
def list_() -> list[EachItem]:
    source = """
        import json
        print(json.dumps([{"id": "a", "modelPath": "x/y"}, {"id": "b", "modelPath": "z"}]))
    """
    return command("python3", source=source, stdout=True)


@container(image="busybox:1.37.0")
def each(
    id: str,
    model_path: str,
    in_: str,
    data_dir: str,
    step_: int,
    dry_run: str,
) -> None:
    source = """
        echo "$ID $MODEL_PATH $IN"
        echo "$DATA_DIR $STEP $DRY_RUN"
    """
    command(
        "sh",
        source=source,
        env={
            "ID": id,
            "MODEL_PATH": model_path,
            "IN": in_,
            "DATA_DIR": data_dir,
            "STEP": step_,
            "DRY_RUN": dry_run,
        },
    )


@pipeline
def each_each(
    item: EachItem,
    model_name: str,
    data_dir: str,
    step_: int,
    dry_run: str,
) -> None:
    each(
        id=item.id,
        model_path=item.modelPath,
        in_=model_name,
        data_dir=data_dir,
        step_=step_,
        dry_run=dry_run,
    )


@container(
    image="busybox:1.37.0",
    argo={
        "container": None,
        "script": {
            "image": "busybox:1.37.0",
            "command": ["cat"],
            "source": "{{inputs.parameters}}",
        },
    },
)
def all_(learning_rate: float, type_: str) -> None:
    command("true")


@pipeline
def outside(
    modelName: str = "small",
    type: str = "fast",
    DATA_DIR: str = "/data",
    step_: int = 3,
    from_: str = "here",
    dry_run: str = "yes",
) -> None:
    list_2 = list_.options(name="list")()
    fan_out(
        each_each.options(name="each"),
        over={"item": list_2},
        model_name=modelName,
        data_dir=DATA_DIR,
        step_=step_,
        dry_run=dry_run,
    )
    all_.options(after=[list_2])(learning_rate=0.1, type_=type)


@pipeline(
    argo={
        "workflowTemplateRef": {"name": "elsewhere"},
        "arguments": {
            "parameters": [
                {"name": "dry-run", "value": "yes"},
                {"name": "class", "value": "first"},
            ],
        },
    },
)
def of_cluster(type: str = "fast") -> None:
    pass


@pipeline(
    schedule="0 2 * * *",
    argo={
        "workflowTemplateRef": {"name": "here"},
        "arguments": {"parameters": [{"name": "more-of-it", "value": "1"}]},
    },
)
def of_file(dry_run: str = "yes") -> None:
    pass


@container(image="busybox:1.37.0")
def main(dry_run: str) -> None:
    command("echo", dry_run)


@pipeline
def here(dry_run: str = "no") -> None:
    main(dry_run=dry_run)
