"""The pipeline `long_lines`."""

from typing import Literal

from flowdsl import command, container, pipeline, when


@container(image="busybox:1.37.0")
def measure() -> float:
    source = """
        echo 1000
    """
    return command("sh", source=source, stdout=True)


@container(image="busybox:1.37.0")
def say(region: str) -> None:
    command("echo", region)


@pipeline(
    argo={
        "arguments": {
            "parameters": [
                {
                    "name": "region",
                    "enum": [
                        "europe_north",
                        "europe_south",
                        "america_north",
                        "america_south",
                        "asia_north",
                    ],
                },
            ],
        },
    },
)
def long_lines(
    region: str = "europe_north",
    only: Literal[
        "a-choice-that-has-no-other-beside-it",
        "a-choice-that-has-one-other-beside-it",
    ] = "a-choice-that-has-no-other-beside-it",
) -> None:
    measure_the_temperature = measure()
    measure_the_pressure = measure()
    with when(
        (measure_the_temperature > 10)
        & (measure_the_pressure > 900)
        & ((region == "europe_north") | (region == "asia_north")),
    ):
        report = say(region=f"{region} {only}")
    with when(measure_the_temperature != measure_the_pressure):
        say.options(name="again", after=[report])(region=region)
