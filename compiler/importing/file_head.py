"""The head of a written file: volumes, other constants, and the names that are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.importing.fields import has_tags
from flowdsl.compiler.importing.layout import Named, call, exactly, flat, laid, quoted
from flowdsl.compiler.importing.names import Names, identifier, parameter
from flowdsl.compiler.tree import entries, inside, is_list, is_mapping

if TYPE_CHECKING:
    from collections.abc import Collection

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Json
    from flowdsl.compiler.importing.ports import Port, Record
    from flowdsl.compiler.importing.type_facts import Types


class Shelf:
    """The constants of a file, and the volumes of the document that is being read."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.names = Names()
        self.constants: dict[tuple[str, str], str] = {}  # their names by their values
        self.lines: list[str] = []
        self.records: list[Record] = []
        self._volumes: dict[str, Json] = {}
        self._claims: dict[str, Json] = {}
        self._used: set[str] = set()
        self._shared: Collection[str] = ()
        self.left: set[str] = set()  # volumes of the document that Argo mounts by name

    def begin(self, spec: Json, shared: Collection[str]) -> tuple[set[str], set[str]]:
        """Read the volumes of another document: those with a constant, and those that Argo mounts by name.

        Claims that are `shared` by pods and ReadWriteOnce get no option: they work on one node only.
        """
        self._volumes = {str(one.get("name")): one for one in entries(spec, "volumes")}
        claims = entries(spec, "volumeClaimTemplates")
        self._claims = {str(inside(one, "metadata").get("name")): one for one in claims}
        self._used, self.left, self._shared = set[str](), set[str](), shared
        return self._used, self.left

    def constant(self, wish: str, code: Code, apart: str = "") -> str:
        """The name of a constant; one that is `apart` is never shared."""
        key = flat(code), apart
        if key not in self.constants:
            self.constants[key] = self.names.free(identifier(wish).rstrip("_").upper())
            self.lines.append(laid(f"{self.constants[key]} = ", code))
        return self.constants[key]

    def value(self, wish: str, port: Port, text: str) -> Code:
        """A literal as a value of a port's type; a text of several lines becomes a constant."""
        return self.text(wish, text) if port.kind == "str" else port.value(text)

    def text(self, wish: str, text: str) -> Code:
        """A text, which becomes a constant if it has several lines."""
        return self.constant(wish, exactly(text)) if _is_long(text) else quoted(text)

    def with_texts(self, value: Any, owner: str, field: str = "") -> Any:
        """A value of JSON with constants for its texts of several lines, named after their fields."""
        if isinstance(value, str):
            wish = parameter(f"{owner}-{field}")
            return Named(self.constant(wish, exactly(value))) if _is_long(value) else value
        if is_mapping(value):
            name = str(value.get("name") or "")
            return {key: self.with_texts(one, owner, _field(key, name)) for key, one in value.items()}
        return [self.with_texts(one, owner, field) for one in value] if is_list(value) else value

    def word(self, name: str, own: Json | None) -> Code | None:
        """The expression for a volume, by its name; None if it cannot be expressed. `own` is that of the template."""
        if own is None and name in self._claims:
            return None if name in self._shared else _claim(name, self._claims[name])
        return None if has_tags(own or {}) else _volume(own or self._volumes.get(name, {}))

    def volume(self, name: str, code: Code) -> str:
        """The constant of a mounted volume."""
        self._used.add(name)
        return self.constant(name, code, name if is_scratch(code) else "")


def _field(key: str, name: str) -> str:
    """What a text is called: it belongs to the entry of a list that has the name, if there is one."""
    word = key.rpartition("/")[2]
    return word if not name else name if key == "value" else f"{name}-{word}"


def _is_long(text: str) -> bool:
    return "\n" in text.strip("\n")


def is_scratch(code: Code) -> bool:
    """Whether a volume is an empty directory, of which each mount has to refer to the same constant."""
    return flat(code).startswith("Scratch(")


_USUAL_MODES: tuple[Json, ...] = ({}, {"defaultMode": 0o644})
"""What a volume says about the modes of its files where these are the usual ones, which a cluster adds."""


def _volume(volume: Json) -> Code | None:
    kinds: Json = {key: one for key, one in volume.items() if key != "name"}
    if len(kinds) != 1 or has_tags(kinds):
        return None
    ((kind, about),) = kinds.items()
    if not is_mapping(about):
        return None
    match kind, {**about}:
        case "persistentVolumeClaim", {"claimName": str() as claim, **rest} if not rest:
            return call("Volume", quoted(claim))
        case "emptyDir", {**rest} if rest.keys() <= {"sizeLimit", "medium"}:
            size = quoted(str(rest["sizeLimit"])) if "sizeLimit" in rest else None
            memory = "True" if rest.get("medium") == "Memory" else None
            return call("Scratch", *([] if size is None else [size]), memory=memory)
        case "configMap", {"name": str() as name, **rest} if rest in _USUAL_MODES:
            return call("Config", quoted(name))
        case "secret", {"secretName": str() as name, **rest} if rest in _USUAL_MODES:
            return call("Secret", quoted(name))
        case "hostPath", {"path": str() as path, **rest} if not rest:
            return call("Host", quoted(path))
        case _:
            return None


def _claim(name: str, claim: Json) -> Code | None:
    spec: Any = inside(claim, "spec")
    modes: list[Any] = entries(spec, "accessModes")
    size = inside(spec, "resources", "requests").get("storage")
    rest = spec.keys() - {"accessModes", "resources", "storageClassName"}
    if rest or len(modes) != 1 or size is None or inside(claim, "metadata").keys() != {"name"}:
        return None
    mode = None if modes[0] == "ReadWriteOnce" else quoted(modes[0])
    stored = spec.get("storageClassName")
    return call(
        "NewVolume",
        quoted(name),
        quoted(str(size)),
        mode=mode,
        storage_class=quoted(stored) if stored else None,
    )
