"""A secret among the words of a command; an input under the name of one is none."""

from flowdsl import Config, Secret, command, container, pipeline

TOKEN = Secret("hub", "token")


@container(image="busybox:1.37.0")
def login(password: str) -> None:
    return command("login", TOKEN, env={"TOKEN": TOKEN, "LEVEL": Config("hub", "level"), "PASSWORD": password})


@pipeline
def main(password: str = "guest") -> None:
    login(password)
