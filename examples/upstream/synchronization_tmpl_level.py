"""Five tasks, of which a semaphore lets so many run at a time as a ConfigMap says."""

from flowdsl import Semaphore, command, container, fan_out, pipeline


@container(image="alpine:3.23", locks=[Semaphore("my-config", "template")])
def acquire_lock(seconds: str) -> None:
    command("sh", "-c", "sleep 10; echo acquired lock")


@pipeline
def synchronization_tmpl_level() -> None:
    fan_out(acquire_lock, over={"seconds": ["1", "2", "3", "4", "5"]})
