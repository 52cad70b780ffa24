"""Packages and the user's own modules: an input of Git, a folder of a volume, a folder that pip installs into."""

from pathlib import Path

from flowdsl import Git, Secret, Volume, pipeline, step

IMAGE = "python:3.12-slim"
DATA = Volume("datasets")
MODELS = Git("git@example.com:team/models.git", revision="v1.4.0", depth=1, ssh_key=Secret("git", "key"))


@step(image=IMAGE, packages=["numpy==2.1.0", 'tomli==2.0.1; python_version < "3.11"'])
def load(rows: int) -> list[float]:
    import numpy

    return list(map(float, numpy.ones(rows)))


@step(image=IMAGE, code=DATA / "src")
def check(values: list[float]) -> int:
    return len(values)


@step(image=IMAGE, packages=[], code=None)
def report(values: list[float], count: int) -> None:
    print(values, count)


@pipeline(code=MODELS / "src", packages=["pandas==2.2.3"])
def code(_folder: Path = DATA / "raw") -> None:
    values = load(3)
    report(values, check(values))
    load.options(name="plain", code=None)(4)
    check.options(name="own", packages=[])(values)
