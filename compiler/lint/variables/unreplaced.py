"""Tags that Argo does not replace: most stay in the text, but in a loop or a `when` they fail the run.

Source: processItem in workflow/controller/operator.go, and shouldExecute in workflow/controller/steps.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.kinds import BODY_OF, SECRETS, WORD_OF
from flowdsl.compiler.lint.manifest.template import LOOPS
from flowdsl.compiler.lint.variables.findings import LiteralTag, UnknownVariable
from flowdsl.compiler.lint.variables.scope import OF_CALLERS
from flowdsl.compiler.lint.variables.texts import HTTP, strings
from flowdsl.compiler.lint.variables.typing_findings import UnknownName
from flowdsl.compiler.lint.variables.uses import Spot, of_metric
from flowdsl.compiler.lint.workflow.loops import no_list
from flowdsl.compiler.lint.workflow.passed_values import reaching
from flowdsl.compiler.schema.findings import short
from flowdsl.compiler.tree import compact
from flowdsl.diagnostic import near
from flowdsl.grammar.labels import DISPLAY_NAME
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import ROOTS, TAG, is_filled, masked, tags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.lint.variables.uses import Place
    from flowdsl.compiler.problem import Problem
    from flowdsl.compiler.tree import Path
    from flowdsl.diagnostic import Finding
    from flowdsl.grammar.template import Tag

_NAME = regex(r"\.?(\w+)((?:\.[-\w]+)*)")
_QUOTED = regex(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")


def unreplaced(finding: Finding | None, name: str, path: Path, text: str, place: Place) -> Finding | None:
    """The finding about a variable that may not be Argo's: an error where every tag must be replaced.

    `finding` is what is wrong with the variable elsewhere.
    """
    if finding is not None and not isinstance(finding, LiteralTag):
        return finding
    if of_metric(path):
        return None  # which is reported for the metric
    if finding is None and name in ROOTS and place.call is not None:
        finding = LiteralTag(name, "no variable is called so", "write the whole name of a variable")
    root = name.partition(".")[0]
    if finding is None and root == "outputs" and place.call is not None and "inline" not in path:
        word = WORD_OF[place.call.owner.body]
        reason = f"outputs are below the name of their task or step, as in `{word}.NAME.{name}`"
        finding = LiteralTag(name, reason, f"write `{{{{{word}.NAME.{name}}}}}`")
    if finding is None and root in ROOTS - {"outputs"}:
        return None  # Argo knows it, but it is not in this document
    if not (reason := _failing(name, path, text, place)):
        return finding
    if finding is not None:
        return certain(finding, reason)
    bare = path[-1] in _ASKING and "." in name
    way = f"write `{name}` without braces" if bare else _way(name)
    return UnknownVariable(name, (), f"{way}: {reason}")


_ASKING = ("expression", "failureCondition", "successCondition")
"""The fields that name variables, or fields of an object, without braces."""


def certain(finding: LiteralTag, reason: str) -> Finding:
    """The finding about a tag that stays in the text where it makes the run fail, for a reason."""
    return UnknownVariable(finding.name, (), f"{finding.way.partition(', or ignore')[0]}: {reason}")


def _way(name: str) -> str:
    """What was probably meant by a name, as a fix."""
    parts = _NAME.fullmatch(name)
    root = near(parts[1], ROOTS) if parts is not None else None
    meant = f"{root}{parts[2]}" if parts is not None and root else name
    return f"write `{{{{{meant}}}}}`" if meant != name else "remove it"


def _failing(name: str, path: Path, text: str, place: Place) -> str:
    """Why a run fails because of an unreplaced tag; empty if it does not."""
    call, root = place.call, name.partition(".")[0]
    if name in OF_CALLERS and call is not None and call.parent is None:
        return _ENDLESS
    if path[-1] == "from":
        return "no artifact is called so" if root == "item" else ""  # others are reported elsewhere
    named = root in ROOTS or _NAME.fullmatch(name)  # else it may be a mapping of expr-lang in a closure
    is_read = path[-1] == "expression" or path[-2:] == HTTP
    if is_read and named and not is_quoted(text, text.index(name), name):
        return "an expression with braces in it cannot be read"
    if call is None:
        return unfit(path, text, name)
    if path == (*call.path, "when"):
        return "" if is_quoted(text, text.index(name), name) else "a `when` with braces in it cannot be read"
    if call.parent is not None and path == (*call.path, "template"):
        return "no template is called so"
    call = call.parent or call
    if name in BODY_OF:
        return _ENDLESS
    when, field = call.data.get("when") or "", path[len(call.path)]
    if not call.loop or (when and "{{" not in when):
        return ""
    if field in LOOPS and (call.owner.body == "steps" or name == "item"):
        return _uncounted(path, text)
    return "in a loop, Argo replaces every tag or fails"


def unfit(path: Path, text: str, name: str) -> str:
    """Why a tag with a name cannot stay in a text of a template, or in a setting for all templates; empty if it can.

    A patch of a pod is judged by its own fields.
    """
    known = name.partition(".")[0] in ROOTS
    if path[-1] != "podSpecPatch":
        return unreadable(path, known)
    from flowdsl.compiler.yaml.documents import read

    documents, problems = read(TAG.sub(lambda tag: tag[0] if name in tag[1] else "1", text), "podSpecPatch")
    places = [place for one in documents for place, value in strings(one.body, ()) if name in value]
    if problems or not places:
        return "a patch with braces outside of quotes cannot be read"
    return next(filter(None, (unreadable(place, known) for place in places)), "")


def unreadable(path: Path, known: bool) -> str:
    """Why a text of a template, or a setting for all templates, cannot contain braces; empty if it can.

    `known`: whether the braces may be around a variable; others are no tag to what checks names.
    """
    forms = (*_FORMS, *_NAMES) if known else _FORMS
    return next((reason for end, reason in forms if _ends(path, end)), "")


def is_early(path: Path) -> bool:
    """Whether Argo reads a text of a template before it knows of an attempt, and never again.

    Source: Argo Workflows, executeTemplate in workflow/controller/operator.go.
    """
    return any(_ends(path, end) for end in _EARLY)


_EARLY: tuple[tuple[str | None, ...], ...] = (
    *(
        ("timeout",),
        ("pendingTimeout",),
        ("memoize", "key"),
        ("memoize", "maxAge"),
        ("retryStrategy", "limit"),
    ),
    ("backoff", None),
)

_ENDLESS = "Argo waits for it, and the run never ends"


def _ends(path: Path, end: tuple[str | None, ...]) -> bool:
    """Whether a path has an end, where None stands for any field or index."""
    last = path[-len(end) :]
    return len(last) == len(end) and all(one in (None, each) for one, each in zip(end, last, strict=True))


_TIME, _NUMBER = "a time with braces in it cannot be read", "a number with braces in it cannot be read"
_AMOUNT = "an amount with braces in it cannot be read"
_LABEL, _NAME_OF = "the value of a label has no braces in it", "a name has no braces in it"
_WAIT = "a condition with braces in it cannot be read"
_KEY, _WORD = "a key has no braces in it", "the field takes only a few words"
_FORMS: tuple[tuple[tuple[str | None, ...], str], ...] = (
    (("dag", "target"), "no task is called so"),
    (("timeout",), _TIME),
    (("pendingTimeout",), _TIME),
    (("suspend", "duration"), _TIME),
    (("backoff", "duration"), _TIME),
    (("backoff", "maxDuration"), _TIME),
    (("backoff", "factor"), _NUMBER),
    (("retryStrategy", "limit"), _NUMBER),
    (("activeDeadlineSeconds",), _NUMBER),
    (("memoize", "key"), _KEY),
    (("memoize", "maxAge"), _TIME),
    (("limits", None), _AMOUNT),
    (("requests", None), _AMOUNT),
    (("resource", "successCondition"), _WAIT),
    (("resource", "failureCondition"), _WAIT),
)
"""The ends of paths to texts of templates that Argo parses into other types."""

_WORDS: tuple[tuple[str | None, ...], ...] = (
    *(("matchExpressions", None, "operator"), ("matchFields", None, "operator")),
    *(("tolerations", None, "operator"), ("tolerations", None, "effect")),
    *(("seccompProfile", "type"), ("hostPath", "type"), ("httpGet", "scheme"), ("ports", None, "protocol")),
    *(("accessModes", None), ("mountPropagation",), ("procMount",), ("fsGroupChangePolicy",)),
    *(("terminationMessagePolicy",), ("dnsPolicy",), ("whenUnsatisfiable",)),
)
"""The ends of paths to texts with only a few valid values."""

_NAMES: tuple[tuple[tuple[str | None, ...], str], ...] = (
    (("labels", None), _LABEL),
    (("nodeSelector", None), _LABEL),
    (("matchLabels", None), _LABEL),
    (("matchExpressions", None, "values", None), _LABEL),
    (("matchExpressions", None, "key"), "a label has no braces in it"),
    (("topologyKey",), "a label has no braces in it"),
    (("tolerations", None, "key"), "a taint has no braces in it"),
    (("tolerations", None, "value"), "a taint has no braces in it"),
    (("annotations", DISPLAY_NAME), "the name that is shown has no braces in it"),
    (("hostAliases", None, "ip"), "an address has no braces in it"),
    (("hostnames", None), _NAME_OF),
    (("serviceAccountName",), _NAME_OF),
    (("priorityClassName",), _NAME_OF),
    (("storageClassName",), _NAME_OF),
    (("containerSet", "containers", None, "name"), _NAME_OF),
    (("initContainers", None, "name"), _NAME_OF),
    (("sidecars", None, "name"), _NAME_OF),
    (("ports", None, "name"), _NAME_OF),
    (("httpGet", "port"), _NAME_OF),
    (("httpHeaders", None, "name"), _NAME_OF),
    (("volumes", None, "name"), _NAME_OF),
    (("volumeMounts", None, "name"), _NAME_OF),
    (("csi", "driver"), _NAME_OF),
    *(
        ((owner, "name"), _NAME_OF)
        for owner in ("secretKeyRef", "configMapKeyRef", "secretRef", "configMapRef")
    ),
    *(((owner, "key"), _KEY) for owner in ("secretKeyRef", "configMapKeyRef")),
    *(((f"{kept}Secret", "name"), _NAME_OF) for several in SECRETS.values() for kept in several),
    (("fieldRef", "fieldPath"), "a field has no braces in it"),
    (("resourceFieldRef", "resource"), "a resource has no braces in it"),
    (("image",), "an image has no braces in its name"),
    (("imagePullPolicy",), "write `Always`, `IfNotPresent` or `Never`"),
    *((end, _WORD) for end in _WORDS),
)
"""The ends of paths to texts that Argo or Kubernetes use as names."""


def _uncounted(path: Path, text: str) -> str:
    """Why a loop fails because of braces in the field for its number of items; empty if it does not."""
    if path[-1] == "withParam":
        return "a list with braces in it cannot be read" if no_list(text) else ""
    return "" if path[-1] == "format" or "withItems" in path else "braces are not a number"


_FREE_FIELDS = frozenset(("body", "data", "source"))
_FREE_LISTS = frozenset(("args", "command"))
_OWN = regex(rf"\b(?:{'|'.join(sorted((*ROOTS, 'sprig')))})\s*(?:\?\.|[.\[])")
"""The names in an expression that only Argo has."""

_ESCAPED = regex("[<>&]")


def left_alone(problem: Problem, tag: Tag, place: Place) -> Problem:
    """The problem of an expression, as an unreplaced tag in a text that may belong to another program.

    In a text of a template, Argo leaves what it can parse but not evaluate, but in a pod it fails for the
    characters that Go escapes. Source: SubstituteParams in workflow/common/util.go, and substitutePodParams
    in workflowpod.go.
    """
    path, finding = problem.path, problem.finding
    is_value = path[-1] == "value" and path[-3:-2] == ("env",)
    if place.call is not None or not (is_value or path[-1] in _FREE_FIELDS or path[-2] in _FREE_LISTS):
        return problem
    if not isinstance(finding, UnknownName) or _OWN.search(tag.body):
        return problem  # it names what only Argo has
    if "http" not in path and _ESCAPED.search(tag.body):
        return problem
    way = f"{finding.advice}, or ignore this where the braces belong to the text"
    return problem._replace(finding=LiteralTag(short(f"={tag.body}"), finding.message, way))


def is_quoted(condition: str, offset: int, kept: str = "") -> bool:
    """Whether an offset in a condition is inside quotes, whatever its tags become; `kept` is what stays there."""
    return any(
        match.start() < offset < match.end() and match[0][0] not in kept
        for match in _QUOTED.finditer(masked(condition))
    )


def must_close(text: str, tag: Tag, place: Place) -> bool:
    """Whether Argo fails for unclosed braces: if no closing ones follow in the JSON of the task.

    In a loop, what is closed that late cannot be replaced either.
    """
    call = place.call
    if call is None or call.parent is not None:
        return False
    if call.loop:
        return True
    whole = compact({field: call.data[field] for field in _WRITTEN if field in call.data})
    _, _, behind = whole.partition(compact(text)[1:-1])
    return "}}" not in text[tag.start :] + behind


_WRITTEN = (
    *("name", "inline", "template", "arguments", "templateRef", "dependencies", "withItems", "withParam"),
    *("withSequence", "when", "continueOn", "onExit", "failFast", "depends", "hooks"),
)
"""The order in which Argo serializes the fields of a task. Source: DAGTask in workflow_types.go of Argo Workflows."""


_OPENED = regex(rf"\s*(?:=|(?:{'|'.join(sorted(ROOTS))})\s*[.}}])")


def left_open(tag: Tag) -> bool:
    """Whether a tag of Argo has no closing braces, or only those of another tag."""
    if tag.kind == "expression" or (tag.kind == "simple" and "}" not in tag.body.partition("{{")[0]):
        return False
    return _OPENED.match(tag.body) is not None


def brought(view: View) -> Iterator[Problem]:
    """The texts that loops get through tags contain no tags but those of Argo.

    Source: processItem in workflow/controller/operator.go, which replaces every tag of a task or step or
    fails.
    """
    told: set[tuple[Path, str]] = set()
    seen: set[tuple[int, str]] = set()
    for call in view.looping:
        if "{{" not in (call.data.get("when") or "{{"):  # if it is false, tags may remain
            continue
        apart = ("inline", *(LOOPS if call.owner.body == "steps" else ()))
        data = {field: one for field, one in call.data.items() if field not in apart}
        if call.loop == "withItems" and view.survey(call).without_tags:
            data.pop("withItems", None)
        texts = (text for _, text in strings(data, call.path))
        for path, value in reaching(view, call.owner, texts, seen):
            for tag in tags(value) if "{{" in value and not is_filled(value) else ():
                if (path, tag.body) not in told:
                    told.add((path, tag.body))
                    way = f"remove it: it comes into the loop `{call.name}`, where Argo replaces every tag or fails"
                    name = tag.body.strip()
                    yield Spot.of_name(path, name, tag).problem(UnknownVariable(name, (), way))
