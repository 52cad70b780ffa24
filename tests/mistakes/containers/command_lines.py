"""Words of commands that only a shell would understand, and a file of a ConfigMap that nobody may execute."""

from pathlib import Path

from flowdsl import S3, Config, InitContainer, Sidecar, command, container, output, pipeline, step

IMAGE = "registry.example.com/tools:2"


@container(image=IMAGE)
def load(host: str) -> None:
    command("sh", "-c", "psql", f"--host={host}")


@container(image=IMAGE)
def merged(first: Path) -> Path:
    return command("cat", first, "parts/*.csv", ">", output())


@container(image=IMAGE)
def listed() -> None:
    command("sh", "echo parts; ls parts")


@container(image=IMAGE, env={"BUCKET": "raw"})
def copied() -> None:
    command("aws", "s3", "cp", "$BUCKET/all.csv", ".")


@container(image=IMAGE, mounts={"/scripts": Config("scripts")})
def cleaned() -> None:
    command("/scripts/clean.sh")


@container(image=IMAGE, sidecars=[Sidecar("follow", image=IMAGE, command=["tail", "-f", "/data/log"])])
def followed(log: Path) -> None:
    command("count", log, paths={"log": "/data/log"})


@step(
    image=IMAGE,
    init=[InitContainer("pause", image=IMAGE, command=["sleep 10 && ls"])],
    sidecars=[Sidecar("proxy", image=IMAGE, command=["sh", "-c", "proxy", "--port", "80"])],
)
def asked() -> None:
    print("asked")


@pipeline
def nightly(data: Path = S3("parts/first.csv")) -> None:
    load("db")
    merged(data)
    listed()
    copied()
    cleaned()
    followed(data)
    asked()
