"""What the pod of a template has: variables, volumes, and containers beside its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.fields import has_tags, resources
from flowdsl.compiler.importing.layout import call, listed, literal, mapped, quoted
from flowdsl.compiler.importing.reading import Scope
from flowdsl.compiler.importing.texts import value_of
from flowdsl.compiler.tree import entries, inside, is_mapping

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Json, Render
    from flowdsl.compiler.importing.shelf import Shelf
    from flowdsl.compiler.tree import Path


def environment(body: Json, options: dict[str, Code], scope: Scope, path: Path) -> dict[str, Render]:
    """Say the variables of a container as options, and take them out; those with values of the run are returned."""
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
    """The entries of a field, which is taken out."""
    found = entries(body, field)
    body.pop(field, None)
    return found


def _names(origin: Any, field: str) -> bool:
    found = origin.get(field) if is_mapping(origin) and len(origin) == 1 else None
    return is_mapping(found) and found.keys() == {"name", "key"} and not has_tags(found)


def _object(word: str, reference: Json) -> Code:
    return call(word, quoted(reference["name"]), quoted(reference["key"]))


def mounts(body: Json, template: Json, options: dict[str, Code], shelf: Shelf) -> None:
    """Say the mounts of a container as an option, and take them out of it, as far as there are words."""
    own = {str(one.get("name")): one for one in entries(template, "volumes")}
    said: dict[str, Code] = {}
    left: list[Json] = []
    scratch: set[str] = set()
    for mount in _taken(body, "volumeMounts"):
        name = str(mount.get("name"))
        known = mount.keys() <= {"name", "mountPath", "subPath", "readOnly"} and not has_tags(mount)
        code = shelf.volume(name, own.get(name)) if known and mount["mountPath"] not in said else None
        if code is None:
            left.append(mount)
            shelf.left.add(name)
            continue
        if mount.get("readOnly"):
            code = f"{code}.ro"
        if mount.get("subPath"):
            code = f"{code} / {quoted(mount['subPath'])}"
        said[mount["mountPath"]] = code
        scratch.add(name)
    if said:
        options["mounts"] = mapped(said)
    if left:
        body["volumeMounts"] = left
    needed = {str(one.get("name")) for one in left}
    kept = [one for name, one in own.items() if name in needed or name not in scratch]
    if kept:
        template["volumes"] = kept
    else:
        template.pop("volumes", None)


def companions(
    template: Json, field: str, word: str, option: str, options: dict[str, Code], shelf: Shelf
) -> None:
    """Say the containers beside that of a template as an option, where all of them can be said."""
    own = {str(one.get("name")): one for one in entries(template, "volumes")}
    said = [_companion(dict(one), word, own, shelf) for one in entries(template, field)]
    if said and None not in said:
        options[option] = listed(one for one in said if one is not None)
        del template[field]


def _companion(container: Json, word: str, own: Json, shelf: Shelf) -> Code | None:
    if has_tags(container) or not container.get("image"):
        return None
    options: dict[str, Code] = {}
    name, image = container.pop("name"), container.pop("image")
    line = [*(container.pop("command", None) or ()), *(container.pop("args", None) or ())]
    if not line:
        return None
    options["command"] = literal(line)
    found = environment(container, options, Scope(), ())
    asked = container.get("resources")
    if is_mapping(asked):
        container["resources"] = {key: dict(one) for key, one in asked.items() if is_mapping(one)}
        resources(container["resources"], options)
        if not container["resources"]:
            del container["resources"]
    mounts(container, {"volumes": list(own.values())}, options, shelf)
    if container.pop("mirrorVolumeMounts", False):
        options["mirror"] = "True"
    if container or found or "gpu" in options:
        return None
    return call(word, quoted(name), image=quoted(image), **options)
