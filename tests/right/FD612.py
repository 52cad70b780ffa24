from flowdsl import command, container, pipeline


@container(image="postgres:16", daemon=True)
def database() -> str:
    return command("postgres")


@pipeline
def nightly() -> None:
    database()
