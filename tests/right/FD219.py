import re

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def render(template: str, name: str) -> str:
    return re.sub("{{.*?}}", name, template)


@pipeline
def mail() -> None:
    render("Dear {{ user.name }}", name="Ada")
