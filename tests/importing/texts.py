"""The pipeline `texts`."""

from flowdsl import command, container, fan_out, manifest, pipeline, resource


@container(image="busybox:1")
def say(m: str) -> None:
    command("echo", m)


@container(
    image="busybox:1",
    argo={
        "memoize": {
            "key": "made-{{inputs.parameters.city}}-return",
            "maxAge": "1h",
            "cache": {"configMap": {"name": "made"}},
        },
    },
)
def make(city: str) -> str:
    return command("sh", "-c", "echo x > /tmp/text", paths={"return": "/tmp/text"})


@container(image="busybox:1")
def costs(price: str) -> None:
    command("test", price)


@resource("create")
def note() -> None:
    body = """
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: note, labels: {app: reviews}}
    """
    manifest(body)


@pipeline
def texts(
    rate: str = "0.00001",
    serial: int = 9007199254740992,
    price: str = "$$5",
    city: str = "ulm",
    letter: str = "Dear {{$.name}}",
) -> None:
    a = say(m=f"{rate} {serial}")
    b = fan_out(say, over={"m": ["0.00001", "1e-7", "1", "10000000000000000"]})
    e = fan_out(say, over={"m": ["1.50", "1e-7", "0.00000010", "2"]})
    c = fan_out(say, over={"m": ['0.00001 {"s":0.00001}']})
    made = make(city=city)
    costs_ = costs(price=price)
    say.options(name="d", after=[a, b, e, c, costs_])(m=made)
    note.options(after=[a, b, e, c, made, costs_])()
    say.options(
        name="a-letter-to-somebody-in-a-city",
        after=[a, b, e, c, made, costs_],
    )(
        m=f"{letter} in {{{{ city }}}}, {city}, where all of them read letters that have braces",
    )
