"""Text of a template language, with a word that Argo knows."""

import re

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def render(template: str, name: str) -> str:
    return re.sub("{{.*?}}", name, template)


@pipeline
def mail() -> None:
    render("Dear {{ item.name }}", name="Ada")
