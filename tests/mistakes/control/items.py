from flowdsl import failed, fan_out, numbers, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def work(part: int) -> float:
    return part / 2


@step(image=IMAGE)
def tell(parts: list[int]) -> None:
    print(parts)


@pipeline
def nightly(rows: int = 1, rate: float = 0.5) -> None:
    tell.options(name="a")(numbers(rate))  # type: ignore[arg-type]
    tell.options(name="b")(numbers("3"))  # type: ignore[arg-type]
    results = fan_out(work, over={"part": numbers(rows)})
    tell.options(name="c")(failed(results))
    tell.options(name="d")(failed(numbers(rows)))
    fan_out(work.options(name="e"), over={"part": [1, 2]}, keep_going=1)  # type: ignore[arg-type]
    many = fan_out(work, over={"part": range(501)}, keep_going=True)
    tell.options(name="f")(failed(many))
