"""What a container finds: its image, variables and volumes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.bodies import BadImage, NoTag, is_secret, untagged
from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.findings.surroundings import BadEnvName, SecretInText
from flowdsl.compiler.ir import Environment, Mount
from flowdsl.compiler.options import volumes
from flowdsl.compiler.options.reading import Wrong, entries, filled_in, one_of, said, text_option
from flowdsl.grammar.image import PULL_POLICIES
from flowdsl.grammar.image import fault as image_fault
from flowdsl.grammar.names import is_env_name
from flowdsl.volume import Config, Mountable, Secret, Volume

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.options.reading import Doubter, Reader


def settled(found: Mapping[str, Any]) -> Environment:
    """The environment that the options of a step result in."""
    mounts: tuple[tuple[Mount, Mountable], ...] = (*found.get("mounts", ()), *found.get("shm", ()))
    return filled_in(Environment(), found)._replace(
        env=(*found.get("env", ()), *found.get("secrets", ())),
        mounts=tuple(mount for mount, _ in mounts),
        volumes=tuple(volume for _, volume in mounts),
    )


def _env_doubts(env: Mapping[str, object]) -> Iterator[Wrong]:
    """What variables may contain, but probably should not."""
    for variable, value in env.items():
        if isinstance(value, str) and is_secret(variable, value):
            yield Wrong(SecretInText(variable), f"item:{variable}")


def _image_doubts(image: str) -> Iterator[Wrong]:
    """Image names that do not determine what runs."""
    if untagged(image):
        yield Wrong(NoTag(image))


def _image(name: str, written: object) -> str:
    text = text_option(name, written)
    if reason := image_fault(text):
        raise Wrong(BadImage(text, reason))
    return text


def _variable(key: object) -> str:
    """The name of a variable; raises `Wrong`."""
    if not isinstance(key, str) or not is_env_name(key):
        raise Wrong(BadEnvName(str(key)), f"key:{key}")
    return key


def _env(name: str, written: object) -> tuple[tuple[str, str | Config], ...]:

    def entry(key: Any, value: Any) -> tuple[str, str | Config]:
        variable = _variable(key)
        if type(value) is Config:
            return variable, volumes.one_key(f"{name}[{key!r}]", value, f"item:{key}")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            finding = OptionType(f"{name}[{key!r}]", "a string or a number", said(value))
            raise Wrong(finding, f"item:{key}")
        if "{{" in str(value):
            finding = OptionType(f"{name}[{key!r}]", "a string without `{{`", said(value))
            raise Wrong(finding, f"item:{key}")
        return variable, str(value)

    return tuple(entries(name, written, "a dict of strings", entry))


def _secrets(name: str, written: object) -> tuple[tuple[str, Secret], ...]:

    def entry(key: Any, value: Any) -> tuple[str, Secret]:
        variable = _variable(key)
        if not isinstance(value, Secret):
            finding = OptionType(f"{name}[{key!r}]", "Secret(name, key)", type(value).__name__)
            raise Wrong(finding, f"item:{key}")
        return variable, volumes.one_key(f"{name}[{key!r}]", value, f"item:{key}")

    return tuple(entries(name, written, "a dict of Secret(name, key)", entry))


def _workdir(name: str, written: object) -> str:
    text = text_option(name, written)
    if not text.startswith("/"):
        raise Wrong(OptionType(name, "a path that begins with `/`", said(written)))
    return text


def checkpoints(name: str, written: object) -> tuple[Volume, str]:
    """The volume and the folder on it that checkpoints go to; raises `Wrong`."""
    found = volumes.folder(name, written)
    if found is None:
        raise Wrong(OptionType(name, "a folder on a Volume", said(written)))
    if found[0].read_only:
        raise Wrong(OptionType(name, "a volume that can be written to", f"{found[0]!r}.ro"))
    return found


READERS: dict[str, Reader] = {
    "image": _image,
    "env": _env,
    "secrets": _secrets,
    **volumes.READERS,
    "checkpoints": checkpoints,
    "workdir": _workdir,
    "image_pull_policy": partial(one_of, words=PULL_POLICIES),
}
DOUBTS: dict[str, Doubter] = {"env": _env_doubts, "image": _image_doubts}
