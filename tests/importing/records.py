"""The pipeline `records`."""

from typing import NamedTuple

from flowdsl import command, container, fan_out, pipeline, when


class EachItem(NamedTuple):
    image: str
    tag: str


class SomeItem(NamedTuple):
    name: str
    legs: int


@container(image="busybox:1.37.0")
def greet() -> str:
    source = """
        echo hello
    """
    return command("sh", source=source, stdout=True)


@container(image="busybox:1.37.0")
def say(text: str) -> None:
    command("echo", text)


@pipeline
def each_each(item: EachItem, greeting: str) -> None:
    say.options(name="each")(text=f"{greeting} {item.image} {item.tag}")


@pipeline
def again_each(item: EachItem) -> None:
    say.options(name="again")(text=item.tag)


@pipeline
def some_each(item: SomeItem) -> None:
    with when(item.legs > 2):
        say.options(name="some")(text=item.name)


@pipeline
def others_each(item: str) -> None:
    with when(item != "one"):
        say.options(name="others")(text=f"number {item}")


@pipeline
def records(
    systems: list[EachItem] = [
        EachItem(image="debian", tag="9.1"),
        EachItem(image="alpine", tag="3"),
    ],
) -> None:
    greeting = greet()
    each = fan_out(each_each, over={"item": systems}, greeting=greeting)
    again = fan_out(again_each.options(after=[greeting]), over={"item": systems})
    fan_out(
        some_each.options(name="some", after=[each, again]),
        over={"item": [SomeItem(name="fish", legs=0), SomeItem(name="dog", legs=4)]},
    )
    fan_out(
        others_each.options(name="others", after=[each, again]),
        over={"item": ["one", "two"]},
    )
