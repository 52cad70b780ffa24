"""Converts templates of the cluster to functions that declare how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.layout import call, function, laid, mapped, quoted
from flowdsl.compiler.importing.model import Function, Slot
from flowdsl.compiler.importing.names import Names, class_name, identifier, parameter
from flowdsl.compiler.importing.ports import Port

if TYPE_CHECKING:
    from flowdsl.compiler.importing.file_head import Shelf
    from flowdsl.compiler.importing.model import Json, Key


class Library(Function):
    """A template of a WorkflowTemplate: its inputs and outputs are inferred from its calls."""

    def __init__(self, reference: Json, shelf: Shelf) -> None:
        self._library, self._template = str(reference.get("name")), str(reference.get("template"))
        self._cluster = bool(reference.get("clusterScope"))
        self._shelf = shelf
        wish = self._library if self._template == "main" else self._template
        super().__init__(shelf.names.free(identifier(wish)), {}, (), written=self._written)
        self._names = Names(shadowing=True), Names(shadowing=True)

    def taken(self, key: Key) -> Slot:
        """The parameter for an input: any input exists."""
        if key not in self.inputs:
            port = Port(shown=True) if key[0] == "parameters" else None
            self.inputs[key] = Slot(self._names[0].free(parameter(key[1])), port)
        return self.inputs[key]

    def grow(self, key: Key) -> None:
        """Add an output: any output exists."""
        if key[0] in ("parameters", "artifacts"):
            port = Port(unknown=True) if key[0] == "parameters" else None
            self.outputs[key] = Slot(self._names[1].free(parameter(key[1])), port)
            if len(self.outputs) > 1 and not self.record:
                self.record = self._shelf.names.free(f"{class_name(self._template)}Outputs")

    def _written(self) -> list[str]:
        names = {one.name: key[1] for key, one in self.inputs.items() if one.name != key[1]}
        names |= {self.named(key): key[1] for key in self.outputs if self.named(key) != key[1]}
        said = call(
            "call_template",
            quoted(self._library),
            quoted(self._template),
            names=mapped({name: quoted(one) for name, one in names.items()}) if names else None,
            cluster="True" if self._cluster else None,
        )
        taken = [f"{one.name}: {one.annotation}" for one in self.inputs.values()]
        return [laid("@", said), function(self.name, taken, self.returns), "    raise NotImplementedError"]
