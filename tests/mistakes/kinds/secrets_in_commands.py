"""Secrets in the texts of steps that no pipeline body makes."""

from flowdsl import Config, Host, Secret, Volume, command, container, http, pipeline, request, step

TOKEN = Secret("chat", "token")


@http()
def notify(text: str) -> str:
    return request("POST", "https://hooks.example.com/x", headers={"Authorization": f"Bearer {TOKEN}"}, body=text)


@container(image="busybox:1.37")
def say(text: str) -> None:
    command("echo", f"--token={TOKEN}", text)


@step(image="python:3.12-slim")
def clean(text: str) -> str:
    return text


@pipeline
def main() -> None:
    notify("a")
    say("b")
