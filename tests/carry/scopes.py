from flowdsl import run, step, when

ARGUMENTS = {"when": 2}
offset = 10


def made(base):
    def add(value):
        return base + value + offset

    return add


add_three = made(3)


class Counter:
    run = 1
    twice = run * 2

    def choice(self):
        return [run for run in range(self.twice)]


@step(image="python:3.12-slim")
def train(when: int) -> list[int]:
    values = [run for run in Counter().choice()]
    total = sum(offset for offset in values)
    return [add_three(when), total, *values]
