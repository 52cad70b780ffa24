"""Lowering: from the plans of a pipeline's graphs to the templates of a program.

The second pass. Each call finds its template by what makes templates differ (options, the forms of its
arguments, which files need a key); templates are written in the order in which the pipeline meets them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flowdsl.compiler import ir
from flowdsl.compiler.encode import choices
from flowdsl.compiler.expressions import text_of
from flowdsl.compiler.forms import handed
from flowdsl.compiler.lowering.after_cache_hits import attached
from flowdsl.compiler.lowering.allowed_failures import borne
from flowdsl.compiler.lowering.graphs import Graphs
from flowdsl.compiler.lowering.pods import Pods, Written
from flowdsl.compiler.lowering.registries import pulled
from flowdsl.compiler.lowering.variants import Variants
from flowdsl.compiler.naming import slug
from flowdsl.compiler.options import pipeline_options
from flowdsl.compiler.volumes import claims
from flowdsl.places.place import Definition
from flowdsl.values.lift import default_of
from flowdsl.values.signature import MISSING, Parameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from flowdsl.compiler.carry.carry import Carried as Source
    from flowdsl.compiler.lowering.plan import Planner
    from flowdsl.compiler.lowering.plans import GraphPlan
    from flowdsl.compiler.options import Declared
    from flowdsl.compiler.profile import Profile
    from flowdsl.step import StepDef
    from flowdsl.values.expr import Expr


class Lowering:
    """Compiles the program of a root pipeline; `diagnostics` are the errors found."""

    def __init__(
        self,
        planner: Planner,
        root: GraphPlan,
        carried: Callable[[StepDef], Source | None],
        declared: Declared,
        profile: Profile,
    ) -> None:
        self.planner = planner
        self.root = root
        self.carried = carried
        self.profile = profile
        self.written = Written()
        self.variants = Variants(planner, root.owner, declared, profile)
        self.pods = Pods(self.written, self.variants, carried)
        self.graphs = Graphs(self.written, self.variants, self.pods)
        self.diagnostics = self.variants.diagnostics

    def program(self) -> ir.Program:
        """The program."""
        owner = self.root.owner
        options, _ = pipeline_options(owner.options, owner.option)
        name = slug(str(options.get("name", owner.name)))
        entry, leave = self._graphs()
        if self.planner.cached:
            self._cache(name)
        templates = self.completed(self.written.templates)
        # Graphs in the order they are reached, then steps as they are defined: one more call moves no template.
        graphs = [one for one in templates if isinstance(one.body, ir.Graph)]
        pods = [one for one in templates if not isinstance(one.body, ir.Graph)]
        pods.sort(key=lambda one: (self.written.defined.get(one.name, ("~", 0)), one.name))
        if self.profile.namespace is not None:
            options["namespace"] = self.profile.namespace
        parameters, artifacts = self._arguments()
        return ir.Program(
            name,
            entry,
            tuple(parameters),
            (*graphs, *(pulled(one, self.profile) for one in pods)),
            claims(self.planner.volumes.values(), self.profile.claim),
            options,
            Definition(owner.code),
            {option: owner.option(option) for option in owner.options},
            tuple(artifacts),
            leave,
            signature=owner.signature,
            objectives=tuple((template, *one) for template, one in self.written.objectives.items()),
            signatures=self.written.signatures,
        )

    def completed(self, templates: list[ir.Template]) -> list[ir.Template]:
        """The templates, with the tasks that Argo needs at the beginnings and ends of graphs.

        They count when a large graph is split, and its groups may need more of them.
        """
        return attached(borne(templates, self.variants.names.name("succeed", "ends of graphs")))

    def _graphs(self) -> tuple[str, str | None]:
        """Write the graph at which a run begins, and the one at its end, if there is one; their names."""
        owner, names = self.root.owner, self.variants.names
        roots = {names.name(owner.name, f"pipeline {owner.name}"): self.root}
        ending = self.planner.ending(self.root)
        if ending is not None:
            roots[names.name(f"{owner.name}-exit", f"exit {owner.name}")] = ending
        self.variants.graphs.update((id(plan), name) for name, plan in roots.items())
        self.variants.reserve(list(roots.values()))
        for name, plan in roots.items():
            self.graphs.graph(plan, name)
        if self.written.best is not None:
            self.written.templates.append(self.written.best)
        entry, *leave = roots
        return entry, leave[0] if leave else None

    def _arguments(self) -> tuple[list[ir.Parameter], list[tuple[str, Expr]]]:
        """The parameters of a run, and its input files."""
        parameters: list[ir.Parameter] = []
        artifacts: list[tuple[str, Expr]] = []
        for one in self.root.owner.signature.parameters:
            files = self.planner.defaults.get(one.name)
            if files is None:
                parameters.append(ir.Parameter(one.name, _default(one), one.about, choices(one.type)))
                continue
            for given in handed(one.name, files):
                if given.kind == "artifact":
                    artifacts.append((given.name, given.value))
                else:
                    text = text_of(given.value, given.type)
                    parameters.append(ir.Parameter(given.name, text, one.about, choices(given.type)))
        return parameters, artifacts

    def _cache(self, pipeline: str) -> None:
        """Determine the cache keys of results, and write the scripts, which output the digests that a key needs."""
        from flowdsl.compiler.lowering.memo import completed, memo, pruned

        made: list[ir.Template] = []
        for one in self.written.templates:
            variant = self.written.pods.get(one.name)
            source = self.carried(variant.step) if variant is not None else None
            found = memo(pipeline, one, variant.step, variant.forms, source) if variant is not None else None
            made.append(one._replace(memo=found))
        self.written.templates = [completed(one) for one in pruned(made)]
        for position, one in enumerate(self.written.templates):
            variant = self.written.pods.get(one.name)
            if variant is not None and variant.step.kind == "python" and isinstance(one.body, ir.Pod):
                script = self.pods.source(variant, one.settings, {out.name for out in one.outputs})
                self.written.templates[position] = one._replace(body=one.body._replace(source=script))


def _default(parameter: Parameter) -> str | None:
    if parameter.default is MISSING:
        return None
    return text_of(default_of(parameter), parameter.type)
