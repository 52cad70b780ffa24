"""The templates of steps: what their pods run, take and pass on."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

from flowdsl.compiler import ir, placing
from flowdsl.compiler.checks.checkpoints import kept
from flowdsl.compiler.checks.kinds import serves
from flowdsl.compiler.expressions import VOLUMES, text_of
from flowdsl.compiler.findings.data import ArchiveKeyed
from flowdsl.compiler.findings.surroundings import VariableTwice
from flowdsl.compiler.forms import (
    DIGEST,
    PLAIN,
    ROWS,
    Form,
    described,
    inputs,
    port_types,
    ports,
    reader,
    told,
    variable,
    volumes,
)
from flowdsl.compiler.lowering.distributed import refused as not_spread
from flowdsl.compiler.lowering.distributed import spread
from flowdsl.compiler.lowering.plans import CHECKPOINT
from flowdsl.compiler.naming import volume_name
from flowdsl.compiler.options import patch
from flowdsl.compiler.placing import AT, INDEX
from flowdsl.compiler.ports import CHECKPOINTS, OUT, SCRIPT, STORE, WORKERS, Writer, layout
from flowdsl.compiler.steps.command import CommandLine
from flowdsl.compiler.steps.leaves import BODIES, Asked, outputs, questions, refused
from flowdsl.compiler.steps.paths import misplaced
from flowdsl.compiler.steps.script import script
from flowdsl.compiler.steps.script_prepare import CODE, PACKAGES, prepared
from flowdsl.compiler.volumes import local
from flowdsl.diagnostic import Diagnostic
from flowdsl.places.place import Argument, Definition
from flowdsl.step import StepDef
from flowdsl.values import types as t
from flowdsl.values.expr import Const, Expr, Join, OnVolume, Param, RunField
from flowdsl.volume import Secret

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from flowdsl.compiler.carry.carry import Carried as Source
    from flowdsl.compiler.lowering.plans import CallPlan
    from flowdsl.compiler.lowering.variants import Variant, Variants
    from flowdsl.tracing.trace import Call
    from flowdsl.values.signature import Signature

_THERE = 'for path; do test -e "$path" || { echo "the step has not written $path" >&2; exit 1; }; done'

INSTALLED = "flowdsl-packages"
"""The volume on which the packages of a step are installed."""


class Written:
    """The parts of a program written so far."""

    def __init__(self) -> None:
        self.templates: list[ir.Template] = []
        self.names: set[str] = set()
        self.defined: dict[str, tuple[str, int]] = {}  # of each template of a step: where its step is defined
        self.pods: dict[str, Variant] = {}  # of each template of a step, if some are cached
        self.signatures: dict[str, Signature] = {}
        self.objectives: dict[str, tuple[str, str]] = {}
        self.best: ir.Template | None = None  # of the tasks that pick the best rows of sweeps


class Pods:
    """Writes the templates of steps."""

    def __init__(
        self, written: Written, variants: Variants, carried: Callable[[StepDef], Source | None]
    ) -> None:
        self.written = written
        self.variants = variants
        self.planner = variants.planner
        self.carried = carried

    def pod(self, plan: CallPlan) -> str:
        """The name of the template that a call runs, which is written if it does not exist yet."""
        variant = self.variants.of(plan)
        name = variant.name
        if name in self.written.names:
            return name
        self.written.names.add(name)
        definition = variant.step
        code = definition.code
        signature = definition.signature
        self.written.defined[name] = (code.co_filename, code.co_firstlineno)
        self.written.signatures[name] = signature
        if self.planner.cached and not variant.spread:
            self.written.pods[name] = variant
        setting = self.variants.setting(plan.call)
        kinds = {p.name: p.type for p in signature.parameters}
        fixed = self._fixed(plan.call, variant, setting)
        ins = self._inputs(variant, kinds, fixed)
        outs = self._outputs(plan, variant, setting, fixed)
        body: ir.Leaf
        if definition.kind in BODIES:
            forms = dict(variant.forms)
            asked = Asked(definition, setting, forms, self.planner.descriptions(definition))
            self.variants.diagnostics.extend(refused(plan.call, definition, forms))
            body, outs = BODIES[definition.kind](asked), outputs(asked)
            ins = questions(definition, ins)
        else:
            body = self._container(variant, setting, kinds)
        given = (*definition.options, *plan.call.options, *self.variants.inherited(plan.call))
        places = {option: self.variants.said(plan.call, option) for option in given}
        said = self.planner.descriptions(definition)
        if isinstance(said, CommandLine):
            places["command"] = Argument(said.site)
        place = Definition(code)
        patches = patch.of_template(plan.call)
        template = ir.Template(name, tuple(ins), tuple(outs), body, place, places, setting, patches)
        self.written.templates += self._spread(template, variant, plan.call) if variant.spread else [template]
        return name

    def _inputs(self, variant: Variant, kinds: dict[str, t.Type], fixed: dict[str, str]) -> list[ir.Input]:
        """The inputs of a step's template; `fixed` are the paths that its program has for files."""
        ins = [one for port, form in variant.forms for one in inputs(port, form, kinds[port], in_pod=True)]
        ins = described(ins, variant.step.signature)
        ins = [one._replace(path=fixed[one.name]) if one.path and one.name in fixed else one for one in ins]
        return [*ins, *hidden(bool(variant.placed), variant.counted, None if variant.always else "")]

    def _outputs(
        self, plan: CallPlan, variant: Variant, setting: ir.Settings, fixed: dict[str, str]
    ) -> list[ir.Output]:
        """The outputs of a step's template: its results, and what other tasks and the keys of caches take of it."""
        outs: list[ir.Output] = []
        results = t.outputs(variant.step.signature.returns)
        archive = self._archive(plan, variant, setting)
        if not self.planner.descriptions.variable(variant.step):
            outs.extend(self._output(out, variant, archive, fixed) for out in results)
        lists = [ROWS + out for out in sorted(variant.listed)]
        outs.extend(ir.Output(one, "parameter", f"{variant.values}/{one}") for one in lists)
        cached = self.planner.cached and not variant.spread
        if cached and variant.step.kind == "python" and variant.store is None:
            files = [DIGEST + out.name for out in results if t.holds_file(out.type)]
            outs.extend(ir.Output(one, "parameter", f"{OUT}/{one}") for one in files)
        if variant.looped:
            outs.append(ir.Output(INDEX, "parameter", value=Param(INDEX, t.TEXT)))
        return outs

    def _spread(self, template: ir.Template, variant: Variant, call: Call) -> list[ir.Template]:
        """The templates of a step that runs on several pods at once."""
        wrong = [*not_spread(call, template, variant.store is not None, self.planner.volumes.values())]
        self.variants.tell(wrong)
        if wrong:
            return [template]

        def named(part: str) -> str:
            return self.variants.names.name(f"{template.name}-{part}", f"{part} of {template.name}")

        command: tuple[str, ...] = ("python3", "-c", "pass")
        if variant.step.kind == "container":  # it returns only that it has succeeded
            there = [path for out, path in _paths(variant) if not isinstance(out.type, t.Maybe)]
            command = ("sh", "-c", _THERE, "sh", *there)
        store = variant.store and placing.mount(variant.store, variant.counted)
        store = store and store._replace(volume=volume_name(store.volume))
        found = spread(template, command, store, named)
        defined = self.written.defined[template.name]
        self.written.defined.update((one.name, defined) for one in found)
        return found

    def _container(self, variant: Variant, setting: ir.Settings, kinds: dict[str, t.Type]) -> ir.Pod:
        """The container of a step."""
        definition = variant.step
        mounts = list(setting.environment.mounts)
        for _, form in variant.forms:
            for volume in () if form is PLAIN else volumes(form):
                mount = ir.Mount(volume, f"{VOLUMES}/{volume}", None, True)
                if mount not in mounts:
                    mounts.append(mount)
        if CHECKPOINT in variant.placed:
            mounts.append(self._checkpoint(variant, variant.plans[0].call))
        if variant.store is not None:
            mounts.append(placing.mount(variant.store, variant.counted))
        mounts.extend(_code_mounts(setting.code))
        if definition.kind == "container":
            command, env, source = self._command(variant)
        else:
            command = (Const("python3", t.TEXT),)
            env = _variables(variant.forms, kinds)
            later = self.planner.cached and not variant.spread  # when it is known which digests a key needs
            source = "" if later else self.source(variant, setting, ())
        self.variants.tell(self._set_twice(variant, [name for name, _ in env], setting))
        settled: tuple[tuple[str, Any], ...] = tuple(
            (key, Const(value, t.TEXT) if isinstance(value, str) else value)
            for key, value in setting.environment.env
        )
        return ir.Pod(
            command,
            source,
            (*env, *settled),
            tuple(mount._replace(volume=volume_name(mount.volume)) for mount in mounts),
            definition.kind == "container" and self._writes(variant),
            (*local(setting), *([ir.PodVolume(INSTALLED, "scratch")] if setting.code.packages else [])),
            typed=definition.kind == "python",
        )

    def _set_twice(self, variant: Variant, names: list[str], setting: ir.Settings) -> Iterator[Diagnostic]:
        """The variables in the options of a step that its inputs, its command or another option set, too."""
        python = variant.step.kind == "python"
        taken = dict.fromkeys(names, "an input of the step" if python else "`env` of its `command`")
        if python and variant.spread:
            taken[SCRIPT] = "its script"
        for name, value in setting.environment.env:
            option = "secrets" if isinstance(value, Secret) else "env"
            if name in taken:
                place = self.variants.said(variant.plans[0].call, option)
                if isinstance(place, Argument):
                    place = place._replace(part=f"key:{name}")
                own = python and (name in names or name == SCRIPT)
                yield Diagnostic(VariableTwice(name, option, taken[name], own), place)
            taken.setdefault(name, f"`{option}`")

    def _checkpoint(self, variant: Variant, call: Call) -> ir.Mount:
        """The folder of a task's checkpoints, by its run and its place there, so that each attempt finds it."""
        found = kept(call, self.variants.owner, self.variants.profile)
        assert found is not None, "checked before"
        volume, folder = found
        self.planner.volume(volume)
        tail = (Param(INDEX, t.TEXT),) if variant.counted else ()
        head = f"{folder}/" if folder else ""
        path = Join((head, RunField("name"), "/", Param(AT, t.TEXT), *tail))
        return ir.Mount(volume.name, CHECKPOINTS, path)

    def _writes(self, variant: Variant) -> bool:
        """Whether a container step writes outputs to the folder of outputs."""
        if self.planner.descriptions.variable(variant.step):
            return False
        fixed = self._said_paths(variant)
        return any(path.startswith(OUT) for out, path in _paths(variant) if out.name not in fixed)

    def _said_paths(self, variant: Variant) -> dict[str, str]:
        said = self.planner.descriptions(variant.step) if variant.step.kind == "container" else None
        return said.fixed(dict(variant.forms)) if isinstance(said, CommandLine) else {}

    def _archive(self, plan: CallPlan, variant: Variant, setting: ir.Settings) -> dict[str, str | int]:
        """How the files of a step are compressed, by output; those that are read by their key are not."""
        if not setting.files.archive:
            return {}
        archive = dict(setting.files.archive)
        for name in sorted(variant.placed - {CHECKPOINT, WORKERS} if variant.store is None else ()):
            given = name if name in archive else ""
            if archive.get(given, "none") != "none":
                site = plan.call.override if "archive" in plan.call.options else variant.step.site
                place = Argument(
                    site or variant.step.site, "archive", part=f"item:{given}" if given else "value"
                )
                told = any(one.place == place for one in self.variants.diagnostics)
                if not told:  # for another file of the step
                    self.variants.tell([Diagnostic(ArchiveKeyed(variant.step.name, name), place)])
        return archive

    def _fixed(self, call: Call, variant: Variant, setting: ir.Settings) -> dict[str, str]:
        """The paths that the program of a step has for its files; reports what cannot be there."""
        said = self.planner.descriptions(variant.step)
        if not isinstance(said, CommandLine) or not said.paths:
            return {}
        mounted = frozenset(mount.path for mount in setting.environment.mounts)
        found = misplaced(call, said.paths, dict(variant.forms), mounted, variant.store is not None)
        self.variants.tell(found)
        return said.fixed(dict(variant.forms))

    def _output(
        self, out: t.Output, variant: Variant, archive: dict[str, str | int], fixed: dict[str, str]
    ) -> ir.Output:
        path = fixed.get(out.name, f"{variant.values}/{out.name}")
        if not t.holds_file(out.type):
            return ir.Output(out.name, "parameter", path)
        optional = isinstance(out.type, t.Maybe) and layout(out.type) == "file"
        if variant.store is not None:
            volume = self.planner.volumes[variant.store.volume]
            place = OnVolume(volume, placing.path(variant.store, out.name, variant.counted))
            return ir.Output(out.name, "parameter", value=place)
        placed = out.name in variant.placed
        packed = "none" if placed else archive.get(out.name, archive.get(""))
        # A store has nothing of an empty folder that is not packed; the end of the script checks that there is a file.
        optional |= packed == "none" and variant.step.kind == "python"
        if not placed:
            return ir.Output(out.name, "artifact", path, optional=optional, archive=packed)
        key = placing.key(out.name, variant.counted, variant.cached)
        return ir.Output(out.name, "key", path, key, optional=optional, kept=variant.cached)

    def source(self, variant: Variant, setting: ir.Settings, outputs: Collection[str]) -> str:
        """The script of a step; it writes those digests of files that are among the outputs."""
        definition = variant.step
        carried = self.carried(definition)
        if carried is None:
            return ""
        kinds = {p.name: p.type for p in definition.signature.parameters}
        readers = [(name, reader(name, form, kinds[name])) for name, form in variant.forms]
        packed = dict(setting.files.archive) if variant.store is None else {}
        names = (out.name for out, _ in _paths(variant) if out.name not in variant.placed)
        zipped = {name for name in names if packed.get(name, packed.get("")) == "zip"}
        writers = [
            Writer(
                out.name,
                out.keys,
                out.type,
                path,
                path.startswith(STORE),
                f"{OUT}/{DIGEST}{out.name}" if DIGEST + out.name in outputs else "",
                f"{variant.values}/{ROWS}{out.name}" if out.name in variant.listed else "",
                tuple(sorted(how for name, how in variant.taken if name == out.name)),
                out.name in zipped,
            )
            for out, path in _paths(variant)
            if not serves(definition)
        ]
        text = script(carried, readers, writers, first=variant.spread)
        starts = variant.spread and not setting.distributed.launched
        return prepared(text, definition.name, setting.code, spread=starts)

    def _command(self, variant: Variant) -> tuple[tuple[Expr, ...], tuple[tuple[str, Expr], ...], str | None]:
        said = self.planner.descriptions(variant.step)
        if not isinstance(said, CommandLine):
            return (), (), None
        forms = dict(variant.forms)
        command, env, source = said.bound(
            forms, {out.name: Const(path, t.TEXT) for out, path in _paths(variant)}
        )
        return command, env, None if source is None else dedent(text_of(source, t.TEXT)).lstrip("\n")


def _paths(variant: Variant) -> list[tuple[t.Output, str]]:
    """Where in its pod a step writes its outputs."""
    if variant.paths is None:
        variant.paths = [
            (
                out,
                f"{STORE if variant.store is not None and t.holds_file(out.type) else variant.values}/{out.name}",
            )
            for out in t.outputs(variant.step.signature.returns)
        ]
    return variant.paths


def _variables(forms: tuple[tuple[str, Form], ...], kinds: dict[str, t.Type]) -> tuple[tuple[str, Expr], ...]:
    """The environment variables that pass parameters to a Python step."""
    found: list[tuple[str, Expr]] = []
    for name, form in forms:
        if form is PLAIN:
            found.append((variable(name), Param(name, kinds[name])))
            continue
        types = dict(zip((port for port, _ in ports(name, form)), port_types(form, kinds[name]), strict=True))
        keys = told(name, form)
        for port, kind in ports(name, form):
            if (kind == "parameter" and not port.startswith(DIGEST)) or port in keys:
                found.append((variable(port), Param(port, types[port])))
    return tuple(found)


def _code_mounts(code: ir.Code) -> list[ir.Mount]:
    """The mounts of a step's own modules, and of the folder that its packages are installed in."""
    found = [ir.Mount(INSTALLED, PACKAGES)] if code.packages else []
    if code.volume is not None:
        found.append(ir.Mount(code.volume.name, CODE, code.folder or None, True))
    return found


def hidden(at: bool, index: bool, default: str | None = None) -> list[ir.Input]:
    """The inputs for the place in the run and the index of the item, if a template has them."""
    found = [ir.Input(AT, "parameter")] if at else []
    return [*found, ir.Input(INDEX, "parameter", default=default)] if index else found
