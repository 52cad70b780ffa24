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
    with when(gen_ >= low):
        say.options(name="d", after=[a, b, c])(m=f"{gen_}")
    fan_out(e_each.options(name="e", after=[a, b, c, gen_]), over={"item": [1, 2, 3]})
    fan_out(
        f_each.options(name="f", after=[a, b, c]),
        over={"item": ["2", "2.60"]},
        gen=gen_,
    )
    say.options(name="g", after=[a, b, c, gen_])(m="g")
    fan_out(
        h_each.options(name="h", after=[a, b, c, gen_]),
        over={"item": ["10", "95"]},
    )
