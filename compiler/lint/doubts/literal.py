"""Values that are taken literally where other tools would expand them: tags, paths, names.

All of it passes Argo and the API server, and then does something else than its form says.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, get_args

from flowdsl.compiler.kinds import LOCATIONS, STORES
from flowdsl.compiler.lint.manifest.typed import typed
from flowdsl.compiler.lint.pods.bodies import short
from flowdsl.compiler.lint.variables.findings import LiteralTag
from flowdsl.compiler.lint.variables.uses import producer_of
from flowdsl.compiler.lint.workflow.loops import no_list
from flowdsl.compiler.lint.workflow.settings import literal_seconds
from flowdsl.compiler.problem import Problem
from flowdsl.compiler.tree import entries, entries_at, inside, is_list, is_mapping, pairs, string
from flowdsl.diagnostic import Finding, near
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import TAG, only_tag
from flowdsl.kinds import Method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class TakenLiterally(Finding):
    """A text that other tools interpret, but Argo, Kubernetes or the system take literally."""

    code = "FD824"
    severity = "warning"
    title = "{found}"
    label = "{effect}"
    help = "{way}"
    found: str
    effect: str
    way: str


_BRACES = regex(
    r"(?<![{$])\{ *((?:inputs|workflow)\.\w+\.[\w.-]+) *\}"
    r"|\{\{\{ *((?:inputs|workflow)\.\w+\.[\w.-]+) *\}\}\}"
    r"|\$[({]((?:inputs|workflow)\.\w+\.[\w.-]+)[)}](?!\})"
)
"""A variable in another tool's notation: in one brace or three, or after a dollar."""

_ONE_NAME = regex(r"\{\{ *([\w-]+) *\}\}")
_OF_ARGO = frozenset(("item", "retries"))
"""Variables of one word."""

_DOLLAR = regex(r"\$\{\{ *((?:inputs|workflow|steps|tasks)\.[\w.-]+|item(?:\.[\w.-]+)?) *\}\}")
"""A whole value in the notation of other systems, with a dollar before a tag."""


def braces(view: View) -> Iterator[Problem]:
    """Existing variables are written in two braces, with their whole name."""
    of_run = {f"workflow.parameters.{name}" for name in view.arguments}
    handed = any(_marked(each) for each in view.values)
    for template in view.all:  # templates that are alike may have other sources
        own = (template.text, template.source)
        if not (handed if template.calls else any(map(_marked, own))):
            continue
        known = of_run | {f"inputs.parameters.{name}" for name in template.parameters}
        known |= {f"inputs.artifacts.{name}.path" for name in template.artifacts}
        for path, text in _texts(template.data, template.path):
            if (whole := _DOLLAR.fullmatch(text)) is not None:
                way = f"write `{{{{{whole[1]}}}}}`"
                yield Problem(
                    path, TakenLiterally(f"`{text}` keeps its `$`", "Argo fills in the braces alone", way)
                )
            for found in _BRACES.finditer(text):
                name = next(filter(None, found.groups()))
                if name in known:
                    finding = LiteralTag(name, "Argo fills in two braces", f"write `{{{{{name}}}}}`")
                    yield Problem(path, finding, part=found.span())
            for found in _ONE_NAME.finditer(text):
                name = next((each + found[1] for each in _OWNERS if each + found[1] in known), "")
                written = name and re.search(rf"\{{\{{\s*{re.escape(name)}\s*\}}\}}", text)
                if name and not written and found[1] not in _OF_ARGO:
                    way = f"write `{{{{{name}}}}}`, or ignore this where the braces belong to the text"
                    finding = LiteralTag(found[1], "no variable of Argo has this name", way, name)
                    yield Problem(path, finding, part=found.span(1))


_OWNERS = ("inputs.parameters.", "workflow.parameters.")


def _marked(text: str) -> bool:
    """Whether a text may have a variable in another form than Argo's."""
    return _BRACES.search(text) is not None or "${{" in text or _ONE_NAME.search(text) is not None


def _texts(node: Object, path: Path) -> Iterator[tuple[Path, str]]:
    """The texts below a node, each with its path."""
    stack: list[tuple[Any, Path]] = [(node, path)]
    while stack:
        node, path = stack.pop()
        for key, value in pairs(node):
            if isinstance(value, str):
                yield (*path, key), value
            elif is_mapping(value) or is_list(value):
                stack.append((value, (*path, key)))


_BARE = regex(r"(\{? *|\$[({])(tasks|steps)\.([\w-]+)\.(outputs\.(?:result|parameters\.[\w-]+))( *\}?|[)}])")
"""The output of a task or step as a whole value, without the braces of a tag."""


def bare(view: View) -> Iterator[Problem]:
    """Outputs of tasks and steps that are passed on are written in two braces."""
    for template in view.templates if any(map(_BARE.fullmatch, view.values)) else ():
        for call in template.calls:
            for path, each in entries_at(call.data, call.path, "arguments", "parameters"):
                found = _BARE.fullmatch(string(each, "value"))
                producer = None if found is None else producer_of(template, found[2], found[3])
                if found is None or producer is None or found[4] not in (producer.outputs or ()):
                    continue
                name = f"{found[2]}.{found[3]}.{found[4]}"
                way = f"write `{{{{{name}}}}}`"
                finding = TakenLiterally(f"`{found[0]}` is passed on as this text", "no variable", way)
                yield Problem((*path, "value"), finding)


_BEHIND = regex(r"['\"]?\s*[=!]=\s*[^?\n]{1,80}\?[^:\n]{1,80}:[^\n]{1,80}")
"""The rest of a choice, behind a tag that has only its first word."""


def chosen(view: View) -> Iterator[Problem]:
    """An expression is inside of its tag as a whole, and a list of items is no single item."""
    for call in view.outlines:
        for path, each in entries_at(call.data, call.path, "arguments", "parameters"):
            value = string(each, "value")
            first = TAG.match(value.lstrip("'\"")) if "?" in value and "{{" in value else None
            if first is not None and _BEHIND.fullmatch(first.string, first.end()):
                found = f"`{short(value)}` is passed on as text"
                way = "write the whole expression between `{{=` and `}}`"
                yield Problem((*path, "value"), TakenLiterally(found, "not computed", way))
        items: list[Any] = call.data.get("withItems") or []
        tag = only_tag(items[0]) if len(items) == 1 and isinstance(items[0], str) else None
        name = "" if tag is None else tag[1].strip().removeprefix("workflow.parameters.")
        listed = string(view.arguments.get(name, {}), "value") if name else ""
        if listed.startswith("[") and no_list(listed) is None:
            finding = TakenLiterally(
                f"`{items[0]}` is one item, the whole list", "runs once", f'write `withParam: "{items[0]}"`'
            )
            yield Problem((*call.path, "withItems", 0), finding)


def packed(view: View) -> Iterator[Problem]:
    """Artifacts are archived unless `archive` has a strategy that says otherwise."""
    for template in view.templates:
        for path, artifact in entries_at(template.data, template.path, "outputs", "artifacts"):
            archive = inside(artifact, "archive")
            for field in archive:
                if field in ("none", "zip") and archive[field] is None:
                    found = f"`{field}` has no value, so it counts as left out"
                    way = f"write `{field}: {{}}`"
                    finding = TakenLiterally(found, "a .tgz", way)
                    yield Problem((*path, "archive", field), finding, on_key=True)


_OF_LINUX = (
    "ALL AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE "
    "DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD "
    "NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN "
    "SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG "
    "WAKE_ALARM"
)
CAPABILITIES = frozenset(_OF_LINUX.split())
"""The capabilities of Linux, and `ALL`. Source: capabilities(7)."""

_OF_DOCKER = regex(r"(?P<path>/[^:]*):(?P<mode>r[ow]|[zZ])|[a-z0-9][-a-z0-9]+:/.*")


def containers(view: View) -> Iterator[Problem]:
    """Capabilities are those of Linux, and the paths of mounts have no options."""
    for found in typed(view, frozenset(("Capabilities", "VolumeMount"))):
        if found.type == "VolumeMount":
            at = string(found.data, "mountPath")
            if at and (parts := _OF_DOCKER.fullmatch(at)):
                way = "write the path alone"
                way += ", and `readOnly: true` beside it" if parts["mode"] == "ro" else ""
                finding = TakenLiterally(f"`{at}` is a path with a colon", "mounted under that name", way)
                yield Problem((*found.path, "mountPath"), finding)
            continue
        for field in ("add", "drop"):
            for index, name in enumerate(found.data.get(field) or ()):
                bare = str(name).upper()
                if bare in CAPABILITIES or "{{" in bare:
                    continue
                close = near(bare.removeprefix("CAP_"), CAPABILITIES)
                way = f"write `{close}`" if close else "write one of capabilities(7), without `CAP_`"
                finding = TakenLiterally(
                    f"`{name}` is not the name of a capability", "left out, or refused", way
                )
                yield Problem((*found.path, field, index), finding)


def early(view: View) -> Iterator[Problem]:
    """A variable of a container names those that are set before it: Kubernetes fills in no later ones."""
    for template, place, container in view.containers:
        listed = entries(container, "env")
        if len(listed) < 2 or container.get("envFrom"):
            continue
        names = [string(each, "name") for each in listed]
        for index, each in enumerate(listed):
            value: object = each.get("value")
            for named in _NAMED.finditer(value) if isinstance(value, str) else ():
                name = named[1]
                if name in names[index + 1 :] and name not in names[: index + 1]:
                    found = f"`{names[index]}` gets `{named[0]}` as it is"
                    way = f"write `{name}` before `{names[index]}`"
                    path = (*template.path, *place, "env", index, "value")
                    finding = TakenLiterally(found, f"`{name}` is set after it", way)
                    yield Problem(path, finding, part=named.span())


_NAMED = regex(r"(?<!\$)\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")


_TIMES = ("secondsAfterCompletion", "secondsAfterSuccess", "secondsAfterFailure")


def times(view: View) -> Iterator[Problem]:
    """Durations are not negative where that means at once. Source: Argo Workflows, expireAt and executeSuspend."""
    for field in _TIMES:
        seconds = inside(view.spec, "ttlStrategy").get(field)
        if isinstance(seconds, int) and seconds < 0:
            finding = TakenLiterally(
                f"`{field}: {seconds}` is over before the run ends",
                "the run is deleted as soon as it ends",
                f"remove `{field}` to keep the run, or write 0",
            )
            yield Problem((*view.path, "ttlStrategy", field), finding)
    for template in view.templates:
        age = string(template.data, "memoize", "maxAge")
        if (literal_seconds(age) or 0) < 0:
            found = f"with `maxAge: {age}` every result is too old"
            finding = TakenLiterally(
                found, "never taken from the cache", "write how long results are good, such as `24h`"
            )
            yield Problem((*template.path, "memoize", "maxAge"), finding)
        text = string(template.data, "suspend", "duration")
        if (literal_seconds(text) or 0) < 0:
            way = "remove `duration` to wait until somebody resumes it"
            finding = TakenLiterally(f"`duration: {text}` is over at once", "nothing waits here", way)
            yield Problem((*template.path, "suspend", "duration"), finding)


_REGISTERED = (
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY "
    "MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT QUERY "
    "REBIND REPORT SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL "
    "BAN LIST M-SEARCH NOTIFY PURGE REFRESH SOURCE SUBSCRIBE UNSUBSCRIBE"
)
_METHODS = frozenset(_REGISTERED.split())
"""The registered methods, and a few more that servers know."""
_USUAL: tuple[str, ...] = get_args(Method)


def methods(view: View) -> Iterator[Problem]:
    """The method of a request is one that servers know, in capitals. Source: RFC 9110."""
    for template in view.templates:
        method = string(template.data, "http", "method")
        if method and method not in _METHODS and "{{" not in method and method.isalpha():
            known = method.upper() if method.upper() in _METHODS else near(method, _USUAL)
            way = f"write `{known}`" if known else f"write one of {', '.join(_USUAL)}"
            finding = TakenLiterally(
                f"`{method}` is not a method that servers know", "sent as it is written", way
            )
            yield Problem((*template.path, "http", "method"), finding)


def paths(view: View) -> Iterator[Problem]:
    """Paths of outputs name files or folders, and the default for a missing file is next to the path.

    Source: Argo Workflows, SaveArtifacts, SaveParameters and getTemplateOutputsFromScope.
    """
    for template in view.templates:
        for here, each in entries_at(template.data, template.path, "outputs", "parameters"):
            source = inside(each, "valueFrom")
            if each.get("default") is not None and source and "default" not in source:
                found = f"the `default` of output `{each.get('name')}` is not used"
                effect = f"without the {'file' if 'path' in source else 'value'}, the run fails"
                finding = TakenLiterally(found, effect, "move it below `valueFrom`")
                yield Problem((*here, "default"), finding, on_key=True)
            asked = string(source, "jsonPath")
            if asked and "{" not in asked:
                way = f"write `{{.{asked.lstrip('$.')}}}`"
                found = f"`{short(asked)}` has no braces, so it is the value itself"
                finding = TakenLiterally(found, "no field is read", way)
                yield Problem((*here, "valueFrom", "jsonPath"), finding)
        for path, at in _outputs(template):
            if "{{" not in at and (at.startswith("~") or "*" in at):
                found = f"`{at}` is looked for under that name"
                effect = "no pattern is expanded" if "*" in at else "no home directory is filled in"
                way = "pass on the folder with the files" if "*" in at else "write the whole path"
                yield Problem(path, TakenLiterally(found, effect, way))


def _outputs(template: Template) -> Iterator[tuple[Path, str]]:
    """The paths of the outputs of a template, each with its place."""
    for path, each in entries_at(template.data, template.path, "outputs", "artifacts"):
        yield (*path, "path"), string(each, "path")
    for path, each in entries_at(template.data, template.path, "outputs", "parameters"):
        yield (*path, "valueFrom", "path"), string(each, "valueFrom", "path")


def places(view: View) -> Iterator[Problem]:
    """Keys are names in a bucket, and artifacts with `from` have no location. Source: resolveArtifact."""
    given = [(call.data.get("arguments"), (*call.path, "arguments")) for call in (*view.handing, *view.hooks)]
    given += [
        (owner, (*each.path, side))
        for each in view.templates
        for side in ("inputs", "outputs")
        if (owner := each.data.get(side))
    ]
    for owner, path in given:
        for here, artifact in entries_at(owner or {}, path, "artifacts"):
            source = string(artifact, "from")
            field = next((each for each in LOCATIONS if artifact.get(each) is not None), "")
            if source and field:
                found = f"`{field}` says nothing beside `from`"
                effect = f"the artifact stays where `{short(source)}` is"
                yield Problem(
                    (*here, field), TakenLiterally(found, effect, "keep one of the two"), on_key=True
                )
            key = string(artifact, field, STORES[field]) if field in _BUCKETS else ""
            if address := _ADDRESS.match(key):
                bucket, _, rest = key[address.end() :].partition("/")
                found = f"`{short(key)}` is looked for in the bucket under that name"
                way = f"write `key: {rest}`, and `bucket: {bucket}` beside it if that is another one"
                finding = TakenLiterally(found, "a key is not an address", way)
                yield Problem((*here, field, STORES[field]), finding)


_BUCKETS = ("s3", "gcs", "oss")
_ADDRESS = regex(r"(?:s3a?|gs|gcs|oss|https?)://")
