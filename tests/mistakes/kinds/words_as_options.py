"""What the body of a step says, written as options of its decorator."""

from flowdsl import command, container, http, output, pipeline, request, resource, step
from flowdsl import manifest as described


@container(image="busybox:1.37.0", stdout=True)
def count(text: str) -> str:
    return command("wc", "-c", text, output())


@http(body={"state": "done"}, success="response.statusCode == 201")
def tell() -> str:
    return request("POST", "https://example.com/runs")


@resource("get", outputs={"level": "{.data.level}"})
def look() -> str:
    return described({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}, "{.data.level}")


@step(image="python:3.12-slim")
def show(texts: list[str]) -> None:
    print(texts)


@pipeline
def nightly() -> None:
    show([count("a"), tell(), look()])
