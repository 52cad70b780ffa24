"""Converts templates without a container to steps: objects of the cluster, HTTP requests, gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from flowdsl.compiler.importing.commands import read_at
from flowdsl.compiler.importing.containers import Container, Foreign
from flowdsl.compiler.importing.fields import GATE, REQUEST, RESOURCE, say
from flowdsl.compiler.importing.layout import block, call, laid, literal, mapped, quoted
from flowdsl.compiler.importing.leaves import Leaf
from flowdsl.compiler.importing.model import ports
from flowdsl.compiler.importing.tagged import pieces, unsaid, value_of
from flowdsl.compiler.importing.texts import constant, formatted
from flowdsl.compiler.tree import entries, inside
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Function, Render
    from flowdsl.compiler.importing.reading import Reading


#: The line of a manifest that holds its kind.
_KIND = regex(r"(?m)^ *kind *:")


class Resource(Leaf):
    """An action on an object of the cluster: a `resource` template."""

    word: ClassVar[str] = "resource"

    def is_sayable(self) -> bool:
        """Whether it can be expressed: not with flags that name the object, or with some values in its text.

        Outputs have no alternative, so that what is wrong with them is reported later.
        """
        text = str(self.body.get("manifest") or "")
        named = not self.body.get("flags") or "manifestFrom" in self.body or _KIND.search(text)
        return bool(named and unsaid(text, self) is None) or any(inside(self.template, "outputs").values())

    def read_body(self) -> None:
        """Read the manifest and the conditions that are awaited."""
        self.leading.append(quoted(str(self.body.pop("action", ""))))
        self.say(RESOURCE)
        if self.body.get("setOwnerReference") is False:
            del self.body["setOwnerReference"]
        origin, text = self.body.pop("manifestFrom", None), self.body.pop("manifest", "")
        if origin is not None:
            file = self.target.inputs.get(("artifacts", str(inside(origin, "artifact").get("name"))))
            self.lines.append(lambda: self._manifest("" if file is None else file.name))
        else:
            parts = pieces(self.placed(str(text)).rstrip("\n"), self, (*self.path, "manifest"))
            name = self.local("body", "text")
            self.lines.append(
                lambda: f"    {name} = {formatted(parts, lambda inner, prefix: block(inner, '    ', prefix))}"
            )
            self.lines.append(lambda: self._manifest(name))
        self.left("resource")

    def _manifest(self, given: str) -> Code:
        """The manifest as code, which also determines where results are read."""
        results = {
            self.target.outputs[one.key].name: read_at(inside(one.said, "valueFrom"))
            for one in ports(self.template, "outputs")
            if one.key in self.target.outputs
        }
        single = [quoted(one) for one in results.values()] if len(results) == 1 else []
        named = literal(results) if len(results) > 1 else None
        return laid("", call("manifest", given, *single, outputs=named), "", "    ")


class Request(Leaf):
    """An `http` template."""

    word: ClassVar[str] = "http"

    def read_body(self) -> None:
        """Read the request and the condition on the response."""
        method = quoted(str(self.body.pop("method", "GET")))
        url = value_of(str(self.body.pop("url", "")), self, (*self.path, "url")).code
        headers = self._headers()
        sent = self.body.pop("body", None)
        data = None if sent is None else value_of(str(sent), self, (*self.path, "body")).code
        words: dict[str, Code] = {}
        say(REQUEST, self.body, words)
        self.left("http")

        def line() -> str:
            given = mapped({name: one() for name, one in headers.items()}) if headers else None
            body = None if data is None else data()
            return laid("", call("request", method, url(), body=body, **words, headers=given), "", "    ")

        self.lines.append(line)

    def _headers(self) -> dict[str, Render]:
        found: dict[str, Render] = {}
        for index, header in enumerate(entries(self.body, "headers")):
            secret = inside(header, "valueFrom", "secretKeyRef")
            if "value" in header:
                at = (*self.path, "headers", index, "value")
                found[str(header["name"])] = value_of(str(header["value"]), self, at).code
            elif secret:
                of = call("Secret", quoted(str(secret.get("name"))), quoted(str(secret.get("key"))))
                found[str(header["name"])] = constant(of)
        self.body.pop("headers", None)
        return found


class Gate(Leaf):
    """A `suspend` template."""

    word: ClassVar[str] = "approve"

    def read_body(self) -> None:
        """Read the duration and the text for the approver."""
        self.say(GATE)
        self.left("suspend")
        taken = entries(self.template, "inputs", "parameters")
        told = next((str(one["description"]) for one in taken if one.get("description")), "")
        if told:
            self.lines.append(constant(f'    """{told.strip()}"""'))
        self.lines.append(constant("    raise NotImplementedError"))


_KINDS: dict[str, type[Leaf]] = {
    "container": Container,
    "script": Container,
    "resource": Resource,
    "http": Request,
    "suspend": Gate,
}


def leaf(reader: Reading, target: Function) -> Leaf:
    """The reader of a template that runs something, by its type."""
    made = _KINDS.get(str(target.body), Foreign)(reader, target)
    asked = target.body in ("resource", "script")
    return Foreign(reader, target) if asked and not made.is_sayable() else made
