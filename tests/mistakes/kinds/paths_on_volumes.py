"""Files that lie on a volume, where a program has a path for them."""

from pathlib import Path

from flowdsl import Raw, Volume, command, container, fan_out, pipeline

DATA = Volume("datasets")


@container(image="busybox:1.37.0")
def clean(raw: Path, parts: list[Path]) -> Path:
    return command("clean", paths={"raw": "/raw.txt", "parts": "/parts", "return": "/clean.txt"})


@pipeline
def mounted() -> None:
    clean(DATA / "raw.txt", [Raw("one"), Raw("two")])
    fan_out(clean.options(name="all"), over={"raw": [DATA / "a.txt", DATA / "b.txt"]}, parts=[Raw("one")])


@pipeline(store=DATA / "runs")
def stored() -> None:
    clean.options(name="kept")(Raw("text"), [])
