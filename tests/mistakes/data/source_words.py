"""Sources whose words mean nothing, or not enough."""

from pathlib import Path

from flowdsl import S3, Azure, Git, Http, Raw, Secret, pipeline, step

TOKEN = Secret("hub", "token")


@step(image="python:3.12-slim")
def use(file: Path) -> None:
    print(file)


@pipeline
def nightly(
    plain: Path = S3("raw/reviews.txt", endpoint="minio:9000", access_key=TOKEN),
    half: Path = S3("raw/reviews.txt", "datasets", access_key=TOKEN),
    header: Path = Http("https://example.com/a", headers={"Authorization": TOKEN}, username=TOKEN),
    deep: Path = Git("https://example.com/a.git", depth=0, ssh_key="id_rsa"),
    packed: Path = Azure("a.rar", "data", "https://example.blob.core.windows.net", archive="rar"),
    nameless: Path = S3(""),
    script: Path = Raw("echo $$ $(KUBERNETES_PORT)"),
    open: Path = Git("https://example.com/b.git", password=Secret("hub")),
    named: Path = Http("https://example.com/b", headers={"X Kind": "a", "": "b", "X-Kind": "c"}),
    listed: Path = Http("https://example.com/c", headers=["X-Kind"]),
    counted: Path = Http("https://example.com/d", headers={"X-Kind": 5}),
    number: Path = S3(5, "datasets"),
) -> None:
    for file in (plain, half, header, deep, packed, nameless, script, open, named, listed, counted, number):
        use(file)
