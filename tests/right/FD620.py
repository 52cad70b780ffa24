from flowdsl import command, container, pipeline


@container(image="postgres:16", daemon=True)
def database(user: str) -> str:
    return command("postgres", env={"POSTGRES_USER": user})


@container(image="postgres:16")
def query(host: str) -> None:
    command("psql", "--host", host)


@pipeline
def part(user: str) -> None:
    query(database(user))


@pipeline
def nightly(user: str = "me") -> None:
    part(user)
