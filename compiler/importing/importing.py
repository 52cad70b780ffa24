"""The whole import: from the documents of a file to the text of a pipeline."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import DoesNotCompile, LeftOut, OtherName, Otherwise
from flowdsl.compiler.importing.beginning import read_document
from flowdsl.compiler.importing.document import Reader
from flowdsl.compiler.importing.file_head import Shelf
from flowdsl.compiler.importing.library import Library
from flowdsl.compiler.importing.older_versions import renew
from flowdsl.compiler.importing.ports import all_texts
from flowdsl.compiler.importing.type_facts import Types
from flowdsl.compiler.importing.writing import written
from flowdsl.compiler.kinds import PROGRAM_BODIES
from flowdsl.compiler.manifests import is_argo
from flowdsl.compiler.tree import entries, is_mapping
from flowdsl.diagnostic import Diagnostic, any_error
from flowdsl.grammar.named import NamedTuple
from flowdsl.grammar.template import references

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flowdsl.compiler.importing.model import Function, Slot
    from flowdsl.compiler.importing.ports import Port
    from flowdsl.compiler.tree import Path
    from flowdsl.compiler.yaml.documents import Document


class Imported(NamedTuple):
    """The text of a pipeline, the diagnostics, and the origins of its functions by line."""

    text: str
    diagnostics: list[Diagnostic]
    places: list[tuple[int, Document, Path]]

    def refused(self, line: int, finding: DoesNotCompile) -> Diagnostic | None:
        """The compiler's finding at a line of the text, placed at the origin of that line."""
        found = [one for one in self.places if one[0] <= line]
        if not found:
            return None
        _, document, path = found[-1]
        return Diagnostic(finding, document.span(path))


def imported(documents: Sequence[Document]) -> Imported:
    """Documents as pipelines in Python; if there is an error among the diagnostics, the text is not valid."""
    found: list[Diagnostic] = []
    manifests: list[Document] = []
    for document in documents:
        if not is_argo(document.body):
            kind = str(document.body.get("kind") or "document") if is_mapping(document.body) else "document"
            found.append(Diagnostic(LeftOut(kind), document.span(("kind",))))
            continue
        renew(document.body)
        manifests.append(document)
    shelf = Shelf(Types())
    readers = _read(manifests, shelf)
    while (better := shelf.types.settle()) is not None:
        shelf = Shelf(better)
        readers = _read(manifests, shelf)
    for document, reader in readers:
        found += (Diagnostic(one.finding, document.place(one)) for one in reader.problems.values())
    if any_error(found) or not readers:
        return Imported("", found, [])
    text, begun = written([reader for _, reader in readers], shelf)
    origins = {id(reader): document for document, reader in readers}
    places = [(line, origins[id(reader)], of.path or reader.path) for line, reader, of in begun]
    return Imported(text, found, places)


def _read(documents: Sequence[Document], shelf: Shelf) -> list[tuple[Document, Reader]]:
    """Read all documents; calls between them are resolved."""
    readers = [(document, Reader(document.body, shelf)) for document in documents]
    beside = {
        (str(reader.metadata.get("name")), reader.kind.startswith("Cluster")): reader
        for _, reader in readers
        if reader.kind.endswith("Template")
    }
    for _, reader in readers:
        reader.beside = beside
        read_document(reader)
        _named(reader)
    for _, reader in readers:
        _whole(reader)
        _by_names(reader)
        _dollars(reader)
        _lists(reader)
    return readers


def _whole(reader: Reader) -> None:
    """Refuse to pass on objects of which only the requested fields are known."""
    for one in reader.order:
        step = one.body is not None or isinstance(one, Library)
        for slot in one.inputs.values() if step else ():
            record = None if slot.port is None else slot.port.root.record
            if record is not None and not record.whole:
                what = f"`{slot.name}` of `{one.name}`, an object as a whole of which fields are taken, too,"
                reader.refuse(one.path or reader.path, what, "pass its fields on, each by its name")


def _by_names(reader: Reader) -> None:
    """Refuse to rename, or to add, inputs that a program reads by name in `{{inputs.parameters}}`."""
    for one in reader.order:
        found = references(json.dumps(one.template.get(one.body or "")))
        if all(each.path != ("inputs", "parameters") for each in found):
            continue
        declared = [each["name"] for each in entries(one.template, "inputs", "parameters")]
        if declared != [slot.name for slot in one.inputs.values() if slot.port is not None]:
            what = (
                f"the JSON `{{{{inputs.parameters}}}}` in `{one.name}`, which has other names in a pipeline,"
            )
            reader.refuse(one.path, what, "pass each of them separately, with names such as `learning_rate`")


def _dollars(reader: Reader) -> None:
    """Report values in which the kubelet turns `$$` into `$`; a pipeline passes them on unchanged.

    Source: Kubernetes, third_party/forked/golang/expansion.
    """
    for one, slot, port in _read_by_programs(reader):
        found = next((text for text in port.root.constants if "$$" in text), None)
        if found is not None:
            what = f"`{slot.name}` of `{one.name}` is `{found}`; in the manifest it is `{found.replace('$$', '$')}`"
            reader.add(one.path, Otherwise(what, "write one `$` where the program is to see one"))


def _lists(reader: Reader) -> None:
    """Report lists that are numbers or bools in the manifest and that a program gets as texts."""
    for one, slot, port in _read_by_programs(reader):
        known = port.root.constants if port.kind == "list[str]" else ()
        given = next((text for text in known if not all_texts(text)), None)
        if given is not None:
            what = f"`{slot.name}` of `{one.name}` is a list of texts; in the manifest it is `{given}`"
            reader.add(one.path, Otherwise(what, "let the program make numbers of the texts"))


def _read_by_programs(reader: Reader) -> Iterator[tuple[Function, Slot, Port]]:
    """The inputs that occur in what a function runs."""
    for one in reader.order:
        body = json.dumps(one.template.get(one.body or ""))
        for key, slot in one.inputs.items() if one.body in PROGRAM_BODIES else ():
            root = "workflow.parameters" if key[0] == "workflow" else f"inputs.{key[0]}"
            if slot.port is not None and f"{{{{{root}.{key[1]}}}}}" in body:
                yield one, slot, slot.port


def _named(reader: Reader) -> None:
    """Report that a Workflow with a fixed name gets a new name for each run."""
    name = reader.metadata.get("name")
    if reader.kind == "Workflow" and isinstance(name, str):
        way = "compile it with `--as template` to have an object with a name that is fixed"
        finding = OtherName("the Workflow", name, f"{name}-...", way)
        reader.add(("metadata", "name"), finding)
