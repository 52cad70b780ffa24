"""The templates that the calls of a step need: one for each combination of options, forms and stores."""

from __future__ import annotations

import functools
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from flowdsl.compiler import ir
from flowdsl.compiler.checks.checkpoints import apart
from flowdsl.compiler.forms import Form, spelled, undigested
from flowdsl.compiler.lowering.plans import CHECKPOINT
from flowdsl.compiler.naming import Templates
from flowdsl.compiler.options import KINDS as OPTIONS
from flowdsl.compiler.options import applicable, inherited, patch, settings
from flowdsl.compiler.ports import OUT, STORE, WORKERS
from flowdsl.compiler.volumes import environments
from flowdsl.diagnostic import Diagnostic
from flowdsl.pipeline import PipelineDef
from flowdsl.places.place import Argument, Place
from flowdsl.step import StepDef
from flowdsl.values import types as t
from flowdsl.volume import Volume

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flowdsl.compiler.lowering.plan import Planner
    from flowdsl.compiler.lowering.plans import CallPlan, GraphPlan
    from flowdsl.compiler.options import Declared
    from flowdsl.compiler.ports import Taken
    from flowdsl.compiler.profile import Profile
    from flowdsl.tracing.trace import Call


class Variant:
    """One template of a step: what distinguishes it from the others, and the combined needs of its calls.

    An additional call rarely needs another template.
    """

    __slots__ = (
        "always",
        "cached",
        "counted",
        "forms",
        "listed",
        "looped",
        "name",
        "options",
        "paths",
        "placed",
        "plans",
        "step",
        "store",
        "taken",
    )

    def __init__(
        self, step: StepDef, options: str, forms: tuple[tuple[str, Form], ...], store: ir.Store | None
    ) -> None:
        self.step = step
        self.options = options
        self.forms = forms
        self.store = store
        self.name = ""
        self.plans: list[CallPlan] = []
        self.placed: set[str] = set()
        self.listed: set[str] = set()
        self.taken: set[tuple[str, Taken]] = set()
        self.paths: list[tuple[t.Output, str]] | None = None
        self.cached = False
        self.looped = False  # outputs the index of the item
        self.counted = False  # has an input for it
        self.always = True  # from every call

    @property
    def spread(self) -> bool:
        """Whether it runs on several pods at once."""
        return WORKERS in self.placed

    @property
    def values(self) -> str:
        """The folder for the values that it returns: on the volume if other pods than Argo's write them."""
        return STORE if self.spread and self.store is not None else OUT


class Variants:
    """The variants of the steps of one program, with their names, and the names of its graphs."""

    def __init__(self, planner: Planner, owner: PipelineDef, declared: Declared, profile: Profile) -> None:
        self.planner = planner
        self.owner = owner
        self.declared = declared
        self.profile = profile
        self.diagnostics: list[Diagnostic] = []
        self.names = Templates()
        self.graphs: dict[int, str] = {}
        self._known: dict[tuple[Any, ...], Variant] = {}
        self._of: dict[int, Variant] = {}  # by the id of the plan of a call
        self._alike: dict[str, list[StepDef | PipelineDef]] = {}
        self._settings: dict[Any, ir.Settings] = {}
        self._defaults: dict[int, dict[str, Any]] = {}
        self._usual = shared = inherited(owner, owner)
        for graph in planner.trace.graphs.values():
            found = inherited(graph.owner, owner)
            self._defaults[id(graph.owner)] = shared if found == shared else found

    def reserve(self, roots: list[GraphPlan]) -> None:
        """Assign names to the templates of steps: the declared options keep the plain name."""
        graphs = [one for root in roots for one in self._met(root)]
        for variant in self._known.values():
            for call in variant.plans:
                call.placed = variant.placed
        for plan in graphs:
            for call in plan.calls:
                if call.sub is None:
                    variant = self.of(call)
                    looped = call.call.loop is not None and not call.around
                    counted = looped or (plan.looped and bool(variant.placed))
                    variant.looped |= looped
                    variant.counted |= counted
                    variant.always &= counted
        for variant in sorted(self._known.values(), key=lambda variant: variant.options != ""):
            forms = " ".join(f"{name}:{spelled(form)}" for name, form in variant.forms)
            store = variant.store or ""
            step = f"{variant.step.plain.__qualname__}{self._apart(variant.step)}"
            difference = f"step {step} {variant.options} {forms}{store}"
            variant.name = self.names.name(variant.step.name, difference)

    def _met(self, plan: GraphPlan) -> list[GraphPlan]:
        """A graph and those inside it, each once; notes the templates of their steps."""
        graphs = [plan]
        for call in plan.calls:
            target, sub = call.call.target, call.sub
            if isinstance(target, StepDef):
                variant = self.of(call)
                variant.plans.append(call)
                variant.placed |= call.placed
                variant.listed |= call.listed
                variant.taken |= call.taken
                if id(call.call) in self.planner.cached:
                    from flowdsl.compiler.lowering.memo import judged

                    variant.cached = True
                    said = functools.partial(self.said, call.call)
                    asked = self.setting(call.call)
                    self.tell(judged(call, asked, variant.forms, self.planner.cached, said))
                    variant.placed |= {
                        out.name for out in t.outputs(target.signature.returns) if t.holds_file(out.type)
                    }
            elif sub is not None and id(sub) not in self.graphs:
                own = f"{sub.own.spelled}{sub.store or ''}"
                forms = " ".join(f"{name}:{spelled(form)}" for name, form in sub.forms.items())
                difference = (
                    f"pipeline {target.name}{self._apart(target)} {forms} {sub.looped}{sub.body}{own}"
                )
                self.graphs[id(sub)] = self.names.name(target.name, difference)
                graphs += self._met(sub)
        return graphs

    def tell(self, found: Iterable[Diagnostic]) -> None:
        """Add findings, without duplicates: another variant may have the same."""
        self.diagnostics.extend(one for one in found if one not in self.diagnostics)

    def _apart(self, definition: StepDef | PipelineDef) -> str:
        """What distinguishes a step or pipeline from others of its name; empty for the first of them."""
        alike = self._alike.setdefault(definition.plain.__qualname__, [])
        if not any(one is definition for one in alike):
            alike.append(definition)
        if alike[0] is definition:
            return ""
        at = next(at for at, one in enumerate(alike) if one is definition)
        files = [PurePath(one.code.co_filename).stem for one in alike]  # the file name is the same everywhere
        return f" of {files[at]} {files[:at].count(files[at])}"

    def of(self, plan: CallPlan) -> Variant:
        """The variant of its step that a call runs."""
        known = self._of.get(id(plan))
        if known is None:
            call = plan.call
            step = call.target
            assert isinstance(step, StepDef)
            forms = tuple([(p.name, plan.given[p.name].form) for p in step.signature.parameters])
            if self.planner.cached and id(call) not in self.planner.cached:
                forms = tuple([(name, undigested(form, [])[0]) for name, form in forms])
            options = ""
            if call.options or self.inherited(call) is not self._usual:
                options = patch.own(call)
                if (asked := self.setting(call)) != self._plain(step):
                    options += _spelled(asked)
            if CHECKPOINT in plan.placed:
                options += apart(call, self.owner)
            key = id(step), options, forms, plan.store
            known = self._known.get(key)
            if known is None:
                known = self._known[key] = Variant(step, options, forms, plan.store)
            self._of[id(plan)] = known
        return known

    def setting(self, call: Call) -> ir.Settings:
        """The settings for a call of a step: its own options, those of the call and of the pipelines around."""
        definition = call.target
        assert isinstance(definition, StepDef)
        defaults = self._defaults[id(call.graph.owner)]
        key = (id(definition), id(call.options) if call.options else 0, id(defaults))
        known = self._settings.get(key)
        if known is None:
            # Errors in them were reported by the checks.
            known, _ = self.declared(definition)
            if call.options or defaults:
                own = call.all_options
                merged = {**applicable(defaults, definition, own), **own}
                place = functools.partial(Argument, call.site)
                kind = definition.kind
                known, _ = settings(merged, place, tuple(OPTIONS[kind]), kind, self.profile)
            self._settings[key] = known
            for environment in environments(known):
                for volume in environment.volumes:
                    if isinstance(volume, Volume):
                        self.planner.volume(volume)
            if known.code.volume is not None:
                self.planner.volume(known.code.volume)
        return known

    def _plain(self, step: StepDef) -> ir.Settings:
        """The settings of a call without options in the pipeline of the run."""
        defaults = applicable(self._usual, step, step.options)
        if not defaults:
            return self.declared(step)[0]
        merged = {**defaults, **step.options}
        return settings(merged, step.option, tuple(OPTIONS[step.kind]), step.kind, self.profile)[0]

    def inherited(self, call: Call) -> dict[str, Any]:
        """The options that the pipeline of a call sets for its steps; if it adds none, those of the run."""
        return self._defaults[id(call.graph.owner)]

    def said(self, call: Call, option: str) -> Place:
        """Where an option of a call was written: at the call, at its step, or at a pipeline."""
        if option in call.options and call.override is not None:
            return Argument(call.override, option)
        for definition in (call.target, call.graph.owner):
            if option in definition.options:
                return definition.option(option)
        return self.owner.option(option)


def _spelled(settings: ir.Settings) -> str:
    """Settings as text that distinguishes templates of a step; an option that nobody wrote adds nothing."""
    usual = ir.Settings()._asdict()
    written = (
        f"{name}={value!r}"
        for concern, found in settings._asdict().items()
        for name, value in found._asdict().items()
        if value != getattr(usual[concern], name)
    )
    return " ".join(written)
