"""The pipeline `numbers_`."""

from flowdsl import command, container, fan_out, pipeline, when


@container(image="busybox:1")
def say(m: str) -> None:
    command("echo", m)


@container(image="python:3.12-slim")
def gen() -> float:
    source = """
        print('2.50')
    """
    return command("python3", source=source, stdout=True)


@container(image="python:3.12-slim")
def several() -> list[str]:
    source = """
        print('[2, 10, 12.5]')
    """
    return command("python3", source=source, stdout=True)


@pipeline
def e_each(item: int) -> None:
    with when(item >= 2.0):
        say.options(name="e")(m=f"{item}")


@pipeline
def f_each(item: str, gen: float) -> None:
    say.options(name="f")(m=item)


@pipeline
def h_each(item: str) -> None:
    with when(item < "9"):
        say.options(name="h")(m=item)


@pipeline
def i_each(item: str) -> None:
    say.options(name="i")(m=item)


@pipeline(
    argo={
        "templates": [
            {
                "name": "numbers",
                "dag": {
                    "tasks": [
                        {"name": "a", "when": "{{workflow.parameters.version}} >= 3"},
                        {"name": "b", "when": "{{workflow.parameters.code}} >= 3"},
                        {"name": "c", "when": "{{workflow.parameters.serial}} >= 3"},
                        {
                            "name": "g",
                            "when": "'{{tasks.gen.outputs.result}}' =~ '[.]' && {{tasks.gen.outputs.result}} > -1",
                        },
                    ],
                },
            },
            {
                "name": "f-each",
                "dag": {
                    "tasks": [
                        {
                            "name": "f",
                            "when": "{{inputs.parameters.item}} >= {{inputs.parameters.gen}}",
                        },
                    ],
                },
            },
            {
                "name": "i-each",
                "dag": {
                    "tasks": [{"name": "i", "when": "{{inputs.parameters.item}} > 9"}],
                },
            },
        ],
    },
)
def numbers_(
    version: str = "3.10",
    code: str = "007",
    low: float = 0.9,
    serial: str = "12345678901234567890",
) -> None:
    a = say(m=f"v{version}")
    b = say(m=code)
    c = say(m=serial)
    gen_ = gen()
    several_ = several()
    with when(gen_ >= low):
        d = say.options(after=[a, b, c, several_])(m=f"{gen_}")
    e = fan_out(
        e_each.options(after=[a, b, c, gen_, several_]),
        over={"item": [1, 2, 3]},
    )
    f = fan_out(
        f_each.options(after=[a, b, c, several_]),
        over={"item": ["2", "2.60"]},
        gen=gen_,
    )
    g = say.options(after=[a, b, c, gen_, several_])(m="g")
    h = fan_out(
        h_each.options(after=[a, b, c, gen_, several_]),
        over={"item": ["10", "95"]},
    )
    fan_out(i_each.options(name="i", after=[d, e, f, g, h]), over={"item": several_})
