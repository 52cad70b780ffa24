"""Converts templates that run something to steps."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, ClassVar

from flowdsl.compiler.findings.importing import Otherwise
from flowdsl.compiler.importing.commands import changed, paths
from flowdsl.compiler.importing.fields import TEMPLATE, say
from flowdsl.compiler.importing.layout import (
    call,
    flat,
    function,
    laid,
    literal,
    mapped,
    quoted,
)
from flowdsl.compiler.importing.model import Value, ports
from flowdsl.compiler.importing.names import Names
from flowdsl.compiler.importing.pods import Volumes, companions
from flowdsl.compiler.importing.ports import Port, as_text
from flowdsl.compiler.importing.reading import Scope
from flowdsl.compiler.kinds import BODIES, LOCATIONS
from flowdsl.compiler.options import KINDS
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.devices import VENDORS
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.importing.fields import Row
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Entry, Function, Json, Render
    from flowdsl.compiler.importing.reading import Reading
    from flowdsl.compiler.tree import Path

#: Fields of a template that the function itself expresses.
_OWN = frozenset(("name", "inputs", "outputs", "daemon", *BODIES))
#: Fields of inputs and outputs that the function expresses, by the field that contains them.
_SAID = {
    "parameters": ("name", "value", "default", "valueFrom"),
    "artifacts": ("name", "path", "optional", "from", "fromExpression", *LOCATIONS),
}
_READ = ("path", "jsonPath", "jqFilter", "supplied", "parameter", "expression")
#: A value in which `$` is doubled for the kubelet; flowdsl does that itself.
_KUBELET = regex(r"\{\{=replace\(inputs\.parameters(?:\['([^']+)'\]|\.(\w+)), '\$', '\$\$'\)\}\}")


class Leaf(Scope):
    """A template that becomes a step; it is also the scope of its tags."""

    word: ClassVar[str] = "container"

    def __init__(self, reader: Reading, target: Function) -> None:
        super().__init__(reader)
        self.reader = reader
        self.target = target
        self.template: Json = copy.deepcopy(target.template)
        self.kind = str(target.body)
        self.body: Json = self.template.pop(self.kind) or {}
        self.path: Path = (*target.path, self.kind)
        self.paths = paths(target)
        self.volumes = Volumes(target.template, reader.shelf)
        self.leading: list[Code] = []
        self.options: dict[str, Code] = {}
        self.patch: Json = {}
        self.lines: list[Render] = []
        target.written = self._written

    def read(self) -> None:
        """Read all of the template."""
        self.read_body()
        self._around()

    def is_sayable(self) -> bool:
        """Whether its body can be expressed."""
        return True

    def read_body(self) -> None:
        """Read what it runs."""
        raise NotImplementedError

    # --- the values of its tags -----------------------------------------------------------------

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path."""
        match name:
            case ("inputs", "parameters", of):
                found = self.target.inputs.get(("parameters", of))
            case ("workflow", "parameters", of):
                found = self.target.inputs.get(("workflow", of))
            case ("workflow", ("name" | "namespace") as of):
                return Value(lambda: f"run.{of}", Port(unknown=True, text=True))
            case ("workflow", of):
                found = self.target.inputs.get(("workflow", f".{of}"))
            case _:
                found = None
        if found is None or found.port is None:
            return None
        return Value(lambda: found.name, found.port)

    def placed(self, value: Any) -> Any:
        """A value with the paths of files in place of the tags that refer to them."""

        def change(text: str) -> str:
            text = _KUBELET.sub(lambda found: f"{{{{inputs.parameters.{found[1] or found[2]}}}}}", text)
            for tag, path in self.paths.items():
                text = text.replace(f"{{{{{tag}}}}}", path).replace(f"{{{{ {tag} }}}}", path)
            return text

        return changed(value, change)

    # --- what surrounds its body ----------------------------------------------------------------

    def left(self, field: str) -> None:
        """Leave to Argo what could not be expressed in the body."""
        if self.body:
            self.patch[field] = self.reader.raw(self.body, self.target, told=True)

    def say(self, rows: Sequence[Row]) -> None:
        """Convert those fields of the body to options that rows exist for."""
        say(rows, self.body, self.options)

    def _around(self) -> None:
        """Read the fields that all templates have, and leave the others to Argo."""
        template, known = self.template, KINDS[self.word]
        if "sidecars" in known:
            companions(template, "initContainers", "InitContainer", "init", self.options, self.volumes)
            companions(template, "sidecars", "Sidecar", "sidecars", self.options, self.volumes)
        template.pop("volumes", None)
        if volumes := self.volumes.left():
            template["volumes"] = volumes
        lasting = {"retries"} if template.get("daemon") else set[str]()  # another pod has another address
        say(
            [row for row in TEMPLATE if row.option in known and row.option not in lasting],
            template,
            self.options,
        )
        if "gpu" in self.options:
            self._tolerated()
        left = {key: one for key, one in template.items() if key not in _OWN and (key != "metadata" or one)}
        self.patch = {**self.reader.raw(left, self.target, told=True), **self._ports(), **self.patch}

    def _tolerated(self) -> None:
        """Remove the toleration of the usual taint, which a GPU option adds."""
        limits = inside(self.target.template, self.kind, "resources", "limits")
        device = next(name for name in VENDORS.values() if name in limits)
        given = entries(self.target.template, "tolerations")
        usual = {"key": device, "operator": "Exists", "effect": "NoSchedule"}
        rest = [one for one in given if one != usual]
        if len(rest) < len(given):
            self.options.pop("tolerations", None)
            if rest:
                say(
                    [row for row in TEMPLATE if row.option == "tolerations"],
                    {"tolerations": rest},
                    self.options,
                )
            return
        what = f"a step with a GPU tolerates the taint `{device}` of such nodes, too"
        way = "to remove it: `argo={...}` with the tolerations as they are to be"
        self.reader.add((*self.path, "resources"), Otherwise(what, way))

    def _ports(self) -> Json:
        """The fields of inputs and outputs that a function does not express."""
        found: Json = {}
        for one in ports(self.template, "inputs"):
            kept = {**one.said} if one.key in self.target.lookups else self._rest(one)
            if one.key in self.target.inputs:
                kept.pop("description", None)
            name = self.target.inputs[one.key].name if one.key in self.target.inputs else one.name
            if kept:
                found.setdefault("inputs", {}).setdefault(one.kind, []).append({"name": name, **kept})
        plain: dict[str, Code] = {}
        for one in ports(self.template, "outputs"):
            left = one.key in self.target.left
            kept = one.said if left else self._rest(one, output=True)
            if not left and kept.get("archive") == {"none": {}} and "archive" in KINDS[self.word]:
                plain[self.target.named(one.key)] = quoted("none")
                del kept["archive"]
            if kept and (left or one.key in self.target.outputs):
                rest = {key: item for key, item in kept.items() if key != "name"}
                given = {"name": one.name if left else self.target.named(one.key), **rest}
                found.setdefault("outputs", {}).setdefault(one.kind, []).append(given)
        if plain:
            files = [key for key in self.target.outputs if key[0] == "artifacts"]
            self.options["archive"] = mapped(plain) if len(plain) < len(files) else quoted("none")
        named: Json = self.reader.raw(found, self.target)
        return named

    def _rest(self, one: Entry, *, output: bool = False) -> Json:
        """Those fields of one of them."""
        if self.kind == "suspend" and one.kind == "parameters":
            if output:
                self._unanswered(one)
            return {}
        found = {key: item for key, item in one.said.items() if key not in _SAID[one.kind]}
        origin = {key: item for key, item in inside(one.said, "valueFrom").items() if key not in _READ}
        if origin and output:
            found["valueFrom"] = origin
        if output and one.kind == "artifacts":
            found |= {where: one.said[where] for where in LOCATIONS if where in one.said}
        return found

    def _unanswered(self, one: Entry) -> None:
        """Report a default of a suspended step's output, which an output that nobody supplies loses.

        Source: Argo Workflows, addRawOutputFields in workflow/controller/operator.go.
        """
        values = [inside(one.said, "valueFrom").get("default")]
        values += [each.said.get("default") for each in ports(self.template, "inputs") if each.key == one.key]
        default = next((as_text(each) for each in values if each is not None), "")
        if default:
            what = f"`{one.name}` of `{self.target.name}` has no default; in the manifest it has `{default}`"
            way = "say it at `flowdsl resume`, or let the step return a NamedTuple or dataclass with that default"
            self.reader.add((*self.target.path, *one.path), Otherwise(what, way))

    # --- Python ---------------------------------------------------------------------------------

    def local(self, wish: str, other: str) -> str:
        """A name for a local variable that does not shadow a parameter of the function."""
        return Names(one.name for one in self.target.inputs.values()).free(wish, other)

    def _written(self) -> list[str]:
        """The step as text."""
        target = self.target
        owner = str(target.template.get("name"))
        argo = literal(self.reader.shelf.with_texts(self.patch, owner)) if self.patch else None
        decorator = call(self.word, *self.leading, **self.options, argo=argo)
        lines = [flat(one()) for one in self.lines]
        return [laid("@", decorator), function(target.name, target.parameters, target.returns), *lines]
