"""Which texts are valid names in Kubernetes and Argo, and how to turn any text into one.

The predicates are total: they answer for every string and raise nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.grammar.digest import sha256
from flowdsl.grammar.regex import regex

if TYPE_CHECKING:
    from collections.abc import Sequence

DNS_LABEL_LENGTH = 63
DNS_SUBDOMAIN_LENGTH = 253
ARGO_NAME_LENGTH = 128

DNS_LABEL = regex(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
DNS_SUBDOMAIN = regex(rf"{DNS_LABEL.pattern}(?:\.{DNS_LABEL.pattern})*")
LABEL_VALUE = regex(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?")
ENV_NAME = regex(r"[-._a-zA-Z][-._a-zA-Z0-9]*")
DATA_KEY = regex(r"[-._a-zA-Z0-9]+")
PORT_NAME = regex(r"(?=.*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
ARGO_NAME = regex(r"[a-zA-Z0-9][-a-zA-Z0-9]*")
PARAMETER_NAME = regex(r"[-a-zA-Z0-9_]+")
DISPLAYED_NAME = regex(r"[a-zA-Z0-9][a-zA-Z0-9-.]{0,61}[a-zA-Z0-9]")  # as in Argo's message
_OTHERS = regex(r"[^-a-zA-Z0-9_]")
EXPRESSION_NAME = regex(r"[a-zA-Z][-a-zA-Z0-9]*")
EXPRESSION_WORDS = frozenset(("and", "contains", "else", "endsWith", "false", "if", "in")).union(
    ("let", "matches", "nil", "not", "or", "startsWith", "true")
)
"""The reserved words of expr-lang. Source: parser/lexer/state.go of expr 1.17.8."""

_OTHER = regex(r"[^a-z0-9]+")
_TOKEN = regex(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")


def is_dns_label(text: str) -> bool:
    """Whether `text` names a container, a volume or a port: RFC 1123, lower case, at most 63 characters."""
    return len(text) <= DNS_LABEL_LENGTH and DNS_LABEL.fullmatch(text) is not None


def is_service_name(text: str) -> bool:
    """Whether a text is a valid name of a Service: a label that begins with a letter. Source: RFC 1035, Kubernetes."""
    return is_dns_label(text) and not text[0].isdigit()


def is_dns_subdomain(text: str) -> bool:
    """Whether `text` names a Kubernetes object: labels of RFC 1123 joined by dots, at most 253 characters."""
    return len(text) <= DNS_SUBDOMAIN_LENGTH and DNS_SUBDOMAIN.fullmatch(text) is not None


def is_qualified_name(text: str) -> bool:
    """Whether `text` is the key of a label, an annotation or an extended resource: `[domain/]name`.

    The domain is a DNS subdomain; the name has at most 63 letters, digits, `-`, `_` and `.`, and begins
    and ends with a letter or digit. Source: k8s.io/apimachinery, IsQualifiedName.
    """
    domain, slash, name = text.rpartition("/")
    return (not slash or is_dns_subdomain(domain)) and name != "" and is_label_value(name)


def is_label_value(text: str) -> bool:
    """Whether `text` is the value of a label: empty, or at most 63 characters as in a label's name.

    Source: k8s.io/apimachinery, IsValidLabelValue.
    """
    return len(text) <= DNS_LABEL_LENGTH and LABEL_VALUE.fullmatch(text) is not None


def is_env_name(text: str) -> bool:
    """Whether every version of Kubernetes accepts `text` as the name of an environment variable.

    Source: k8s.io/apimachinery, IsEnvVarName.
    """
    return ENV_NAME.fullmatch(text) is not None and text != "." and not text.startswith("..")


def is_relaxed_env_name(text: str) -> bool:
    """Whether Kubernetes from 1.34 on accepts `text` as the name of an environment variable.

    Any printable ASCII but `=`. Source: k8s.io/apimachinery, IsRelaxedEnvVarName.
    """
    return text != "" and text.isascii() and text.isprintable() and "=" not in text


def is_data_key(text: str) -> bool:
    """Whether `text` is a key of a ConfigMap or Secret: at most 253 letters, digits, `-`, `_` and `.`.

    Source: k8s.io/apimachinery, IsConfigMapKey.
    """
    if len(text) > DNS_SUBDOMAIN_LENGTH or DATA_KEY.fullmatch(text) is None:
        return False
    return text != "." and not text.startswith("..")


def is_port_name(text: str) -> bool:
    """Whether `text` names a port: at most 15 lower-case letters, digits and `-`, one letter at least.

    Source: k8s.io/apimachinery, IsValidPortName.
    """
    return len(text) <= 15 and PORT_NAME.fullmatch(text) is not None


def is_http_token(text: str) -> bool:
    """Whether a text can be the method of a request, or the name of a header. Source: RFC 9110."""
    return _TOKEN.fullmatch(text) is not None


def is_argo_name(text: str) -> bool:
    """Whether `text` names an Argo template, task, step or container: at most 128 characters, no underscore.

    Source: Argo Workflows, isValidWorkflowFieldName.
    """
    return len(text) <= ARGO_NAME_LENGTH and ARGO_NAME.fullmatch(text) is not None


def is_argo_container(text: str) -> bool:
    """Whether Argo itself adds a container of this name to pods, for its own work.

    Source: Argo Workflows, the names of containers in workflow/common/common.go.
    """
    return text in ("init", "wait", "supervisor") or text.startswith("artifact-plugin-")


def is_depended_upon(text: str) -> bool:
    """Whether Argo can read the name of a task where another depends on it.

    Argo makes it part of an expression, with hyphens as underscores. Source: evaluateDependsLogic.
    """
    return text not in EXPRESSION_WORDS and EXPRESSION_NAME.fullmatch(text) is not None


def is_parameter_name(text: str) -> bool:
    """Whether `text` names an Argo parameter or artifact: letters, digits, `-` and `_`.

    Source: Argo Workflows, isValidParamOrArtifactName.
    """
    return PARAMETER_NAME.fullmatch(text) is not None


def parameter_names(texts: Sequence[str], *, within: bool = False) -> tuple[str, ...]:
    """Distinct names of parameters derived from these texts; valid names are unchanged.

    `within`: they are followed by a hyphen and more, so they contain none.
    """
    found = {text: text for text in texts if is_parameter_name(text) and not (within and "-" in text)}
    taken = set(found)
    joint = "_" if within else "-"
    for at, text in enumerate(texts):
        if text not in found:
            name = _OTHERS.sub("-", text).replace("-", joint)
            while name in taken:
                name = f"{name}{joint}{at}"
            found[text] = name
            taken.add(name)
    return tuple(found[text] for text in texts)


def dns_name(text: str, length: int = DNS_LABEL_LENGTH) -> str:
    """The nearest DNS label of at most `length` characters (9 or more); empty when no character survives.

    Letters become lower case without their accents, and each run of other characters one `-`; what is then
    outside ASCII is dropped. A name that is too long is cut and ends in eight hex digits of the whole text, so that
    long texts with a common beginning stay apart. Different texts may still give one name.
    """
    if not text.isascii():
        import unicodedata

        plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode("ascii")
    else:
        plain = text.lower()
    name = _OTHER.sub("-", plain).strip("-")
    if len(name) <= length:
        return name
    tail = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    head = name[: length - 9].rstrip("-")
    return f"{head}-{tail}" if head else tail
