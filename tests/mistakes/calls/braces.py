"""Text of a template language, with a word that Argo knows."""

import re

from flowdsl import fan_out, pipeline, step


@step(image="python:3.12-slim")
def render(template: str, name: str) -> str:
    return re.sub("{{.*?}}", name, template)


@pipeline
def mail() -> None:
    render("Dear {{ item.name }}", name="Ada")
    for text in fan_out(render.options(name="each"), over={"template": ["Hello", "Dear {{ item"]}, name="Ada"):
        render.options(name="again")(text, name="Bob")
