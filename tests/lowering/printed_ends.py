"""What a program prints, and what a request gives, in the block for the end of a task that may not have it."""

from flowdsl import command, container, either, http, on_exit, pipeline, request, step


@container(image="busybox:1.37.0")
def half(size: int) -> int:
    return command("sh", source="test $SIZE -gt 1 && echo $((SIZE / 2))", env={"SIZE": size}, stdout=True)


@container(image="busybox:1.37.0")
def parts(size: int) -> list[int]:
    return command("sh", source='test $SIZE -gt 1 && echo "[$SIZE]"', env={"SIZE": size}, stdout=True)


@http()
def ask(url: str) -> str:
    return request("GET", url)


@step(image="python:3.12-slim")
def show(size: int, first: int) -> None:
    print(size, first)


@step(image="python:3.12-slim")
def say(text: str) -> None:
    print(text)


@pipeline
def printed_ends(size: int = 4) -> None:
    halved, listed = half(size), parts(size)
    with on_exit(halved), on_exit(listed):
        show(either(halved, -1), either(listed[0], -2))


@pipeline
def answered_ends() -> None:
    answer = ask("https://example.com/a")
    with on_exit(answer):
        say(either(answer, "nothing"))
