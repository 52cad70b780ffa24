"""The containers of templates, and their artifacts and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler.findings.bodies import BadImage, NoProgram
from flowdsl.compiler.kinds import GRAPH_BODIES
from flowdsl.compiler.lint.manifest.dag import cycle_in_words, cycles
from flowdsl.compiler.lint.variables.typing_findings import OnlyDefault
from flowdsl.compiler.lint.workflow.dependencies import Cycle
from flowdsl.compiler.lint.workflow.names import BadContainerName
from flowdsl.compiler.lint.workflow.passed_values import never_filled
from flowdsl.compiler.problem import Problem, Various
from flowdsl.compiler.tree import entries, entries_at, inside, string
from flowdsl.diagnostic import Finding, suggest
from flowdsl.grammar.artifact_path import leads_up
from flowdsl.grammar.command_line import SHELLS, is_command_line, needs_shell, program
from flowdsl.grammar.image import fault as image_fault
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import is_filled, only_tag

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flowdsl.compiler.lint.manifest.template import Template
    from flowdsl.compiler.lint.manifest.view import View
    from flowdsl.compiler.tree import Object, Path


class NoImage(Finding):
    """A container without an image."""

    code = "FD550"
    title = "{what} has no image"
    label = "needs `image`"
    help = "add `image`"
    what: str


class NoCommand(Finding):
    """A container whose command Argo has to look up in the registry."""

    code = "FD551"
    severity = "warning"
    title = "{what} `{name}` has no `command`, so Argo asks the image's registry for it"
    label = "needs `command` on clusters that cannot reach the registry"
    help = "add `command` with the image's own command"
    name: str
    what: str = "template"


class ArtifactPath(Finding):
    """An artifact with a path where none is possible, without one, or with one outside its folder."""

    code = "FD555"
    title = "artifact `{name}` {found}"
    help = "{way}"
    name: str
    found: str
    way: str


class ArtifactLocation(Finding):
    """The location of an artifact that lacks a part."""

    code = "FD556"
    title = "the location of artifact `{name}` needs {missing}"
    help = "add {missing}"
    name: str
    missing: str


class OutputSource(Finding):
    """An output parameter without a source, with several, or with one that its template cannot have."""

    code = "FD557"
    title = "output `{name}` {found}"
    help = "{way}"
    name: str
    found: str
    way: str


class NeverGiven(Finding):
    """An output that a request or an object declares, but that never gets a value."""

    code = "FD806"
    severity = "warning"
    title = "output `{name}` never exists: {gives}"
    label = "nothing can read it"
    help = "remove it; {way}"
    name: str
    gives: str = "a request gives `outputs.result` alone"
    way: str = "the body of the answer is `outputs.result`"


class NeverSupplied(Finding):
    """An output of a gate that can never get a value."""

    code = "FD855"
    severity = "warning"
    title = "output `{name}` never exists: a run waits only for what is `supplied`"
    label = "nothing can read it"
    help = "write `valueFrom: {{supplied: {{}}}}`"
    name: str


class SetContainer(Various):
    """A container set that cannot run."""

    code = "FD558"


def programs(view: View) -> Iterator[Problem]:
    """The first word of a `command` is neither empty nor a whole command line, nor is the file that a shell runs.

    The shell of a script gets the file with the source. Source: Argo Workflows, NewEmissaryCommand.
    """
    for template, place, container in view.containers:
        path = (*template.path, *place)
        words = [*arguments(container, path)] if container.get("command") else []
        if words and not words[0][1]:
            yield Problem(words[0][0], NoProgram("", in_yaml="begin with the name of the program"))
        elif words and is_command_line(words[0][1]):
            way = f"write each word separately: [{', '.join(words[0][1].split())}]"
            if needs_shell(words[0][1]):
                way = "run it with `sh -c`, the whole command line as one text"
            yield Problem(words[0][0], NoProgram(words[0][1], in_yaml=way))
        elif words and place[0] != "script" and program([words[0][1]]) in SHELLS:
            at, file = _file_of_shell(words[1:])
            if is_command_line(file) and not _SPACED.fullmatch(file):
                way = f"write `-c` before it, with which `{program([words[0][1]])}` runs a text"
                yield Problem(at, NoProgram(short(file), in_yaml=way))


def arguments(container: Object, path: Path) -> Iterator[tuple[Path, str]]:
    """The words that a container runs, `command` and `args`, each with its path."""
    for field in ("command", "args"):
        for index, word in enumerate(container.get(field) or ()):
            yield (*path, field, index), word


def _file_of_shell(words: list[tuple[Path, str]]) -> tuple[Path, str]:
    """The file that a shell runs, of the words after its name; nothing where its options may say otherwise."""
    while words and _WITHOUT_TEXT.fullmatch(words[0][1]):
        words = words[2 if words[0][1][-1] == "o" else 1 :]  # `-o` takes an argument
    return words[0] if words and words[0][1][:1] not in ("-", "+") else ((), "")


_WITHOUT_TEXT = regex(r"[-+][aefhlmnuvxo]+|--login|--norc|--noprofile|--posix")
"""Options of a shell that runs a file, and neither a text nor its input."""
_SPACED = regex(rf"(?!(?:{'|'.join(SHELLS)}) )[\w.-]+(?: [\w.-]+)*\.sh")
"""The name of a script with spaces in it, in the working directory."""


def short(text: str) -> str:
    """The beginning of a text, as part of a message."""
    line = text.split("\n", 1)[0]
    return line if len(line) <= 40 and line == text else f"{line[:37]}..."


def images(view: View) -> Iterator[Problem]:
    """Containers have an image that a node can pull, and a command, so that Argo need not query the registry."""
    for template, place, container in view.containers:
        name: str = container.get("image") or ""
        path = (*template.path, *place)
        if name and not is_filled(name) and (reason := image_fault(name)):
            yield Problem((*path, "image"), BadImage(name, reason))
        if name and container.get("command"):
            continue
        default = inside(view.defaults, str(place[0])) if len(place) == 1 else {}
        if not (name or default.get("image")):
            own = len(place) == 1
            what = f"template `{template.title}`" if own else f"container `{container.get('name')}`"
            yield Problem(path, NoImage(what))
        elif len(place) == 1 and not (container.get("command") or default.get("command")):
            yield Problem(path, NoCommand(template.title))


def artifacts(view: View) -> Iterator[Problem]:
    """Artifacts have a path only in templates with containers, within their folder, and complete locations."""
    for template in view.templates:
        for side in ("inputs", "outputs"):
            for path, artifact in entries_at(template.data, template.path, side, "artifacts"):
                yield from _artifact(template, side, artifact, path)
        archive: Object | None = template.data.get("archiveLocation")
        if archive is not None:
            yield from _location("archiveLocation", archive, (*template.path, "archiveLocation"))


def _artifact(template: Template, side: str, artifact: Object, path: Path) -> Iterator[Problem]:
    """The findings about one artifact that a template declares."""
    name: str = artifact.get("name") or ""
    at: str = artifact.get("path") or ""
    if at and not template.is_leaf and template.body:
        finding = ArtifactPath(name, f"has a path in a template with `{template.body}`", "remove `path`")
        yield Problem((*path, "path"), finding)
    elif not at and template.is_leaf:
        yield Problem(
            path, ArtifactPath(name, "has no path", "add `path`, where the file or folder is in the pod")
        )
    elif ".." in at and leads_up(at):
        way = "write the path without `..`"
        yield Problem((*path, "path"), ArtifactPath(name, "leaves its folder by `..`", way))
    if side == "inputs":
        if artifact.get("from"):
            way = "remove `from`, and pass the artifact on in the arguments of the call"
            yield Problem((*path, "from"), ArtifactPath(name, "is an input with `from`", way))
        yield from _location(name, artifact, path)


def _location(name: str, artifact: Object, path: Path) -> Iterator[Problem]:
    """The missing parts of an artifact's location that the schema does not report."""
    git: Object | None = artifact.get("git")
    if git is not None and not git.get("repo"):
        yield Problem((*path, "git"), ArtifactLocation(name, "`repo`"))
    hdfs: Object | None = artifact.get("hdfs")
    if hdfs is None:
        return
    place = (*path, "hdfs")
    if not hdfs.get("addresses"):
        yield Problem(place, ArtifactLocation(name, "`addresses`"))
    if not str(hdfs.get("path") or "").startswith("/"):  # which Argo checks before it fills in tags
        yield Problem(place, ArtifactLocation(name, "a `path` that begins with `/`"))
    needed: tuple[str, ...] = ()
    if hdfs.get("krbKeytabSecret") is not None:
        needed = ("krbServicePrincipalName", "krbConfigConfigMap", "krbUsername", "krbRealm")
    elif hdfs.get("krbCCacheSecret") is not None:
        needed = ("krbServicePrincipalName", "krbConfigConfigMap")
    elif not hdfs.get("hdfsUser"):
        yield Problem(place, ArtifactLocation(name, "`hdfsUser`, `krbCCacheSecret` or `krbKeytabSecret`"))
    for field in needed:
        if not hdfs.get(field):
            yield Problem(place, ArtifactLocation(name, f"`{field}`"))


SOURCES = ("path", "jqFilter", "jsonPath", "parameter", "expression")
SOURCES_OF = {
    "container": ("path",),
    "containerSet": ("path",),
    "script": ("path",),
    "resource": ("jqFilter", "jsonPath"),
    "dag": ("parameter", "expression"),
    "steps": ("parameter", "expression"),
}


def output_parameters(view: View) -> Iterator[Problem]:
    """Output parameters have one source, and one that their template can have."""
    for template in view.templates:
        if template.body == "http":
            yield from _of_request(template)
            continue
        if template.body == "resource":  # without a container that saves files
            for path, artifact in entries_at(template.data, template.path, "outputs", "artifacts"):
                gives, way = "an object has no files", "parameters are read off the object, by `jsonPath`"
                yield Problem(path, NeverGiven(string(artifact, "name"), gives, way))
        for path, parameter in entries_at(template.data, template.path, "outputs", "parameters"):
            yield from _declared(template, string(parameter, "name"), parameter, path)


def _valued(template: Template, name: str, source: Object | None, path: Path) -> Iterator[Problem]:
    """What is wrong with an output that has a `value`."""
    if source is not None:
        yield Problem(path, OutputSource(name, "has both `value` and `valueFrom`", "keep one of them"))
    elif template.body == "suspend":
        finding = OutputSource(name, "has a `value`, which stops Argo's controller", _way(template))
        yield Problem((*path, "value"), finding)
    elif template.body in GRAPH_BODIES:
        found = f"has a `value`, over which a template with `{template.body}` ends in an error"
        yield Problem((*path, "value"), OutputSource(name, found, _way(template)))


def _sourced(template: Template, name: str, source: Object, path: Path) -> Iterator[Problem]:
    """What is wrong with the `valueFrom` of an output, at this path."""
    given = [field for field in SOURCES if source.get(field)]
    given += ["supplied"] if source.get("supplied") is not None else []
    allowed = SOURCES_OF.get(template.body, ())
    text = string(source, "parameter")
    if not given:
        yield Problem(path, OutputSource(name, "has no source in `valueFrom`", _way(template)))
    elif "{{" in text and not only_tag(text) and "}}" in text:
        what = "has text around its tag" if text.count("{{") == 1 else "has more than one tag"
        way = "write the tag alone, or use `expression`"
        yield Problem((*path, "parameter"), _wrong_parameter(name, source, what, way))
    elif len(given) > 1:
        found = "has several sources: " + ", ".join(f"`{field}`" for field in given)
        yield Problem(path, OutputSource(name, found, "keep one of them"))
    elif template.body in GRAPH_BODIES and text and _names_no_task(template, text):
        way = "name one, or use `expression`: its variables are written without braces"
        what = "comes from something that is not an output of a task"
        yield Problem((*path, "parameter"), _wrong_parameter(name, source, what, way))
    elif template.body == "suspend" and given != ["supplied"]:
        # Source: Argo Workflows, addRawOutputFields, and updateSuspendedNode in workflow/util/util.go.
        yield Problem((*path, given[0]), NeverSupplied(name), on_key=True)
    elif allowed and given[0] not in allowed:
        found = f"cannot come from `{given[0]}` in a template with `{template.body}`"
        yield Problem((*path, given[0]), OutputSource(name, found, _way(template)), on_key=True)


def _wrong_parameter(name: str, source: Object, what: str, way: str) -> Finding:
    """The finding about the `parameter` of a source: with a default, the output always has that."""
    if source.get("default") is not None:
        return OnlyDefault(f"`parameter` {what}", way)
    return OutputSource(name, what, way)


def _names_no_task(template: Template, text: str) -> bool:
    """Whether a `valueFrom.parameter` holds a tag that is replaced before the lookup, an expression, or nothing.

    Source: Argo Workflows, resolveVar, which looks up the variable whose name is left then. Besides the outputs
    of tasks, inputs are known, and in steps the global outputs, but in braces they are replaced before.
    """
    tag = only_tag(text)
    name = (text if tag is None else tag[1]).strip()
    if name.startswith(("tasks.", "steps.")):
        return name in ("tasks.name", "steps.name")
    is_input = name.removeprefix("inputs.parameters.") in template.parameters and name.count(".") > 1
    is_global = template.body == "steps" and name.startswith("workflow.outputs.parameters.")
    return tag is not None or not (is_input or is_global)


def _of_request(template: Template) -> Iterator[Problem]:
    """The outputs of an HTTP template, which are never set. Source: Argo Workflows, executeHTTPTemplate."""
    for kind in ("parameters", "artifacts"):
        for path, output in entries_at(template.data, template.path, "outputs", kind):
            name = string(output, "name")
            wrong = list(_declared(template, name, output, path)) if kind == "parameters" else []
            yield from wrong or [Problem(path, NeverGiven(name))]


def _declared(template: Template, name: str, parameter: Object, path: Path) -> Iterator[Problem]:
    """What is wrong with the value or source of an output parameter."""
    source: Object | None = parameter.get("valueFrom")
    if parameter.get("value") is not None:
        yield from _valued(template, name, source, path)
    elif source is None:
        yield Problem(path, OutputSource(name, "has no source", _way(template)))
    else:
        yield from _sourced(template, name, source, (*path, "valueFrom"))


def _way(template: Template) -> str:
    """The sources that an output of a template can have, in words."""
    if template.body == "http":
        return "remove it; the body of the answer is `outputs.result`"
    return "use " + " or ".join(
        f"`valueFrom.{field}`" for field in SOURCES_OF.get(template.body, ("supplied",))
    )


def container_sets(view: View) -> Iterator[Problem]:
    """The containers of a set depend on existing containers; one is `main` if there are outputs."""
    for template in view.templates:
        group: Object | None = template.data.get("containerSet")
        if group is None:
            continue
        path = (*template.path, "containerSet", "containers")
        containers = entries(group, "containers")
        if not containers:
            yield Problem(path[:-1], SetContainer("the container set is empty", "add a container"))
        index = {each.get("name") or "": position for position, each in enumerate(containers)}
        if (
            template.artifacts or template.output_parameters or template.output_artifacts
        ) and "main" not in index:
            way = "name the container that reads and writes them `main`"
            yield Problem(
                path, SetContainer("the container set has inputs or outputs and no container `main`", way)
            )
        needs: list[list[int]] = []
        for position, container in enumerate(containers):
            name = string(container, "name")
            if is_filled(name) and never_filled(view, template, name):
                reason = "Argo checks the name before this tag has a value"
                yield Problem((*path, position, "name"), BadContainerName(name, reason, f"part-{position}"))
            names: list[str] = container.get("dependencies") or []
            needs.append([index[name] for name in names if name in index])
            for number, name in enumerate(names):
                if name not in index:
                    finding = SetContainer(
                        f"there is no container `{name}`", suggest(name, index) or "remove it"
                    )
                    yield Problem((*path, position, "dependencies", number), finding)
        for cycle in cycles(needs):
            names = [str(containers[position].get("name")) for position in cycle]
            yield Problem((*path, cycle[0], "dependencies"), Cycle("containers", cycle_in_words(names)))
