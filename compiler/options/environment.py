"""What a container finds: its image, variables and volumes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from flowdsl.compiler import mistakes
from flowdsl.compiler.body_findings import NoTag, is_secret, untagged
from flowdsl.compiler.ir import Environment, Mount
from flowdsl.compiler.options.reading import Wrong, entries, said, text_option
from flowdsl.grammar.names import is_dns_subdomain, is_env_name
from flowdsl.trace import TOKEN
from flowdsl.value import is_value
from flowdsl.volume import Secret, Volume, VolumePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flowdsl.compiler.options.reading import Reader


def settled(found: Mapping[str, Any]) -> Environment:
    """The environment that the options of a step come to."""
    mounts: tuple[tuple[Mount, Volume], ...] = found.get("mounts", ())
    return Environment(
        found.get("image"),
        (*found.get("env", ()), *found.get("secrets", ())),
        tuple(mount for mount, _ in mounts),
        tuple(volume for _, volume in mounts),
    )


def env_doubts(env: Mapping[str, object]) -> Iterator[Wrong]:
    """What variables may hold, and probably should not."""
    for variable, value in env.items():
        if isinstance(value, str) and is_secret(variable, value):
            yield Wrong(mistakes.SecretInText(variable), f"item:{variable}")


def image_doubts(image: str) -> Iterator[Wrong]:
    """What an image is called, where nobody knows what runs."""
    if untagged(image):
        yield Wrong(NoTag(image))


def _image(name: str, written: object) -> str:
    text = text_option(name, written)
    if any(character.isspace() for character in text):
        raise Wrong(mistakes.OptionType(name, "the name of an image without blanks", said(written)))
    return text


def _env(name: str, written: object) -> tuple[tuple[str, str], ...]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if not isinstance(key, str) or not is_env_name(key):
            raise Wrong(mistakes.BadEnvName(str(key)), f"key:{key}")
        if is_value(value) or (isinstance(value, str) and TOKEN.search(value)):
            raise Wrong(mistakes.RunTimeOption(f"{name}[{key!r}]"), f"item:{key}")
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            finding = mistakes.OptionType(f"{name}[{key!r}]", "a text or a number", said(value))
            raise Wrong(finding, f"item:{key}")
        if "{{" in str(value):
            finding = mistakes.OptionType(f"{name}[{key!r}]", "a text without `{{`", said(value))
            raise Wrong(finding, f"item:{key}")
        return key, str(value)

    return tuple(entries(name, written, "a dict of texts", entry))


def _secrets(name: str, written: object) -> tuple[tuple[str, Secret], ...]:

    def entry(key: Any, value: Any) -> tuple[str, Secret]:
        if not isinstance(key, str) or not is_env_name(key):
            raise Wrong(mistakes.BadEnvName(str(key)), f"key:{key}")
        if not isinstance(value, Secret):
            finding = mistakes.OptionType(f"{name}[{key!r}]", "Secret(name, key)", type(value).__name__)
            raise Wrong(finding, f"item:{key}")
        if not is_dns_subdomain(str(value.name)):
            raise Wrong(mistakes.BadObjectName(repr(value.name), "a Secret"), f"item:{key}")
        if not re.fullmatch(r"[-._a-zA-Z0-9]+", str(value.key)):
            raise Wrong(mistakes.BadObjectName(repr(value.key), "a key of a Secret"), f"item:{key}")
        return key, value

    return tuple(entries(name, written, "a dict of Secret(name, key)", entry))


def _unmountable(path: object) -> str:
    """Why nothing can be mounted at a path, or nothing."""
    if not isinstance(path, str) or not path.startswith("/"):
        return "must begin with `/`"
    if ":" in path or "/../" in f"{path}/":
        return "must hold neither `:` nor `..`"
    if not path.strip("/"):
        return "would hide the files of the image"
    return "flowdsl keeps inputs and outputs there" if f"{path}/".startswith("/flowdsl/") else ""


def _mounts(name: str, written: object) -> tuple[tuple[Mount, Volume], ...]:
    taken: dict[str, str] = {}

    def entry(path: Any, what: Any) -> tuple[Mount, Volume]:
        reason = _unmountable(path)
        if not reason and (other := taken.setdefault(path.rstrip("/"), path)) is not path:
            reason = f"`{other}` is the same place"
        if reason:
            raise Wrong(mistakes.BadMountPath(str(path), reason), f"key:{path}")
        if isinstance(what, Volume):
            return Mount(what.name, path, None, what.read_only), what
        if type(what) is VolumePath:
            volume = what.volume
            if is_value(what.text) or "{{" in what.text:
                raise Wrong(mistakes.RunTimeOption(f"{name}[{path!r}]"), f"item:{path}")
            folder = what.text.strip("/")
            if ".." in folder.split("/"):
                raise Wrong(mistakes.OutsideVolume(what.text, str(volume.name)), f"item:{path}")
            return Mount(volume.name, path, folder, volume.read_only), volume
        finding = mistakes.OptionType(f"{name}[{path!r}]", "a Volume", type(what).__name__)
        raise Wrong(finding, f"item:{path}")

    return tuple(entries(name, written, "a dict of paths to volumes", entry))


READERS: dict[str, Reader] = {"image": _image, "env": _env, "secrets": _secrets, "mounts": _mounts}
