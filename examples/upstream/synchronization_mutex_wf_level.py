"""One run at a time."""

from flowdsl import Mutex, command, container, pipeline


@container(image="busybox")
def hello_world() -> None:
    command("echo", "hello world")


@pipeline(locks=[Mutex("test")])
def synchronization_mutex_wf_level() -> None:
    hello_world()
