"""The pipelines `expressions`, `choices`."""

from pathlib import Path

from flowdsl import command, container, fan_out, on_exit, pipeline, run


@container(image="busybox:1.37.0")
def gen() -> str:
    return command("sh", "-c", "echo 5 > /tmp/n", paths={"return": "/tmp/n"})


@container(image="busybox:1.37.0")
def code() -> None:
    command("sh", "-c", "exit 0")


@container(image="busybox:1.37.0")
def say(m: str = "") -> None:
    command("echo", m)


@container(image="busybox:1.37.0")
def len_(m: str = "") -> None:
    command("sh", "-c", "echo $M | wc -c", env={"M": m})


@pipeline
def sub(x: str = "") -> None:
    one = say(m=x)
    say.options(name="two", after=[one])()


@pipeline
def bye(status: str) -> None:
    len_.options(name="end")()


@pipeline(
    argo={
        "templates": [
            {
                "name": "expressions",
                "dag": {
                    "tasks": [
                        {
                            "name": "upper",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "{{=sprig.upper(workflow.parameters.greeting)}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "lr",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "lr={{=jsonpath(workflow.parameters.config, '$.lr')}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "tern",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "{{=workflow.parameters.greeting == 'hello' ? 'yes' : 'no'}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "time",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "{{workflow.creationTimestamp.Y}}-{{workflow.uid}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "base",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "{{=sprig.last(sprig.splitList('/', workflow.parameters.path))}} {{tasks.gen.outputs.parameters.return}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "code-is",
                            "arguments": {
                                "parameters": [
                                    {"name": "m", "value": "{{tasks.code.exitCode}}"},
                                ],
                            },
                            "when": "{{tasks.code.exitCode}} == 0",
                        },
                        {
                            "name": "sub",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "x",
                                        "value": "{{=toJson(tasks.gen.outputs.parameters.return)}}",
                                    },
                                ],
                            },
                        },
                        {
                            "name": "cond",
                            "when": "{{=asInt(tasks.gen.outputs.parameters.return) > 3 && sprig.contains('l', workflow.parameters.greeting)}}",
                        },
                    ],
                },
            },
            {
                "name": "sub",
                "dag": {
                    "tasks": [
                        {
                            "name": "two",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "{{=sprig.repeat(3, inputs.parameters.x)}}",
                                    },
                                ],
                            },
                        },
                    ],
                },
            },
            {
                "name": "bye",
                "dag": {
                    "tasks": [
                        {
                            "name": "end",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "m",
                                        "value": "{{=sprig.lower(workflow.status)}}",
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
def expressions(
    greeting: str = "hello",
    config: str = '{"lr": 0.1, "tags": ["a","b"]}',
    path: str = "a/b/c",
) -> None:
    gen_ = gen()
    code_ = code()
    say.options(name="upper", after=[gen_, code_])()
    say.options(name="lr", after=[gen_, code_])()
    say.options(name="tern", after=[gen_, code_])()
    len_.options(name="time", after=[gen_, code_])()
    say.options(name="base", after=[gen_, code_])()
    say.options(name="code-is", after=[gen_, code_])()
    sub.options(after=[gen_, code_])()
    fan_out(say.options(name="each", after=[gen_, code_]), over={"m": ["1", "2"]})
    say.options(name="plain", after=[code_])(m=gen_)
    say.options(name="cond", after=[gen_, code_])(m="c")
    with on_exit():
        bye(status=run.status)


@container(image="busybox:1.37.0")
def checkout() -> Path:
    return command(
        "sh",
        "-c",
        "echo rev; echo a > /tmp/src",
        paths={"return": "/tmp/src"},
    )


@container(image="busybox:1.37.0")
def make(t: str, src: Path) -> str:
    source = """
        cat /tmp/src
        [ "$T" != fail ]
    """
    return command(
        "sh",
        source=source,
        env={"T": t},
        stdout=True,
        paths={"src": "/tmp/src"},
    )


@container(image="busybox:1.37.0")
def say_2(t: str = "") -> None:
    command("echo", t)


@pipeline(
    argo={
        "templates": [
            {
                "name": "choices",
                "dag": {
                    "tasks": [
                        {"name": "report", "depends": "lint.Failed || unit.Failed"},
                        {
                            "name": "report-ok",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "t",
                                        "value": "{{tasks.checkout.outputs.result}}",
                                    },
                                ],
                            },
                            "depends": "lint.Succeeded && unit.Succeeded || report.Succeeded",
                        },
                        {
                            "name": "either",
                            "depends": "(lint.Succeeded || lint.Skipped) && !unit.Succeeded",
                        },
                        {
                            "name": "after-any",
                            "arguments": {
                                "parameters": [
                                    {
                                        "name": "t",
                                        "value": "{{tasks.checkout.outputs.result}}",
                                    },
                                ],
                            },
                            "when": "{{=sprig.upper(tasks.checkout.outputs.result) == 'REV'}}",
                            "depends": "many.Succeeded || many.Failed",
                        },
                    ],
                },
            },
        ],
    },
)
def choices() -> None:
    checkout_ = checkout()
    lint = make(t="lint", src=checkout_)
    make.options(name="unit")(t="fail", src=checkout_)
    make.options(name="report")(t="report", src=checkout_)
    say_2.options(name="report-ok")()
    say_2.options(name="either")(t=lint)
    fan_out(say_2.options(name="many", after=[checkout_]), over={"t": ["a", "b"]})
    say_2.options(name="after-any")()
