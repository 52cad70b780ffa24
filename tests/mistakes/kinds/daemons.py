"""Daemons that would be stopped before they are used, or that are tried again."""

from flowdsl import Ready, command, container, fan_out, pipeline, when


@container(image="postgres:16", daemon=True, ready=Ready(port=5432))
def database(user: str) -> str:
    return command("postgres", env={"POSTGRES_USER": user})


@container(image="psql:16")
def query(host: str) -> None:
    command("psql", "-h", host)


@pipeline
def started(user: str) -> str:
    return database(user)


@pipeline
def nightly(user: str = "me", late: bool = False) -> None:
    query(started(user))
    hosts = fan_out(database, over={"user": ["a", "b"]})
    answers = fan_out(query, over={"host": hosts})
    with when(late):
        query.options(name="late", after=[answers])(database(user))
