"""What a pod has for itself inside of texts: options, also those of one call, defaults, artifacts."""

from pathlib import Path

from flowdsl import Http, Scratch, Secret, Volume, pipeline, step

TOKEN = Secret("chat", "token")
DATA = Volume("reviews")
REPORT = Http("https://example.com/report", headers={"Authorization": f"Bearer {TOKEN}"})


@step(image="python:3.12-slim", env={"AUTH": f"Bearer {TOKEN}", "FOLDER": f"{DATA / 'clean'}/new"})
def clean(text: str, report: Path) -> str:
    return text + report.read_text()


@step(image="python:3.12-slim", labels={"folder": f"{Scratch()}"})
def tell(text: str, word: str = f"{TOKEN}") -> None:
    print(text, word)


@pipeline
def main(key: str = f"key {TOKEN}") -> None:
    tell(clean(key, REPORT))
    tell.options(env={"AUTH": f"Bearer {TOKEN}"}, labels={"folder": f"{DATA / key}"})(key)
    tell.options(name=f"tell-{key}", image="python:3.13-slim")(key)
