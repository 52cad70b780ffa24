from flowdsl import Retry, pipeline, step

IMAGE = "python:3.12-slim"


@step(image=IMAGE, retries=Retry(0))
def never() -> None: ...


@step(image=IMAGE, retries=Retry(2, policy="OnFailures"))  # type: ignore[arg-type]
def policy() -> None: ...


@step(image=IMAGE, retries=Retry(2, factor=2))
def factor() -> None: ...


@step(image=IMAGE, retries=Retry(2, exit_codes=[1], expression="asInt(lastRetry.exitCode) > 1"))
def twice() -> None: ...


@step(image=IMAGE, retries=Retry(2, exit_codes=[0]))
def code() -> None: ...


@step(image=IMAGE, retries=Retry(2, messages="shutdown"))
def messages() -> None: ...


@step(image=IMAGE, retries=Retry(2, wait="soon"))
def wait() -> None: ...


@step(image=IMAGE, retries=Retry(2, within=-1))
def within() -> None: ...


@step(image=IMAGE, retries=Retry(2, expression="(lastRetry.exitCode"))
def open_bracket() -> None: ...


@step(image=IMAGE, queue_timeout="later", retries="3")  # type: ignore[arg-type]
def queue() -> None: ...


@pipeline
def retries() -> None:
    never()
    policy()
    factor()
    twice()
    code()
    messages()
    wait()
    within()
    open_bracket()
    queue()
