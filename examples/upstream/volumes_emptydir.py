"""An empty folder that goes with the pod."""

from flowdsl import Scratch, command, container, pipeline

LOOK = """\
 if grep -q /mnt/vol /proc/mounts; then echo "Volume mounted and found"; else echo "Not found"; exit 1; fi \
"""


@container(image="alpine:3.23", mounts={"/mnt/vol": Scratch()})
def look() -> None:
    command("/bin/sh", "-c", LOOK)


@pipeline
def volumes_emptydir() -> None:
    look()
