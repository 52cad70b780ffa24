"""The same step in several images: a loop of Python, one task for each."""

from flowdsl import command, container, pipeline

IMAGES = ["debian:9.1", "debian:8.9", "alpine:3.6", "ubuntu:17.10"]


@container(image="debian:9.1")
def cat_os_release() -> None:
    command("cat", "/etc/os-release")


@pipeline
def loops_maps() -> None:
    for image in IMAGES:
        name = image.translate(str.maketrans(":.", "--"))
        cat_os_release.options(name=name, image=image)()
