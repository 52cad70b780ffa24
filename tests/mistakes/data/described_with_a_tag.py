"""Descriptions of parameters with braces: what Argo would have to replace, and what stays as it is."""

from typing import Annotated

from flowdsl import command, container, pipeline


@container(image="alpine:3.22")
def ask(
    prompt: Annotated[str, "a text with {{inputs.parameters.question}}"],
    other: Annotated[str, "a text with {{item}} or {{prompt}}"],
) -> None:
    command("echo", prompt, other)


@pipeline
def nightly(prompt: Annotated[str, "a text with {{inputs.parameters.question}}"] = "Why?") -> None:
    ask(prompt, "Because.")
