"""Templates that run something, as steps."""

from __future__ import annotations

import copy
import textwrap
from typing import TYPE_CHECKING, Any

from flowdsl.compiler.findings.importing import ByVariable, NotSayable, Otherwise
from flowdsl.compiler.importing import scripts
from flowdsl.compiler.importing.commands import changed, inline, keys, paths, read_at, undoubled
from flowdsl.compiler.importing.fields import CONTAINER, DAEMON, TEMPLATE, has_tags, resources, say
from flowdsl.compiler.importing.layout import (
    block,
    call,
    flat,
    function,
    laid,
    literal,
    mapped,
    quoted,
)
from flowdsl.compiler.importing.model import Value
from flowdsl.compiler.importing.names import Names, identifier
from flowdsl.compiler.importing.pods import companions, environment, mounts
from flowdsl.compiler.importing.ports import Port
from flowdsl.compiler.importing.renamed import renamed
from flowdsl.compiler.importing.texts import constant, formatted, pieces, value_of
from flowdsl.compiler.lint.tree import entries, inside, is_mapping
from flowdsl.compiler.options import KINDS
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import is_filled, tags

if TYPE_CHECKING:
    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Function, Json, Reading, Render
    from flowdsl.compiler.lint.tree import Path

#: Fields of a template that a function says by itself.
_OWN = ("name", "inputs", "outputs", "daemon", "container", "script", "resource", "suspend", "http")
#: The words of the decorators, by the fields of the bodies.
WORDS = {
    "container": "container",
    "script": "container",
    "resource": "resource",
    "suspend": "approve",
    "http": "http",
    "containerSet": "container",
    "data": "container",
    "plugin": "container",
}
_BODIES = ("containerSet", "data", "plugin")
#: A value in which `$` is doubled for the kubelet, as flowdsl does it by itself.
_KUBELET = regex(r"\{\{=replace\(inputs\.parameters(?:\['([^']+)'\]|\.(\w+)), '\$', '\$\$'\)\}\}")
_NAMED = regex(r"(?<!\$)\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
_UNSET = "replaced-below:latest"
_ROOT = regex(r"\W+")


class Leaf:
    """A template on its way to a step; it is what its tags are looked up in, too."""

    def __init__(self, reader: Reading, target: Function, body: str) -> None:
        self.reader = reader
        self.target = target
        self.body = body
        self.word = WORDS[body]
        self.path = target.path
        self.template: Json = _without_names(copy.deepcopy(target.template), body)
        self.options: dict[str, Code] = {}
        self.patch: Json = {}
        self.env: dict[str, Render] = {}
        self.paths = paths(target)
        self.words: list[Render] = []
        self.source: Render | None = None
        self.lines: list[Render | str] = []

    # --- tags ---------------------------------------------------------------------------------

    def variable(self, name: tuple[str, ...]) -> Value | None:
        """A variable by its path."""
        match name:
            case ("inputs", "parameters", of):
                found = self.target.inputs.get(("parameters", of))
            case ("workflow", "parameters", of):
                found = self.target.inputs.get(("workflow", of))
            case ("workflow", ("name" | "namespace") as of):
                return Value(lambda: f"run.{of}", _text())
            case ("workflow", of):
                found = self.target.inputs.get(("workflow", f".{of}"))
            case _:
                found = None
        if found is None or found.port is None:
            return None
        return Value(lambda: found.name, found.port)

    def runs_if(self, task: str, asked: object) -> bool:
        """Nothing is known of other tasks here."""
        return False

    def results(self, name: tuple[str, ...]) -> None:
        """Nothing is known of other tasks here."""

    def refuse(self, path: Path, what: str, way: str = "") -> None:
        """Record that something has no word."""
        self.reader.refuse(path, what, way)

    def sayable(self, text: str) -> bool:
        """Whether all tags of a text are known values."""
        for tag in tags(text):
            written = text[tag.start : tag.end]
            if is_filled(written) and (
                tag.kind != "simple" or self.variable(tuple(tag.body.strip().split("."))) is None
            ):
                return False
        return True

    def placed(self, text: str) -> str:
        """A text with the paths of files in place of the tags that stand for them."""
        text = _KUBELET.sub(lambda found: f"{{{{inputs.parameters.{found[1] or found[2]}}}}}", text)
        for tag, path in self.paths.items():
            text = text.replace(f"{{{{{tag}}}}}", path)
            text = text.replace(f"{{{{ {tag} }}}}", path)
        return text

    def raw(self, value: Any) -> Any:
        """A value for `argo=`, in which tags have the names that are written."""
        return renamed(value, self.reader.names_in(self.target))

    # --- the body -----------------------------------------------------------------------------

    def read(self) -> None:
        """Read all of the template."""
        body: Any = self.template.get(self.body)
        if self.body in ("container", "script"):
            self.pod(body)
        elif self.body == "resource":
            self.resource(body)
        elif self.body == "http":
            self.request(body)
        elif self.body == "suspend":
            self.gate(body or {})
        else:
            self.foreign(body)
        self.common()

    def pod(self, body: Json) -> None:
        """A container, or the one of a script."""
        path: Path = (*self.path, self.body)
        image = str(body.pop("image", ""))
        self.options["image"] = quoted(_UNSET if has_tags(image) else image)
        for key, item in list(body.items()):
            body[key] = changed(item, self.placed)
        if has_tags(image):
            body["image"] = image
        if self.target.template.get("daemon"):
            self.options["daemon"] = "True"
            say((DAEMON,), body, self.options)
        say(CONTAINER, body, self.options)
        names = [str(one.get("name")) for one in entries(body, "env")]
        self.env = environment(body, self.options, self, path)
        if is_mapping(asked := body.get("resources")):
            resources(asked, self.options)
            if not asked:
                del body["resources"]
        mounts(body, self.template, self.options, self.reader.shelf)
        as_source = self.command(body, path, names)
        if body:
            field = "script" if as_source else "container"
            self.patch[field] = self.raw(body)

    def command(self, body: Json, path: Path, variables: list[str]) -> bool:
        """The words of the command, and the script; whether that is handed to it as a file."""
        program = [str(one) for one in body.pop("command", None) or ()]
        arguments = [str(one) for one in body.pop("args", None) or ()]
        source = body.pop("source", None)
        if not program:
            body["command"] = None
            program = [self.entrypoint()]
        first = len(program)
        words = [*program, *arguments]
        kind = scripts.language(words)
        where: dict[int, Path] = {
            index: (*path, "command", index) if index < first else (*path, "args", index - first)
            for index in range(len(words))
        }
        at_source: Path = (*path, "source")
        if source is None and kind:
            source, words, place, at_source = inline(words, where)
            if source is None and place is not None:
                at, place_of = place
                words[at] = self.script(words[at], kind, place_of, body)
        else:
            place = None
        said = [undoubled(one) for one in words]
        given = {*variables, *self.env}
        odd = any(not self.sayable(one) or given & {*_NAMED.findall(one)} for one in words)
        if odd:
            body["args"] = words[1:]
            said = [words[0] if not has_tags(words[0]) else self.entrypoint()]
            if has_tags(words[0]):
                body["command"] = words[:1]
        for index, word in enumerate(said):
            if place is not None and index == place[0] and not odd:
                self.words.append(constant(quoted(word)))
                continue
            value = value_of(word, self, where.get(index, path))
            self.words.append(value.code if value.exact is None else constant(quoted(value.exact)))
        if source is None:
            return False
        text = self.script(undoubled(str(source)), kind, at_source, body)
        self.source = constant(text)
        return True

    def entrypoint(self) -> str:
        """The word that stands for the program of an image."""
        image = str(inside(self.target.template, self.body).get("image", "image"))
        return _ROOT.split(image.rpartition("/")[2].partition(":")[0])[0] or "image"

    def script(self, text: str, kind: str, path: Path, body: Json) -> str:
        """A script with variables in place of the values of the run."""
        names = Names()
        names.taken |= {*self.env, *(str(one.get("name")) for one in entries(body, "env"))}
        names.taken |= {"PATH", "HOME", "USER", "PWD", "SHELL", "HOSTNAME", "LANG", "IFS", "OLDPWD", "TERM"}
        names.taken |= keys(self.options.get("env")) | keys(self.options.get("secrets"))
        made: dict[str, str] = {}
        raw: list[Json] = []

        def name(tag: str) -> str:
            if not is_filled(tag):
                return ""
            key = tag.strip("{} ")
            if key not in made:
                words = [part for part in key.lstrip("=").split(".") if part not in ("inputs", "parameters")]
                words = words[1:] if ".parameters." in key and words[0] == "workflow" else words
                last = "value" if key.startswith("=") else "_".join(words)
                made[key] = names.free(identifier(last).strip("_").upper())
            return made[key]

        script = scripts.with_variables(text, kind, name)
        if script is None or (script.variables and not kind):
            way = (
                "let it come by a variable: `env` with the tag as its value, which the script reads"
                if kind
                else "write it for sh, bash or python, or let the values come by `env`, which the script reads"
            )
            first = next(
                (text[tag.start : tag.end] for tag in tags(text) if name(text[tag.start : tag.end])), ""
            )
            self.reader.add(path, NotSayable("a value inside of this script", way), first)
            return text
        for variable, tag in script.variables.items():
            if self.sayable(tag):
                self.env[variable] = value_of(tag, self, path).code
            else:
                raw.append({"name": variable, "value": tag})
            self.reader.add(path, ByVariable(tag, variable), tag)
        if raw:
            body["env"] = [*(entries(body, "env")), *raw]
        return script.text

    def resource(self, body: Json) -> None:
        """Something that is done with an object of the cluster."""
        path: Path = (*self.path, "resource")
        words = {"successCondition": "success", "failureCondition": "failure", "mergeStrategy": "merge"}
        self.options[""] = quoted(str(body.pop("action", "")))
        for field, option in words.items():
            if isinstance(text := body.get(field), str) and not has_tags(text):
                self.options[option] = quoted(body.pop(field).strip())
        if (flags := body.get("flags")) and not has_tags(flags):
            self.options["flags"] = literal(body.pop("flags"))
        if body.pop("setOwnerReference", False):
            self.options["owner"] = "True"
        results = {
            one.name: read_at(inside(self.parameter(key[1]), "valueFrom"))
            for key, one in self.target.outputs.items()
        }
        named = literal(results) if len(results) > 1 else None
        single = [quoted(next(iter(results.values())))] if len(results) == 1 else []
        origin = body.pop("manifestFrom", None)
        text = body.pop("manifest", "")
        if origin is not None:
            file = self.target.inputs.get(("artifacts", str(inside(origin, "artifact").get("name"))))
            given = "" if file is None else file.name
            self.lines.append(lambda: laid("", call("manifest", given, *single, outputs=named), "", "    "))
        else:
            parts = pieces(self.placed(str(text)).rstrip("\n"), self, (*path, "manifest"))
            self.lines.append(
                lambda: f"    body = {formatted(parts, lambda inner, prefix: block(inner, '    ', prefix))}"
            )
            self.lines.append(lambda: laid("", call("manifest", "body", *single, outputs=named), "", "    "))
        if body:
            self.patch["resource"] = self.raw(body)

    def parameter(self, name: str) -> Json:
        """An output parameter of the template."""
        for one in entries(self.template, "outputs", "parameters"):
            if one.get("name") == name:
                return one
        return {}

    def request(self, body: Json) -> None:
        """A request."""
        path: Path = (*self.path, "http")
        method = quoted(str(body.pop("method", "GET")))
        url = value_of(str(body.pop("url", "")), self, (*path, "url")).code
        named: dict[str, Render] = {}
        headers: dict[str, Render] = {}
        for index, header in enumerate(entries(body, "headers")):
            secret = inside(header, "valueFrom", "secretKeyRef")
            if "value" in header:
                at: Path = (*path, "headers", index, "value")
                headers[str(header["name"])] = value_of(str(header["value"]), self, at).code
            elif secret:
                of = call("Secret", quoted(str(secret.get("name"))), quoted(str(secret.get("key"))))
                headers[str(header["name"])] = constant(of)
        body.pop("headers", None)
        if "body" in body:
            named["body"] = value_of(str(body.pop("body")), self, (*path, "body")).code
        if "successCondition" in body and not has_tags(body["successCondition"]):
            named["success"] = constant(quoted(str(body.pop("successCondition"))))
        if "timeoutSeconds" in body:
            named["timeout"] = constant(str(body.pop("timeoutSeconds")))
        if body.pop("insecureSkipVerify", False):
            named["insecure"] = constant("True")
        if body:
            self.patch["http"] = self.raw(body)

        def line() -> str:
            words: dict[str, Code] = {name: one() for name, one in named.items()}
            if headers:
                words["headers"] = mapped({name: one() for name, one in headers.items()})
            return laid("", call("request", method, url(), **words), "", "    ")

        self.lines.append(line)

    def gate(self, body: Json) -> None:
        """A gate."""
        duration = body.pop("duration", None)
        if duration is not None and not has_tags(duration):
            text = str(duration)
            self.options["duration"] = text if text.isdigit() else quoted(text)
        elif duration is not None:
            body["duration"] = duration
        if body:
            self.patch["suspend"] = self.raw(body)
        told = next((str(one["description"]) for one in self.supplied() if one.get("description")), "")
        if told:
            self.lines.append(f'    """{told.strip()}"""')
        self.lines.append("    raise NotImplementedError")

    def supplied(self) -> list[Json]:
        """The inputs of a gate that a person supplies."""
        return list(entries(self.template, "inputs", "parameters"))

    def foreign(self, body: Any) -> None:
        """A body that the language has no word for: it takes the place of a container."""
        images = [str(one.get("image")) for one in entries(body, "containers")]
        self.options["image"] = quoted(next((one for one in images if not has_tags(one)), _UNSET))
        self.patch["container"] = None
        self.patch[self.body] = self.raw(changed(body, self.placed))
        self.words.append(constant(quoted("true")))
        self.template.pop(self.body, None)

    # --- what surrounds it ----------------------------------------------------------------------

    def common(self) -> None:
        """The fields that all templates have, and what is left of them."""
        template, kind = self.template, "approve" if self.word == "approve" else self.word
        known = KINDS[kind]
        if "sidecars" in known:
            companions(template, "initContainers", "InitContainer", "init", self.options, self.reader.shelf)
            companions(template, "sidecars", "Sidecar", "sidecars", self.options, self.reader.shelf)
        lasting = {"retries"} if template.get("daemon") else set[str]()  # another pod has another address
        rows = [row for row in TEMPLATE if row.option in known and row.option not in lasting]
        say(rows, template, self.options)
        if "gpu" in self.options:
            self.tolerated()
        left = {key: one for key, one in template.items() if key not in _OWN}
        if "metadata" in left and not left["metadata"]:
            del left["metadata"]
        self.patch = {**self.raw(left), **self.ports(), **self.patch}

    def tolerated(self) -> None:
        """A GPU brings the toleration of the usual taint with it."""
        vendor = flat(self.options["gpu"])
        if not vendor.isdigit():
            return
        given = entries(self.target.template, "tolerations")
        usual = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
        if usual in given:
            rest: Json = {"tolerations": [one for one in given if one != usual]}
            self.options.pop("tolerations", None)
            if rest["tolerations"]:
                say([row for row in TEMPLATE if row.option == "tolerations"], rest, self.options)
            return
        what = "a step with a GPU tolerates the taint `nvidia.com/gpu` of such nodes, too"
        self.reader.problems.add(
            (*self.path, self.body, "resources"),
            Otherwise(what, "to take it away: `argo={...}` with the tolerations as they are to be"),
        )

    def ports(self) -> Json:
        """What inputs and outputs say besides what a function does."""
        found: Json = {}
        for side in ("inputs", "outputs"):
            for kind in ("parameters", "artifacts"):
                for one in entries(self.template, side, kind):
                    if side == "outputs" and (kind, str(one["name"])) not in self.target.outputs:
                        continue
                    if (kind, str(one["name"])) in self.target.lookups and side == "inputs":
                        found.setdefault(side, {}).setdefault(kind, []).append(self.raw(one))
                        continue
                    rest = self.reader.rest_of(self.target, side, kind, one)
                    if rest:
                        of = self.target.inputs if side == "inputs" else self.target.outputs
                        name = of[kind, str(one["name"])].name
                        if side == "outputs" and len(of) == 1:
                            name = "return"
                        entry = {"name": name, **self.raw(rest)}
                        found.setdefault(side, {}).setdefault(kind, []).append(entry)
        return found

    # --- Python ---------------------------------------------------------------------------------

    def written(self) -> list[str]:
        """The step as text."""
        target = self.target
        options = dict(self.options)
        leading = [options.pop("")] if "" in options else []
        if self.patch:
            options["argo"] = literal(self.patch)
        decorator = call(self.word, *leading, **options)
        inputs = sorted(target.inputs.values(), key=lambda one: one.default is not None)
        found = [
            laid("@", decorator),
            function(target.name, (one.declared for one in inputs), target.returns),
        ]
        if self.word == "container":
            found += self.called()
        return [*found, *(one if isinstance(one, str) else str(one()) for one in self.lines)]

    def called(self) -> list[str]:
        """The body of a container step."""
        target = self.target
        found: list[str] = []
        named: dict[str, Code] = {}
        if self.source is not None:
            text = textwrap.dedent(str(self.source())).strip("\n").rstrip()
            found.append(f"    source = {block(text, '    ')}")
            named["source"] = "source"
        if self.env:
            named["env"] = mapped({name: one() for name, one in self.env.items()})
        if ("result", "") in target.outputs:
            named["stdout"] = "True"
        paths = self.fixed()
        if paths:
            named["paths"] = literal(paths)
        words = [one() for one in self.words]
        before = "" if target.returns == "None" else "return "
        return [*found, laid(before, call("command", *words, **named), "", "    ")]

    def fixed(self) -> dict[str, str]:
        """Where the program has its files."""
        found: dict[str, str] = {}
        for one in entries(self.template, "inputs", "artifacts"):
            if one.get("path") and ("artifacts", str(one["name"])) in self.target.inputs:
                found[self.target.inputs["artifacts", str(one["name"])].name] = str(one["path"])
        single = len(self.target.outputs) == 1
        for kind in ("parameters", "artifacts"):
            for one in entries(self.template, "outputs", kind):
                path = one.get("path") or inside(one, "valueFrom").get("path")
                if path:
                    name = self.target.outputs[kind, str(one["name"])].name
                    found["return" if single else name] = str(path)
        return found


def _without_names(template: Json, body: str) -> Json:
    """A template without the name of its only container, if that is empty."""
    if is_mapping(held := template.get(body)) and held.get("name") == "":
        del held["name"]
    return template


def _text() -> Port:
    port = Port(unknown=True)
    port.asked(text=True)
    return port
