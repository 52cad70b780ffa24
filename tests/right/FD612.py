from flowdsl import command, container, pipeline, step


@container(image="postgres:16", daemon=True)
def database() -> str:
    return command("postgres")


@step(image="python:3.12-slim")
def count(host: str) -> None:
    print(host)


@pipeline
def nightly() -> None:
    count(database())
