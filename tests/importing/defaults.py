"""The pipeline `defaults`."""

from pathlib import Path

from flowdsl import command, container, pipeline


@container(
    image="busybox:1.37.0",
    argo={
        "inputs": {
            "parameters": [
                {
                    "name": "rate",
                    "value": "{{=jsonpath(workflow.parameters.config, '$.rate')}}",
                },
                {"name": "folder", "value": "/runs/{{workflow.uid}}"},
            ],
        },
        "container": {
            "env": [{"name": "RATE", "value": "{{inputs.parameters.rate}}"}],
            "args": ["-c", 'echo "$RATE" "$STEPS"', "{{inputs.parameters.folder}}"],
        },
    },
)
def train(steps: int = 10) -> None:
    command("sh", env={"STEPS": steps})


@container(image="busybox:1.37.0")
def report() -> None:
    command("echo", "done")


@pipeline
def defaults(config: str = '{"rate": "0.1"}') -> None:
    train_ = train()
    report.options(after=[train_])()


@container(image="busybox:1.37.0")
def convert(folder: str, table: Path) -> None:
    command("wc", "/tmp/table.csv", folder, paths={"table": "/tmp/table.csv"})
