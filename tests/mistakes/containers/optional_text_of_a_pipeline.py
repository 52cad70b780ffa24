"""A called pipeline gives an optional text a default, and a program in another language may write no JSON."""

from flowdsl import command, container, either, output, pipeline, step


@container(image="busybox:1.37.0")
def note(count: int) -> str | None:
    return command("sh", "-c", 'echo "$COUNT" > "$OUT"', env={"COUNT": count, "OUT": output()})


@step(image="python:3.12-slim")
def remark(count: int) -> str | None:
    return str(count) if count > 1 else None


@step(image="python:3.12-slim")
def show(text: str, other: str) -> None:
    print(text, other)


@pipeline
def noted(count: int) -> str:
    return either(note(count), "none")


@pipeline
def remarked(count: int) -> str:
    return either(remark(count), "none")


@pipeline
def main(count: int = 1) -> None:
    show(noted(count), remarked(count))
