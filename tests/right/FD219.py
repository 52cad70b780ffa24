from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def render(template: str, name: str) -> str:
    return template.replace("NAME", name)


@pipeline
def mail() -> None:
    render("Dear NAME", name="Ada")
