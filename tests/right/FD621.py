from flowdsl import Ready, command, container, pipeline


@container(image="postgres:16", daemon=True, ready=Ready(port=5432))
def database() -> str:
    return command("postgres")


@container(image="postgres:16", retries=3)
def query(host: str) -> None:
    command("psql", "--host", host)


@pipeline
def nightly() -> None:
    query(database())
