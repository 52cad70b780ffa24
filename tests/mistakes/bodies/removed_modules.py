"""Modules that newer versions of Python have no more, and images that have them."""

from flowdsl import pipeline, step


@step(image="python:3.12-slim")
def compare(one: str, other: str) -> bool:
    from distutils.version import LooseVersion

    return bool(LooseVersion(one) < LooseVersion(other))


@step(image="python:3.11-slim")
def compare_as_before(one: str, other: str) -> bool:
    from distutils.version import LooseVersion

    return bool(LooseVersion(one) < LooseVersion(other))


@step(image="python:3.12-slim", packages=["setuptools==80.9.0"])
def compare_with_package(one: str, other: str) -> bool:
    from distutils.version import LooseVersion

    return bool(LooseVersion(one) < LooseVersion(other))


@step(image="python:3.13")
def escaped(text: str) -> str:
    try:
        import cgi
    except ImportError:
        return text
    import pipes

    return f"{cgi} {pipes.quote(text)}"


@pipeline
def nightly(one: str = "1.2", other: str = "1.10") -> None:
    compare(one, other)
    compare_as_before(one, other)
    compare_with_package(one, other)
    escaped(one)
