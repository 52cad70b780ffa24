"""The pipeline `amounts`."""

from pathlib import Path

from flowdsl import Secret, command, container, pipeline

INPUT = Secret("keys")
AMOUNTS_POD_SPEC_PATCH = """\
containers:
- name: main
  tty: false
"""
REGIONS = """\
{"north": 1,
 "south": 2}
"""
MAKE_NOTE = """\
first
second
"""


@container(
    image="busybox:1.37.0",
    workdir="/tmp/made",
    memory="128Mi",
    cpu="250m",
    mounts={"/keys": INPUT},
    argo={
        "container": {
            "resources": {"requests": {"memory": "64Mi"}, "limits": {"cpu": "500m"}},
        },
    },
)
def make(regions: str, note: str) -> Path:
    return command(
        "sh",
        "-c",
        'printf "%s" "$REGIONS" "$NOTE" > text.txt',
        env={"REGIONS": regions, "NOTE": note},
        paths={"return": "/tmp/made/text.txt"},
    )


@container(
    image="busybox:1.37.0",
    argo={
        "container": {
            "resources": {"limits": {"cpu": "1"}},
            "image": "busybox:{{inputs.parameters.tag}}",
        },
    },
)
def read(text: Path, tag: str = "1.37.0") -> None:
    command("cat", "/tmp/text.txt", paths={"text": "/tmp/text.txt"})


@pipeline(argo={"podSpecPatch": AMOUNTS_POD_SPEC_PATCH})
def amounts(regions: str = REGIONS, pair: str = "one\n") -> None:
    make_ = make(regions=regions, note=MAKE_NOTE)
    read(text=make_)
