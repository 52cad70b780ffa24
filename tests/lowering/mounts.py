"""Volumes of every kind: claims that exist and that are made for the run, and what one pod has for itself."""

from pathlib import Path

from flowdsl import Config, Host, NewVolume, Scratch, Secret, Volume, command, container, output, pipeline, step

DATA = Volume("datasets", mode="ReadOnlyMany")
WORK = NewVolume("work", "100Gi", mode="ReadWriteMany", storage_class="nfs")
CACHE = NewVolume("cache.small", "1Gi", mode="ReadWriteOncePod")
SCRATCH = Scratch("20Gi")


@step(
    image="python:3.12-slim",
    memory="16Gi",
    shm="8Gi",
    env={"LEVEL": Config("app", "level"), "MODE": "fast"},
    secrets={"TOKEN": Secret("hub", "token")},
    mounts={
        "/data": DATA.ro,
        "/work": WORK,
        "/cache": CACHE / "pip",
        "/tmp/parts": SCRATCH / "parts",
        "/tmp/parts-seen": (SCRATCH / "parts").ro,
        "/tmp/memory": Scratch("1Gi", memory=True),
        "/etc/app": Config("app"),
        "/etc/limits.toml": Config("limits.v2", "limits.toml"),
        "/keys": Secret("hub"),
        "/root/.netrc": Secret("login", "netrc"),
        "/models": Host("/mnt/models").ro,
    },
)
def train(raw: Path, rate: float) -> float:
    return rate * raw.stat().st_size


@container(image="busybox:1.37.0", mounts={"/tmp/empty": Scratch()})
def show(file: Path) -> Path:
    return command("cp", file, output())


@pipeline
def mounts() -> None:
    train(WORK / "raw.txt", 0.1)
    show(DATA / "raw.txt")
