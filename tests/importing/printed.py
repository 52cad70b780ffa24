"""The pipelines `printed`, `listed`."""

from flowdsl import command, container, fan_out, pipeline, when


@container(image="python:3.12-slim")
def odd_or_even(num: int) -> dict[str, str]:
    source = """
        import ast
        import os
        import json
        i = ast.literal_eval(os.environ["NUM"])
        print(json.dumps({"num": i, "evenness": "even" if i % 2 == 0 else "odd"}))
    """
    return command("python3", source=source, env={"NUM": num}, stdout=True)


@container(image="busybox:1.37.0")
def divide(num: str, note: str) -> None:
    source = """
        echo $(($NUM/2)) "$NOTE"
    """
    command("sh", source=source, env={"NUM": num, "NOTE": note})


@pipeline
def divide_each(item: dict[str, str]) -> None:
    with when(item["evenness"] == "even"):
        divide(num=item["num"], note=f"{item['num']} is {item['evenness']}")


@pipeline
def printed() -> None:
    odd_or_even_ = fan_out(odd_or_even, over={"num": [1, 2, 3, 4]})
    fan_out(divide_each.options(name="divide"), over={"item": odd_or_even_})


@container(
    image="replaced-below:latest",
    argo={
        "container": None,
        "data": {
            "source": {"artifactPaths": {"name": "bucket", "s3": {"bucket": "logs"}}},
            "transformation": [{"expression": "filter(data, {# endsWith 'main.log'})"}],
        },
    },
)
def list_() -> list[str]:
    return command("true", stdout=True)


@container(image="busybox:1.37.0")
def each(key: str) -> None:
    command("echo", key)


@pipeline
def listed() -> None:
    list_2 = list_.options(name="list")()
    fan_out(each, over={"key": list_2})
