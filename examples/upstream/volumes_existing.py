"""A volume that is there already: one step writes to it, the next one reads."""

from flowdsl import Volume, command, container, pipeline

WORKDIR = Volume("my-existing-volume")


@container(image="alpine:3.23", mounts={"/mnt/vol": WORKDIR})
def append_to_accesslog() -> None:
    command("sh", "-c", "echo accessed at: $(date) | tee -a /mnt/vol/accesslog")


@container(image="alpine:3.23", mounts={"/mnt/vol": WORKDIR})
def print_accesslog() -> None:
    command("sh", "-c", "echo 'Volume access log:'; cat /mnt/vol/accesslog")


@pipeline
def volumes_existing() -> None:
    generated = append_to_accesslog()
    print_accesslog.options(after=[generated])()
