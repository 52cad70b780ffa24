"""The pipeline `words`."""

from flowdsl import command, container, pipeline


@container(image="alpine:3.20")
def look(inputs: str, parameters: str) -> None:
    source = """
        echo "alert $INPUTS"
        echo "with $PARAMETERS"
    """
    command("sh", source=source, env={"INPUTS": inputs, "PARAMETERS": parameters})


@pipeline
def words(inputs: str = "link-down", parameters: str = "lr=0.1") -> None:
    look(inputs=inputs, parameters=parameters)
