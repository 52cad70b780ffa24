"""The pipeline `shells`."""

from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def traced(who: str) -> None:
    source = """
        echo one
        echo "hello $WHO"
    """
    command("bash", "-x", "-e", source=source, env={"WHO": who})


@container(image="bash:5.2")
def piped(who: str) -> None:
    command("bash", "-eo", "pipefail", "-c", 'echo "hello $WHO"', env={"WHO": who})


@container(image="bash:5.2")
def together(who: str) -> None:
    source = """
        echo one
        echo "hello $WHO"
    """
    command("/usr/bin/env", "bash", "-e", source=source, env={"WHO": who})


@container(image="bash:5.2")
def named(who: str) -> None:
    command("bash", "-c", "-x", 'echo "$0 $WHO"', who, env={"WHO": who})


@container(image="python:3.12-slim")
def once(who: str) -> None:
    source = """
        import os
        print(("hello " + os.environ["WHO"]))
    """
    command(
        "env",
        "python",
        "-Xtracemalloc",
        "-Wonce",
        "-B",
        source=source,
        env={"WHO": who},
    )


@container(image="node:22-slim")
def quiet(who: str) -> None:
    source = """
        const who = process.env["WHO"]
        console.log(who)
    """
    command("node", "--unhandled-rejections=none", source=source, env={"WHO": who})


@pipeline
def shells(who: str = "you") -> None:
    traced(who=who)
    piped(who=who)
    together(who=who)
    named(who=who)
    once(who=who)
    quiet(who=who)
