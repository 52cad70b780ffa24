"""The pipeline `lists`."""

from flowdsl import command, container, fan_out, pipeline


@container(image="busybox:1")
def say(m: str) -> None:
    command("echo", m)


@container(image="busybox:1")
def sizes_(all: list[str]) -> None:
    command("test", "-n", all)


@container(image="busybox:1")
def names_(names: list[str]) -> None:
    command("echo", names)


@pipeline
def lists(
    sizes: list[str] = ["1", "2", "3"],
    names: list[str] = ["a", "b"],
    mixed: list[str] = ['{"a":"x \\u003c y","b":1.50}', "[2e-5,null]", "null", "true"],
) -> None:
    fan_out(say.options(name="size"), over={"m": sizes})
    fan_out(say.options(name="name"), over={"m": names})
    sizes_(all=sizes)
    names_(names=names)
    fan_out(say.options(name="mixed"), over={"m": mixed})
    fan_out(say.options(name="rows"), over={"m": ["1.0&", "2z"]})
    fan_out(
        say.options(name="whole"),
        over={"m": ['{"a":"x \\u003c y","b":[1]}', '["\\u0026"]']},
    )
