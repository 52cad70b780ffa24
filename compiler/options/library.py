"""Where a template of the cluster is, and how it calls what it takes and gives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.options import OptionType
from flowdsl.compiler.findings.surroundings import BadObjectName
from flowdsl.compiler.options.reading import Wrong, entries, flag, said, text_option
from flowdsl.grammar.names import is_argo_name, is_dns_subdomain, is_parameter_name

if TYPE_CHECKING:
    from flowdsl.compiler.options.reading import Reader


def _library(name: str, written: object) -> str:
    text = text_option(name, written)
    if not is_dns_subdomain(text):
        raise Wrong(BadObjectName(repr(text), "a WorkflowTemplate"))
    return text


def _template(name: str, written: object) -> str:
    text = text_option(name, written)
    if not is_argo_name(text):
        raise Wrong(OptionType(name, "a name of letters, digits and `-`", said(text)))
    return text


def _names(name: str, written: object) -> dict[str, str]:

    def entry(key: Any, value: Any) -> tuple[str, str]:
        if not isinstance(key, str) or not isinstance(value, str) or not is_parameter_name(value):
            want = "a name of letters, digits, `-` and `_`"
            raise Wrong(OptionType(f"{name}[{key!r}]", want, said(value)), f"item:{key}")
        return key, value

    return dict(entries(name, written, "a dict of names", entry))


READERS: dict[str, Reader] = {
    "library": _library,
    "template": _template,
    "cluster": flag,
    "names": _names,
}
