from flowdsl import command, container, pipeline


@container(image="bash:5.2")
def greet(name: str) -> None:
    command("bash", source='echo "Hello $NAME"', env={"NAME": name})


@pipeline
def nightly(name: str = "you") -> None:
    greet(name)
