"""What a pod has for itself inside of texts, and a claim where each pod has inputs and outputs of its own."""

from flowdsl import Config, Host, Secret, Volume, pipeline, step

TOKEN = Secret("chat", "token")


@step(image="python:3.12-slim", mounts={"/tmp": Volume("shared")})
def clean(text: str) -> str:
    return text


@pipeline
def main() -> None:
    clean(f"{TOKEN} {Host('/data')} {Config('settings', 'rate')}")
