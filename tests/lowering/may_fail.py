"""Tasks whose failure does not fail the run: steps, files, pipelines, items of loops."""

from pathlib import Path

from flowdsl import either, fan_out, on_exit, on_failure, pipeline, run, step, when

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def fetch(url: str) -> Path:
    return Path(url)


@step(image=IMAGE)
def guess(size: int, name: str = "x") -> int:
    return size


@step(image=IMAGE)
def show(text: str, size: int = 0) -> None:
    print(text, size)


@step(image=IMAGE)
def use(data: Path) -> int:
    return data.stat().st_size


@pipeline
def part(size: int) -> int:
    found = fetch.options(may_fail=True)(f"mirror/{size}")
    other = fetch.options(name="other")(f"origin/{size}")
    return use(either(found, other))


@pipeline
def may_fail(size: int = 1, url: str = "a") -> int:
    first = guess.options(may_fail=True)(size + 1, run.name)
    show("one", either(first, 0))
    with when(either(first, 0) > 1):
        show.options(name="big", may_fail=True)("big")
        second = guess.options(may_fail=True)(2)
    show.options(name="two")("two", either(second, either(first, 3)))
    with on_failure(first):
        show.options(name="lost")("lost")
    with on_exit(first) as ended:
        show.options(name="ended")(ended.status, either(first, -1))
    whole = part.options(may_fail=True)(size)
    sizes = fan_out(part.options(may_fail=True, name="parts"), over={"size": [1, 2]})
    file = fetch.options(may_fail=True)(url)
    return use(either(file, fetch.options(name="spare")("b"))) + either(whole, 0) + sizes[0]
