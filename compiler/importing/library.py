"""Templates of the cluster, as functions that say how they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.importing.layout import call, function, laid, mapped, quoted
from flowdsl.compiler.importing.model import Function, Input, Output
from flowdsl.compiler.importing.names import Names, identifier
from flowdsl.compiler.importing.ports import Port

if TYPE_CHECKING:
    from flowdsl.compiler.importing.model import Key
    from flowdsl.compiler.importing.shelf import Shelf


class Library:
    """A template of a WorkflowTemplate: what it takes and gives is read off its calls."""

    def __init__(self, key: tuple[str, str, bool], shelf: Shelf) -> None:
        self.key = key
        self.target = Function(shelf.names.free(identifier(key[1])), {}, ())
        self._names = Names()
        self._outputs = Names()

    def input_of(self, key: Key) -> Input:
        """What it takes under a name."""
        if key not in self.target.inputs:
            port = Port() if key[0] == "parameters" else None
            self.target.inputs[key] = Input(self._names.free(identifier(key[1])), port)
        return self.target.inputs[key]

    def grow(self, key: Key) -> None:
        """What it gives under a name."""
        if key[0] in ("parameters", "artifacts"):
            port = Port(unknown=True) if key[0] == "parameters" else None
            self.target.outputs[key] = Output(self._outputs.free(identifier(key[1])), port)

    def written(self) -> list[str]:
        """The function as text."""
        library, template, cluster = self.key
        outputs = self.target.outputs
        single = len(outputs) == 1
        names = {one.name: key[1] for key, one in self.target.inputs.items() if one.name != key[1]}
        names |= {
            "return" if single else one.name: key[1]
            for key, one in outputs.items()
            if single or one.name != key[1]
        }
        said = call(
            "call_template",
            quoted(library),
            quoted(template),
            names=mapped({name: quoted(one) for name, one in names.items()}) if names else None,
            cluster="True" if cluster else None,
        )
        taken = [f"{one.name}: {one.annotation}" for one in self.target.inputs.values()]
        return [
            laid("@", said),
            function(self.target.name, taken, self.target.returns),
            "    raise NotImplementedError",
        ]
