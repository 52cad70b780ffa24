"""Expands `$(NAME)` in the texts of a container, and in the template that Argo passes to its executor."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from flowdsl.compiler.limits import MOST_ENVIRONMENT, MOST_VARIABLE
from flowdsl.grammar.regex import regex
from flowdsl.runtime.parts import part, several

_REFERENCE = regex(r"\$(?:\$|\(([^)]*)\))")


def expanded(text: str, known: Mapping[str, str]) -> str:
    """Replaces `$(NAME)` by the value of a known variable, and `$$` by `$`.

    Source: third_party/forked/golang/expansion of Kubernetes; a name ends at the first `)`, and may have any character.
    """
    if "$" not in text:
        return text

    def value(match: re.Match[str]) -> str:
        name = match[1]
        return "$" if name is None else known.get(name, match[0])

    return _REFERENCE.sub(value, text)


def carried(template: dict[str, Any], names: Callable[[], Mapping[str, str]]) -> dict[str, Any]:
    """A template as Argo's executor reads it: the kubelet expands it, as a variable of the init container.

    Input parameters are left out; above 128 KiB it is passed in a ConfigMap, unexpanded. Source:
    build in workflow/controller/workflowpod.go of Argo 4.1; what a run showed.
    """
    if "script" not in template and not template.get("inputs") and not template.get("outputs"):
        return template  # the executor uses nothing of it
    inputs: dict[str, Any] = {"artifacts": several(part(template, "inputs"), "artifacts")}
    text = json.dumps({**template, "inputs": inputs}, ensure_ascii=False, separators=(",", ":"))
    if "$$" not in text and "$(ARGO_" not in text:
        return template
    size = len(text.encode(errors="surrogatepass"))
    size += 5 * sum(map(text.count, "<>&\u2028\u2029"))  # Go writes them as \u003c
    if size > MOST_ENVIRONMENT:
        return template
    quoted = {name: json.dumps(value)[1:-1] for name, value in names().items()}
    found: dict[str, Any] = json.loads(expanded(text, quoted))
    return found


def too_long(argv: list[str], env: Mapping[str, str]) -> bool:
    """Whether a variable or argument exceeds the limit of Linux."""
    if sum(map(len, (*argv, *env, *env.values()))) < MOST_VARIABLE // 8:
        return False
    texts = [*argv, *(f"{name}={value}" for name, value in env.items())]
    return any(
        len(one) >= MOST_VARIABLE // 4 and len(one.encode(errors="surrogateescape")) >= MOST_VARIABLE
        for one in texts
    )
