"""The pipeline `loops`.

Compile it with `flowdsl compile FILE --as template`.
"""

from flowdsl import command, container, fan_out, numbers, pipeline


@container(image="busybox:1.37.0")
def say(text: str, mark: str) -> None:
    command("echo", f"{text}{mark}")


@container(image="busybox:1.37.0")
def shard(number: int) -> str:
    return command("echo", number, stdout=True)


@container(image="python:3.12-slim")
def make() -> list[str]:
    source = """
        import json
        print(json.dumps(["a", "b"]))
    """
    return command("python3", source=source, stdout=True)


@container(image="busybox:1.37.0")
def how_many() -> int:
    return command("sh", "-c", "echo 2 > /tmp/shards", paths={"return": "/tmp/shards"})


@container(image="python:3.12-slim")
def count(numbers_: list[str]) -> None:
    source = """
        import ast
        import os
        print(len(ast.literal_eval(os.environ["NUMBERS"])))
    """
    command("python3", source=source, env={"NUMBERS": numbers_})


@pipeline(argo={"templates": [{"name": "loops", "parallelism": 2}]})
def loops(regions: list[str] = ["eu", "us"], shards: int = 2) -> None:
    greet = fan_out(
        say,
        over={"text": ["hello fish", "hello bird"]},
        parallel=2,
        mark="!",
    )
    pairs = fan_out(
        say.options(after=[greet]),
        over={"text": ["dog", "cat"], "mark": ["?", "."]},
        parallel=2,
    )
    powers = fan_out(
        say.options(after=[pairs]),
        over={"text": ["²", "³", "4"]},
        parallel=2,
        mark=".",
    )
    regions_ = fan_out(
        say.options(after=[powers]),
        over={"text": regions},
        parallel=2,
        mark="!",
    )
    shards_ = fan_out(
        shard.options(after=[regions_]),
        over={"number": numbers(shards)},
        parallel=2,
    )
    numbers_ = fan_out(
        shard.options(after=[regions_]),
        over={"number": range(3, 7)},
        parallel=2,
    )
    made = make.options(after=[shards_, numbers_])()
    each = fan_out(say, over={"text": made}, parallel=2, mark=".")
    more = how_many.options(after=[made])()
    all_ = count.options(after=[made])(numbers_=numbers_)
    fan_out(
        shard.options(name="counted", after=[each, all_]),
        over={"number": numbers(more)},
        parallel=2,
    )
