"""A volume that is made for each run."""

from flowdsl import NewVolume, command, container, pipeline

WORKDIR = NewVolume("workdir", "1Gi")
WRITE = "echo generating message in volume; echo hello world | tee /mnt/vol/hello_world.txt"
READ = "echo getting message from volume; find /mnt/vol; cat /mnt/vol/hello_world.txt"


@container(image="busybox", mounts={"/mnt/vol": WORKDIR})
def hello_world_to_file() -> None:
    command("sh", "-c", WRITE)


@container(image="alpine:3.23", mounts={"/mnt/vol": WORKDIR})
def print_message_from_file() -> None:
    command("sh", "-c", READ)


# What becomes of the volume is said here, because flowdsl deletes it with the end of the run.
@pipeline(argo={"volumeClaimGC": None})
def volumes_pvc() -> None:
    generated = hello_world_to_file()
    print_message_from_file.options(after=[generated])()
