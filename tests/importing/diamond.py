"""The pipeline `diamond`."""

from flowdsl import command, container, pipeline


@container(image="python:3.12-slim")
def begin() -> str:
    source = """
        print("world")
    """
    return command("python3", source=source, stdout=True)


@container(image="busybox:1.37.0")
def upper(text: str) -> str:
    return command(
        "sh",
        "-c",
        "printf '%s' \"$TEXT\" | tr a-z A-Z > /tmp/upper.txt",
        env={"TEXT": text},
        paths={"return": "/tmp/upper.txt"},
    )


@pipeline
def twice(text: str) -> str:
    first = upper(text=text)
    second = upper(text=f"{first} {text}")
    return second


@container(image="busybox:1.37.0")
def join(one: str, two: str) -> str:
    source = """
        echo "$ONE and $(echo $TWO)"
    """
    return command("sh", source=source, env={"ONE": one, "TWO": two}, stdout=True)


@pipeline
def diamond(word: str = "hello") -> str:
    begin_ = begin()
    left = upper.options(after=[begin_])(text=word)
    right = twice(text=f"{word}, {begin_}")
    join_ = join(one=left, two=right)
    return join_
