"""Steps in any language: inputs are words of the command line, variables, or paths."""

from pathlib import Path
from typing import NamedTuple

from flowdsl import GPU, Secret, Volume, command, container, output, pipeline

DATA = Volume("datasets")


class Built(NamedTuple):
    binary: Path
    version: str


@container(image="gcc:14", cpu="500m", memory="512Mi", env={"LANG": "C", "PRICE": "$(5) $$"})
def compile_c(source: Path, level: int) -> Built:
    text = 'cat "$1"/* > "$2" && echo "$0 $LANG $PRICE" > "$4"'
    return command("sh", "-c", text, f"-O{level}", source, output("binary"), "--version-file", output("version"))


class Stripped(NamedTuple):
    binary: Path
    size: int


@container(image="busybox:1.36")
def strip(binary: Path) -> Stripped:
    text = 'tail -n 1 "$0" > "$1" && wc -c < "$0" > "$2"'
    return command("sh", "-c", text, binary, output("binary"), output("size"))


@container(
    image="busybox:1.36",
    secrets={"TOKEN": Secret("hub", "token")},
    gpu=GPU(2, product="H100", memory="40Gi"),
    node={"disk": "ssd"},
    where="arch == amd64 or not spot",
    tolerations=["batch=yes:NoSchedule", {"key": "old", "operator": "Exists"}],
    priority="high",
    retries=3,
    timeout="90m",
)
def deploy(binary: Path, version: str, target: str) -> None:
    text = 'echo "$VERSION $TOKEN" > "$TARGET" && cp "$BINARY" copy$$ && cat "$TARGET" copy*'
    command("sh", "-c", text, env={"VERSION": version, "TARGET": target, "BINARY": binary})


@container(image="busybox:1.36")
def announce(version: str, note: Path | None = None) -> None:
    command("sh", "-c", 'echo "$0"; test ! -e "$1" || cat "$1"', version, note)


@pipeline(name="ship-it", parallelism=2, timeout="2h", ttl="24h", service_account="runner", labels={"team": "a"}, priority="low")
def containers(target: str = "prod", level: int = 2) -> str:
    built = compile_c(DATA / "src", level)
    deploy(strip(built.binary).binary, built.version, target)
    announce(built.version)
    return built.version
