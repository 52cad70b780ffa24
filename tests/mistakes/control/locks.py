from flowdsl import Mutex, Semaphore, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, locks=Mutex("gpu"))  # type: ignore[arg-type]
def alone() -> None: ...


@step(image=IMAGE, locks=["gpu"])  # type: ignore[list-item]
def text() -> None: ...


@step(image=IMAGE, locks=[Mutex("gpu"), Semaphore("limits", "training"), Mutex("gpu")])
def twice() -> None: ...


@step(image=IMAGE, locks=[Mutex("rack/gpu")])
def slash() -> None: ...


@step(image=IMAGE, locks=[Semaphore("Limits", "training")])
def config() -> None: ...


@step(image=IMAGE, locks=[Semaphore("limits", "a key")])
def key() -> None: ...


@step(image=IMAGE, locks=[Mutex("gpu", namespace="ML")])
def namespace() -> None: ...


@step(image=IMAGE)
def plain() -> None: ...


@pipeline
def locks(host: str = "a") -> None:
    alone()
    text()
    twice()
    slash()
    config()
    key()
    namespace()
    plain.options(locks=[Mutex(f"gpu-{host}")])()
