from flowdsl import either, pipeline, step, when

IMAGE = "python:3.12-slim"


@step(image=IMAGE)
def fetch(url: str) -> int:
    return len(url)


@step(image=IMAGE)
def use(size: int) -> int:
    return size


@pipeline
def nightly(careful: bool = True) -> int:
    size = fetch.options(may_fail=True)("a")
    use(size)
    with when(size > 1):
        use.options(name="big")(2)
    use.options(name="last")(either(fetch("b"), size))
    use.options(name="flag", may_fail=careful)(3)
    return size
