"""A container step that returns a text instead of its command."""

from flowdsl import container, pipeline


@container(image="ghcr.io/acme/infer:4")
def infer(text: str) -> str:
    return f"/bin/infer --text {text}"


@pipeline
def nightly() -> None:
    infer("an example")
