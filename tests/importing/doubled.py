"""The pipeline `doubled`."""

from flowdsl import call_template, command, container, pipeline


@call_template("numbers", "double")
def double(number: int) -> None:
    raise NotImplementedError


@container(image="busybox:1.37.0")
def say(number: str = "") -> None:
    command("echo", number)


@pipeline(
    argo={
        "templates": [
            {
                "name": "doubled",
                "dag": {
                    "tasks": [
                        {
                            "name": "say",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "number",
                                        "value": "{{tasks.double.outputs.result}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "large",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "number",
                                        "value": "large: {{tasks.double.outputs.result}}",
                                    },
                                ],
                            },
                            "when": "{{tasks.double.outputs.result}} > 10",
                        },
                    ],
                },
            },
        ],
    },
)
def doubled(number: int = 4) -> None:
    double_ = double(number=number)
    say.options(after=[double_])()
    say.options(name="large", after=[double_])()
