"""Texts in braces that Argo leaves as they are: by themselves, beside values, inside of JSON, by way of a graph."""

from flowdsl import command, container, pipeline, step


@step(image="python:3.12-slim")
def render(template: str, lines: list[str]) -> str:
    return "".join([template, *lines])


@container(image="busybox:1.37.0")
def show(text: str) -> None:
    command("echo", "{{ title }}", text, env={"STYLE": "{{$.style}}"})


@pipeline
def inner(template: str) -> str:
    return render(template, ["{{ item }}"])


@pipeline
def letter(template: str = "Dear {{ name }}") -> None:
    written = inner(template)
    show(f"{{{{ head }}}}{written} {{{{ foot }}}}")
    show.options(name="again")("{" + written)
