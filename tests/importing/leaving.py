"""The pipelines `leaving`, `alone`."""

from flowdsl import call_template, command, container, pipeline


@container(image="busybox:1.37.0")
def work(where: str) -> str:
    return command(
        "sh",
        "-c",
        "echo $WHERE > /tmp/end",
        env={"WHERE": where},
        paths={"return": "/tmp/end"},
    )


@call_template("tools", "deploy")
def deploy() -> None:
    raise NotImplementedError


@pipeline(
    argo={
        "templates": [
            {
                "name": "leaving",
                "dag": {
                    "tasks": [
                        {
                            "name": "work",
                            "hooks": {
                                "exit": {
                                    "template": "note-hook",
                                    "arguments": {
                                        "parameters": [
                                            {
                                                "name": "text",
                                                "value": "{{tasks.work.outputs.parameters.return}}",
                                            },
                                        ],
                                    },
                                },
                            },
                        },
                        {
                            "name": "deploy",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "to",
                                        "value": "{{=sprig.upper(tasks.work.outputs.parameters.return)}}",
                                    },
                                ],
                            },
                        },
                    ],
                },
            },
            {
                "name": "note-hook",
                "inputs": {"parameters": [{"name": "text"}]},
                "container": {
                    "image": "busybox:1.37.0",
                    "command": ["echo", "{{inputs.parameters.text}}"],
                },
            },
        ],
    },
)
def leaving(stage: str = "test") -> None:
    work_ = work(where=stage)
    deploy.options(after=[work_])()


@container(image="busybox:1.37.0")
def main(where: str) -> None:
    command("echo", where)


@pipeline
def alone(stage: str = "test") -> None:
    main(where=f"in {stage}")
