from flowdsl import pipeline, step


@step(image="registry.example.com/python-yaml:1.0")
def count(text: str) -> int:
    import yaml

    return len(yaml.safe_load(text))


@pipeline
def nightly() -> None:
    count("[orders, users]")
