"""The pipeline `ends`."""

from flowdsl import (
    command,
    container,
    on_exit,
    on_failure,
    otherwise,
    pipeline,
    run,
    when,
)


@container(image="busybox:1.37.0")
def work(code: int) -> None:
    command("sh", "-c", "exit $CODE", env={"CODE": code})


@container(image="busybox:1.37.0")
def say(text: str) -> None:
    command("echo", text)


@pipeline
def leave(status: str, duration: float) -> None:
    tell = say(text=f"{status} after {duration}")
    with when(status == "Succeeded"):
        say.options(name="celebrate", after=[tell])(text="hooray")
    with otherwise():
        say.options(name="cry", after=[tell])(text="boohoo")


@pipeline
def ends() -> None:
    load = work(code=0)
    fragile = work.options(after=[load], may_fail=True)(code=3)
    with on_failure(fragile):
        say.options(name="mend")(text="mending")
    with on_failure(load):
        say.options(name="never")(text="never")
    last = say.options(after=[load])(text="done")
    with on_exit(last) as last_ended:
        say.options(name="last-exit", may_fail=True)(
            text=f"{run.name} {last_ended.status}",
        )
    with on_exit():
        leave(status=run.status, duration=run.duration)
