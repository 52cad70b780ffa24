"""The pipeline `settings`."""

from typing import NamedTuple

from flowdsl import command, container, fan_out, pipeline


class AItem(NamedTuple):
    task: str
    sets: str
    epochs: str
    more: str


@container(image="busybox:1.37.0")
def say(task: str, sets: str, epochs: str, more: str) -> None:
    command("echo", f"{task} {sets} {epochs} {more}")


@pipeline
def a_each(item: AItem) -> None:
    say.options(name="a")(
        task=item.task,
        sets=item.sets,
        epochs=item.epochs,
        more=item.more,
    )


@pipeline
def settings(
    confs: list[AItem] = [
        AItem(task="seg", sets='["a","b"]', epochs="2", more="{}"),
        AItem(
            task="det",
            sets='["c"]',
            epochs="3",
            more='{"b":[1,2.50],"a":{"x":"<y>"}}',
        ),
    ],
) -> None:
    fan_out(a_each.options(name="a"), over={"item": confs})
