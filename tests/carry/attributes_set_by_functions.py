from flowdsl import step


class Settings:
    rate = 0.1
    layers = 2
    unused = None


class Budget:
    hours = 1


settings = Settings()


def fill(one, **values) -> None:
    for name, value in values.items():
        setattr(one, name, value)


def deepen() -> None:
    settings.layers = 4


def announce(one) -> None:
    print("compiling with", one.rate)


setattr(Settings, "rate", 0.2)
delattr(Settings, "unused")
fill(settings, rate=0.3)
fill(Budget, hours=2)
deepen()
announce(settings)


@step(image="python:3.12-slim")
def train() -> str:
    return f"{settings.rate} {settings.layers} {hasattr(Settings, 'unused')}"
