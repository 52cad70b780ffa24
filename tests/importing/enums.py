"""The pipelines `enums`, `handed_on`."""

from flowdsl import command, container, fan_out, pipeline


@container(image="busybox:1.37.0")
def say(env: str = "") -> None:
    command("echo", env)


@pipeline
def loop(items: list[str] = []) -> None:
    fan_out(say.options(name="each"), over={"env": items})


@pipeline(
    argo={
        "arguments": {"parameters": [{"name": "env", "enum": ["a", "b"]}]},
        "templates": [
            {
                "name": "enums",
                "dag": {
                    "tasks": [
                        {
                            "name": "two",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "env",
                                        "value": "{{=sprig.upper(workflow.parameters.env)}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "four",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "items",
                                        "value": "{{=toJson(sprig.reverse(fromJSON(workflow.parameters.items)))}}",
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
def enums(env: str = "a", items: list[str] = ["x", "y"]) -> None:
    say.options(name="one")(env=env)
    say.options(name="two")()
    loop.options(name="three")(items=items)
    loop.options(name="four")()


@container(image="busybox:1.37.0")
def say_2(env: str) -> str:
    return command("echo", env, stdout=True)


@pipeline(argo={"arguments": {"parameters": [{"name": "env", "enum": ["a", "b"]}]}})
def handed_on(env: str = "a") -> None:
    one = say_2(env=env)
    say_2.options(name="two")(env=one)
