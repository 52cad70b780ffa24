"""Converts the pod of a template: variables, volumes, and further containers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.fields import has_tags, resources
from flowdsl.compiler.importing.file_head import is_scratch
from flowdsl.compiler.importing.layout import call, listed, literal, mapped, quoted
from flowdsl.compiler.importing.reading import Scope
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.kinds import CONTAINER_BODIES
from flowdsl.compiler.options.volumes import unmountable
from flowdsl.compiler.tree import entries, inside, is_mapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.file_head import Shelf
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Json, Render
    from flowdsl.compiler.tree import Path


def environment(body: Json, options: dict[str, Code], scope: Scope, path: Path) -> dict[str, Render]:
    """Convert the variables of a container to options, and remove them; returns those with values of the run."""
    values: dict[str, Code] = {}
    secrets: dict[str, Code] = {}
    inputs: dict[str, Render] = {}
    left: list[Json] = []
    for index, one in enumerate(_taken(body, "env")):
        name, origin = str(one.get("name")), inside(one, "valueFrom")
        expanded = "$(" in str(one.get("value")) or "$$" in str(one.get("value"))  # by the kubelet
        if "value" in one and not origin and not expanded:
            if not scope.sayable(str(one["value"])):
                left.append(one)
            elif has_tags(one["value"]):
                value = value_of(one["value"], scope, (*path, "env", index, "value"))
                inputs[name] = value.code
            else:
                values[name] = quoted(str(one["value"]))
        elif _names(origin, "secretKeyRef"):
            secrets[name] = _object("Secret", origin["secretKeyRef"])
        elif _names(origin, "configMapKeyRef"):
            values[name] = _object("Config", origin["configMapKeyRef"])
        else:
            left.append(one)
    if values:
        options["env"] = mapped(values)
    if secrets:
        options["secrets"] = mapped(secrets)
    if left:
        body["env"] = left
    return inputs


def _taken(body: Json, field: str) -> list[Json]:
    """The entries of a field, which is removed."""
    found = entries(body, field)
    body.pop(field, None)
    return found


def _names(origin: Any, field: str) -> bool:
    found = origin.get(field) if is_mapping(origin) and len(origin) == 1 else None
    return is_mapping(found) and found.keys() == {"name", "key"} and not has_tags(found)


def _object(word: str, reference: Json) -> Code:
    return call(word, quoted(reference["name"]), quoted(reference["key"]))


class Volumes:
    """The volumes of a pod: those that options mount, and those that Argo mounts, which refers to them by name."""

    def __init__(self, template: Json, shelf: Shelf) -> None:
        self._shelf = shelf
        self._own = {str(one.get("name")): one for one in entries(template, "volumes")}
        self._said: set[str] = set()
        self._named: set[str] = set()
        bodies = [inside(template, kind) for kind in CONTAINER_BODIES]
        group = inside(template, "containerSet")
        found = _mounted([group, *entries(group, "containers")])
        while True:
            self._named |= found
            found = {str(one["name"]) for one in _mounts(bodies) if self._code(one) is None}
            for field in ("initContainers", "sidecars"):
                beside = entries(template, field)
                if not all(map(self.companion, beside)):
                    found |= _mounted(beside)
            if found <= self._named:
                break

    def companion(self, container: Json) -> bool:
        """Whether all of a sidecar or init container can be expressed."""
        return _plain(container) and None not in map(self._code, _mounts([container]))

    def mounts(self, body: Json, options: dict[str, Code]) -> None:
        """Convert the mounts of a container to an option, and remove them, as far as they can be expressed."""
        said: dict[str, Code] = {}
        left: list[Json] = []
        for mount in _taken(body, "volumeMounts"):
            name, code = str(mount["name"]), self._code(mount)
            if code is None or mount["mountPath"] in said:
                left.append(mount)
                continue
            word = self._shelf.volume(name, code)
            if mount.get("readOnly"):
                word = f"{word}.ro"
            if mount.get("subPath"):
                word = f"{word} / {quoted(mount['subPath'])}"
            said[mount["mountPath"]] = word
            self._said.add(name)
        if said:
            options["mounts"] = mapped(said)
        if left:
            body["volumeMounts"] = left
            self._named |= _mounted([body])

    def left(self) -> list[Json]:
        """The template's volumes that Argo mounts by name; called after all containers are read."""
        self._shelf.left |= self._named
        return [one for name, one in self._own.items() if name in self._named or name not in self._said]

    def _code(self, mount: Json) -> Code | None:
        """The volume of a mount, if both can be expressed.

        An empty directory can only if all its mounts can: otherwise these would refer to two directories.
        """
        if not mount.keys() <= {"name", "mountPath", "subPath", "readOnly"} or has_tags(mount):
            return None
        name = str(mount["name"])
        code = self._shelf.word(name, self._own.get(name))
        if code is None or unmountable(str(mount.get("mountPath", "")), is_scratch(code)):
            return None
        return None if name in self._named and is_scratch(code) else code


def _mounts(containers: Sequence[Json]) -> list[Json]:
    return [mount for one in containers for mount in entries(one, "volumeMounts")]


def _mounted(containers: Sequence[Json]) -> set[str]:
    """The names of the volumes that containers mount."""
    return {str(mount["name"]) for mount in _mounts(containers)}


def companions(
    template: Json, field: str, word: str, option: str, options: dict[str, Code], volumes: Volumes
) -> None:
    """Convert the sidecars or init containers of a template to an option, if all of them can be expressed."""
    beside = entries(template, field)
    if beside and all(map(volumes.companion, beside)):
        options[option] = listed(_companion(dict(one), word, volumes) for one in beside)
        del template[field]


def _plain(container: Json) -> bool:
    """Whether a sidecar or init container can be expressed, apart from its mounts."""
    rest = dict(container)
    options = _settings(rest)
    known = {"name", "image", "command", "args", "volumeMounts", "mirrorVolumeMounts"}
    whole = rest.keys() <= known and not has_tags(container) and "gpu" not in options
    return bool(whole and container.get("image") and _line(container))


def _line(container: Json) -> list[str]:
    return [*(container.get("command") or ()), *(container.get("args") or ())]


def _settings(container: Json) -> dict[str, Code]:
    """The variables and resources of a container as options; they are removed from it."""
    options: dict[str, Code] = {}
    environment(container, options, Scope(), ())
    asked = container.pop("resources", None)
    if is_mapping(asked):
        left = {key: dict(one) for key, one in asked.items() if is_mapping(one)}
        resources(left, options)
        if left:
            container["resources"] = left
    return options


def _companion(container: Json, word: str, volumes: Volumes) -> Code:
    options = {"command": literal(_line(container)), **_settings(container)}
    volumes.mounts(container, options)
    if container.get("mirrorVolumeMounts"):
        options["mirror"] = "True"
    return call(word, quoted(container["name"]), image=quoted(container["image"]), **options)
