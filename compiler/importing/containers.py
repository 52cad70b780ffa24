"""Converts templates with a container or script to steps: commands, scripts, variables and files."""

from __future__ import annotations

import textwrap
from posixpath import join, normpath
from typing import TYPE_CHECKING

from flowdsl.compiler.findings.importing import AsItIs, ByVariable
from flowdsl.compiler.importing import scripts
from flowdsl.compiler.importing.commands import keys, script_at, undoubled, without_script
from flowdsl.compiler.importing.fields import CONTAINER, DAEMON, has_tags, resources
from flowdsl.compiler.importing.layout import block, call, exactly, laid, mapped, quoted
from flowdsl.compiler.importing.leaves import Leaf
from flowdsl.compiler.importing.model import ports
from flowdsl.compiler.importing.names import Names, parameter
from flowdsl.compiler.importing.pods import environment
from flowdsl.compiler.importing.spans import Refused
from flowdsl.compiler.importing.tagged import value_of
from flowdsl.compiler.importing.texts import constant
from flowdsl.compiler.tree import entries, inside, is_mapping
from flowdsl.grammar.image import fault
from flowdsl.grammar.regex import regex
from flowdsl.grammar.template import is_filled, only_tag, tags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.importing.layout import Code
    from flowdsl.compiler.importing.model import Render
    from flowdsl.compiler.tree import Path

_NAMED = regex(r"(?<!\$)\$\(([-._a-zA-Z][-._a-zA-Z0-9]*)\)")
_FEW = 3  # maximal number of lines of a quoted word
_UNSET = "replaced-below:latest"
_ROOT = regex(r"\W+")
#: Variables that processes have by default.
_USUAL = (
    *("PATH", "HOME", "USER", "PWD", "SHELL", "HOSTNAME", "LANG", "IFS", "OLDPWD", "TERM", "TMPDIR", "TZ"),
    # Variables that bash sets itself.
    *("UID", "EUID", "PPID", "GROUPS", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "REPLY", "OPTARG", "OPTIND"),
    *(
        "SHLVL",
        "DIRSTACK",
        "FUNCNAME",
        "HISTCMD",
        "HOSTTYPE",
        "MACHTYPE",
        "OSTYPE",
        "COLUMNS",
        "LINES",
        "BASH",
    ),
    *("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "NODE_OPTIONS", "ENV", "CDPATH", "PS4"),
)


class Container(Leaf):
    """A template with a container or script."""

    env: dict[str, Render]
    words: list[Render]
    texts: dict[str, str]  # words of several lines, by the names of their constants
    moving: dict[tuple[str, str], Render]  # paths that differ in each run
    source: str | None = None
    kept = False  # whether its command is left to Argo

    def is_sayable(self) -> bool:
        """Whether variables in its script work for all values; if not, that is reported."""
        text, path = str(self.body.get("source") or ""), (*self.path, "source")
        kind = scripts.language([word for word, _ in self._words()])
        return self._is_sayable(undoubled(self.placed(text)), path, kind)

    def _is_sayable(self, text: str, path: Path, kind: str) -> bool:
        made = scripts.with_variables(text, kind, lambda tag: "VALUE" if is_filled(tag) else "")
        if not isinstance(made, Refused):
            return True
        way = (
            "to pass it as data: `env` with the tag as its value, which the script reads"
            if kind
            else "to pass it as data: `env`, which the program reads; in sh, python and node it can be part of the text"
        )
        shown = next(text[tag.start : tag.end] for tag in tags(text) if tag.start == made.at)
        self.reader.add(path, AsItIs(way), shown, text.count(shown, 0, made.at))
        return False

    def read_body(self) -> None:
        """Read a container, or the one of a script."""
        self.body.pop("name", None)  # Argo gives it one of its own: see createWorkflowPod in workflowpod.go
        image = str(self.body.pop("image", ""))
        self.options["image"] = quoted(self._usual_image(image))
        self.body = self.placed(self.body)
        if has_tags(image):
            self.body["image"] = image
        if self.template.get("daemon"):
            self.options["daemon"] = "True"
            self.say((DAEMON,))
        self.say(CONTAINER)
        whole = entries(self.body, "envFrom")  # only the cluster knows these variables
        variables = {str(one.get("name")) for one in entries(self.body, "env")}
        self.env = environment(self.body, self.options, self, self.path)
        if is_mapping(asked := self.body.get("resources")):
            resources(asked, self.options)
            if not asked:
                del self.body["resources"]
        self.volumes.mounts(self.body, self.options)
        self._command(None if whole else variables | self.env.keys())
        self.moving = self._moving()
        self.left("container" if self.source is None else "script")
        self.lines.append(self._called)

    def _usual_image(self, image: str) -> str:
        """An image with the defaults of the parameters in it: the one that runs have unless they say otherwise."""
        if not has_tags(image):
            return image
        texts = {
            f"{owner}.parameters.{one.name}": one.text
            for owner, given in (
                ("inputs", ports(self.template, "inputs")),
                ("workflow", ports(self.reader.spec, "arguments")),
            )
            for one in given
            if one.kind == "parameters"
        }
        for tag in reversed(tags(image)):
            text = texts.get(tag.body.strip())
            if text is None or has_tags(text):
                return _UNSET
            image = f"{image[: tag.start]}{text}{image[tag.end :]}"
        return _UNSET if fault(image) else image

    def _words(self) -> list[tuple[str, Path]]:
        """The words of its command and arguments, as far as it says them, and their paths."""
        return [
            (str(word), (*self.path, field, index))
            for field in ("command", "args")
            for index, word in enumerate(self.body.get(field) or ())
        ]

    def _command(self, variables: set[str] | None) -> None:
        """Read the command, and the script that is passed to it."""
        self.texts = {}
        words = self._words()
        if not self.body.pop("command", None):
            self.body["command"] = None
            words.insert(0, (self._entrypoint(), self.path))
        self.body.pop("args", None)
        kind = scripts.language([word for word, _ in words])
        text, at = self.body.pop("source", None), (*self.path, "source")
        place = script_at([word for word, _ in words], kind) if text is None and kind else None
        if place is not None and not self._is_sayable(*words[place], kind):
            place, self.kept = None, True
        several = place is not None and place + 1 == len(words) and "\n" in words[place][0].strip()
        if place is not None and several and not _expanded(words[place][0], variables):
            text, at = words[place]
            said = [(without_script(word, kind), path) for word, path in words[1:place]]
            words[1:] = [(word, path) for word, path in said if word]
        elif place is not None:
            words[place] = self._script(*words[place], kind), words[place][1]
        self.words = self._said(words, variables, -1 if place is None or text is not None else place)
        if text is not None:
            self.source = self._script(undoubled(str(text)), at, kind)

    def _said(self, words: list[tuple[str, Path]], variables: set[str] | None, script: int) -> list[Render]:
        """The words of a command, or those of them that are left to Argo."""
        said = [(undoubled(word), path) for word, path in words]
        if self.kept or any(not self.sayable(word) or _expanded(word, variables) for word, _ in said):
            self.body["args"] = [word for word, _ in words[1:]]
            script, first = -1, words[0][0]
            if has_tags(first):
                self.body["command"] = [first]
            said = [(self._entrypoint() if has_tags(first) else undoubled(first), words[0][1])]
        found: list[Render] = []
        for index, (word, path) in enumerate(said):
            if index == script:
                found.append(self._exact(word))
                continue
            value = value_of(word, self, path)
            found.append(value.code if value.exact is None else self._exact(value.exact))
        return found

    def _exact(self, text: str) -> Render:
        """A literal word: one of several lines becomes a constant."""
        if text.count("\n") < _FEW:
            return constant(quoted(text))
        name = Names({one.name for one in self.target.inputs.values()} | self.texts.keys()).free("program")
        self.texts[name] = text
        return constant(name)

    def _entrypoint(self) -> str:
        """The word that represents the entrypoint of an image."""
        image = str(inside(self.target.template, self.kind).get("image", "image"))
        return _ROOT.split(image.rpartition("/")[2].partition(":")[0])[0] or "image"

    def _script(self, text: str, path: Path, kind: str) -> str:
        """A script with variables in place of the run's values."""
        taken = {str(one.get("name")) for one in entries(self.body, "env")} | self.env.keys()
        taken |= {*_USUAL} | keys(self.options.get("env")) | keys(self.options.get("secrets"))
        names = Names(taken | scripts.spoken(text, kind))
        made: dict[str, str] = {}
        for one in entries(inside(self.target.template, self.kind), "env"):
            has, value = str(one.get("name")), str(one.get("value"))
            if has in self.env and only_tag(value) and scripts.is_kept(text, kind, has):
                made.setdefault(value.strip("{} "), has)

        def name(tag: str) -> str:
            if not is_filled(tag):
                return ""
            key = tag.strip("{} ")
            if key not in made:
                wish = _variable(key)
                own = kind == "sh" and wish in names.taken and wish not in {*taken, *made.values()}
                made[key] = wish if own and scripts.is_set_to(text, wish, tag) else names.free(wish)
            return made[key]

        script = scripts.with_variables(text, kind, name)
        if isinstance(script, Refused):
            return text
        for variable, tag in script.variables.items():
            if variable in self.env:
                continue
            if self.sayable(tag):
                self.env[variable] = value_of(tag, self, path).code
            else:
                self.body["env"] = [*entries(self.body, "env"), {"name": variable, "value": tag}]
        if (given := script.variables) and not script.runs_them:
            tag = min(given.values(), key=text.find)
            self.reader.add(path, ByVariable(_shown(given.values()), _shown(given)), tag)
        return script.text

    # --- Python ---------------------------------------------------------------------------------

    def _called(self) -> Code:
        """The expression that its function returns."""
        named: dict[str, Code] = {}
        before = "".join(f"    {name} = {exactly(text)}\n" for name, text in self.texts.items())
        if self.source is not None:
            text = textwrap.dedent(self.source).strip("\n").rstrip()
            name = self.local("source", "script")
            before += f"    {name} = {block(text, '    ')}\n"
            named["source"] = name
        if self.env:
            named["env"] = mapped({name: one() for name, one in self.env.items()})
        if ("result", "") in self.target.outputs:
            named["stdout"] = "True"
        if paths := self._fixed():
            named["paths"] = mapped(paths)
        returned = "" if self.target.returns == "None" else "return "
        return before + laid(returned, call("command", *(one() for one in self.words), **named), "", "    ")

    def _moving(self) -> dict[tuple[str, str], Render]:
        """The paths of outputs that contain values of the run."""
        found: dict[tuple[str, str], Render] = {}
        for one in ports(self.template, "outputs", self.target.path):
            at = ("path",) if one.kind == "artifacts" else ("valueFrom", "path")
            path = str(inside(one.said, *at[:-1]).get("path") or "")
            if has_tags(path) and one.key not in self.target.left:
                found[one.key] = value_of(path, self, (*one.path, *at)).code
        return found

    def _fixed(self) -> dict[str, Code]:
        """The fixed paths of the program's files."""
        target = self.target
        found: dict[str, Code] = {}
        for one in ports(self.template, "inputs"):
            if one.said.get("path") and one.key in target.inputs:
                found[target.inputs[one.key].name] = quoted(str(one.said["path"]))
        for one in ports(self.template, "outputs"):
            path = one.said.get("path") or inside(one.said, "valueFrom").get("path")
            if path and one.key not in target.left:
                moving = self.moving.get(one.key)
                found[target.named(one.key)] = quoted(self._rooted(str(path))) if moving is None else moving()
        return found

    def _rooted(self, path: str) -> str:
        """The path of an output from the root of the container.

        Source: Argo Workflows, saveArtifact in cmd/argoexec/commands/emissary.go, which runs in the working directory.
        """
        workdir = str(inside(self.target.template, self.kind).get("workingDir", ""))
        if path.startswith("/") or not workdir.startswith("/") or has_tags(workdir):
            return path
        return normpath(join(workdir, path))


class Foreign(Container):
    """A body that cannot be expressed: a container stands in for it."""

    def read_body(self) -> None:
        """Leave it to Argo."""
        images = [
            str(one.get("image")) for one in (*entries(self.body, "containers"), self.body) if "image" in one
        ]
        self.options["image"] = quoted(next((one for one in images if not has_tags(one)), _UNSET))
        self.patch["container"] = None
        self.body = self.placed(self.body)
        self.left(self.kind)
        self.env, self.texts, self.words = {}, {}, [constant(quoted("true"))]
        self.moving = self._moving()
        self.lines.append(self._called)


def _expanded(word: str, variables: set[str] | None) -> bool:
    """Whether the kubelet expands `variables`, as it does in a command and not in a file; None are any."""
    named = {*_NAMED.findall(word)}
    return bool(named if variables is None else named & variables)


def _shown(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"`{one}`" for one in names)


def _variable(key: str) -> str:
    """A variable name for a value."""
    *before, last = key.lstrip("=").split(".")
    words = [*(part for part in before if part not in ("inputs", "parameters")), last]
    words = words[1:] if ".parameters." in key and words[0] == "workflow" else words
    return parameter("value" if key.startswith("=") else "_".join(words)).strip("_").upper()
