"""What a user puts on top of what is written, merged into it: the last thing that happens to a manifest.

Dicts are merged; lists whose entries have names are merged by name, other lists are replaced; None takes a field
away. The merged manifest meets the same schema and rules as any other, with places in the user's dict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.compiler.argo.provenance import EMITTER, PIPELINE, SOURCE
from flowdsl.compiler.argo.provenance import SPEC as SPEC_DIGEST
from flowdsl.compiler.findings.objects import OwnField
from flowdsl.compiler.kinds import BODIES, CONTAINER_BODIES, GRAPH_BODIES
from flowdsl.compiler.schema.table import fields, is_type, rules
from flowdsl.compiler.tree import is_list, is_mapping
from flowdsl.diagnostic import Diagnostic
from flowdsl.grammar.named import NamedTuple
from flowdsl.places.place import Argument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from flowdsl.compiler.argo.origins import Json, Origins
    from flowdsl.compiler.tree import Path
    from flowdsl.places.place import Place


class Target(NamedTuple):
    """What can be patched: its type in the schema, and what flowdsl relies on.

    `fixed` fields belong to flowdsl, with what determines them in the language. Those that are `kept` must not be
    changed, but may be extended.
    """

    type: str
    fixed: Mapping[Path, str]
    kept: frozenset[Path] = frozenset()


_CALLS = "the body of the pipeline"
TEMPLATE = Target(
    "Template",
    {
        ("name",): "the name of the step",
        ("dag",): _CALLS,
        ("steps",): _CALLS,
        ("script", "source"): "the function of the step",
    },
    frozenset(
        {
            ("inputs",),
            ("outputs",),
            ("volumes",),
            *((body, field) for body in CONTAINER_BODIES for field in ("env", "volumeMounts")),
        }
    ),
)
TASK = Target(
    "DAGTask",
    {
        ("name",): "the variable of the result, or `name=`",
        **dict.fromkeys((("template",), ("templateRef",), ("inline",)), "the step that is called"),
        **dict.fromkeys((("depends",), ("dependencies",)), "what the call takes, and `after=`"),
        ("when",): "`when`, `unless` and `otherwise`",
        **dict.fromkeys((("withItems",), ("withParam",), ("withSequence",)), "`fan_out` and `sweep`"),
    },
    frozenset({("arguments",)}),
)
SPEC = Target(
    "WorkflowSpec",
    {("entrypoint",): "the pipeline"},
    frozenset({("arguments",), ("templates",), ("volumes",)}),
)
#: What a pipeline may redefine in a task, by its path in the spec: in Argo's expressions, of which flowdsl has a part.
_ANEW = frozenset(
    (*("templates", "dag", "tasks"), *field) for field in (("depends",), ("arguments", "parameters", "value"))
)
REFERRING = SPEC._replace(fixed={})
"""A spec whose runs use a template of the cluster, and may start with any of its templates."""

METADATA = Target(
    "ObjectMeta",
    {
        **dict.fromkeys((("name",), ("generateName",)), "`name=` of the pipeline"),
        **dict.fromkeys((("labels", PIPELINE), ("labels", SPEC_DIGEST)), "the pipeline"),
        **dict.fromkeys((("annotations", SOURCE), ("annotations", EMITTER)), "the pipeline"),
    },
    frozenset({("labels",), ("annotations",)}),
)
CRON = Target("CronWorkflowSpec", {("workflowSpec",): "the pipeline"})

#: One may be changed, and only a container may be replaced by another body.
_BODIES = frozenset(BODIES) - GRAPH_BODIES


class Patcher:
    """Merges patches into one manifest, and reports what they must not touch."""

    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.refused: list[Diagnostic] = []

    def merge(
        self, holder: Json, patch: Mapping[str, Any], target: Target, place: Place, path: Path = ()
    ) -> None:
        """Merge a patch; `place` is that of the option, and `path` leads from there to the patch."""
        if patch:
            _Merge(self, target, place, path).into(holder, patch, target.type, (), False)


class _Merge:
    """The merge of one patch into its target. Paths begin there, with the indices of the patch's lists."""

    def __init__(self, patcher: Patcher, target: Target, place: Place, before: Path) -> None:
        self.patcher = patcher
        self.origins = patcher.origins
        self.target = target
        self.place = place
        self.before = before
        self.replaced = False  # whether another body replaces a container

    def into(self, holder: Json, patch: Mapping[str, Any], kind: str, path: Path, kept: bool) -> None:
        known = fields(kind) if kind and is_type(kind) else None
        if not path and self.target is TEMPLATE and "container" in holder:
            self.replaced = any(patch.get(body) is not None for body in _BODIES if body != "container")
        for key, value in patch.items():
            here = (*path, key)
            if here in self.target.fixed:
                self.refuse(here, self.target.fixed[here], "key")
                continue
            kind_of = kind[4:] if kind.startswith("map:") else (known or {}).get(key, "")
            inner = kept or here in self.target.kept
            old = holder.get(key)
            if value is None:
                self.remove(holder, key, here, inner, known)
            elif is_mapping(value) and is_mapping(old):
                self.into(old, value, kind_of, here, inner)
            elif is_list(value) and is_list(old):
                keys = rules(kind).get(key, {}).get("keys") if known is not None else None
                self.lists(holder, key, value, keys or {"name": None}, kind_of, here, inner)
            elif inner and old is not None and old != value and not self.is_anew(here):
                self.refuse(here, "", "value")
            else:
                self.put(holder, key, value, here)

    def is_anew(self, path: Path) -> bool:
        """Whether the value at a path may be redefined."""
        return (
            self.target.type == SPEC.type and tuple(part for part in path if isinstance(part, str)) in _ANEW
        )

    def lists(
        self,
        holder: Json,
        key: str,
        value: list[Any],
        keys: Mapping[str, Any],
        kind: str,
        path: Path,
        kept: bool,
    ) -> None:
        """Merge lists by the keys of their entries; without such keys, the new list replaces the old."""
        old: list[Any] = holder[key]
        known, given = _told(old, keys), _told(value, keys)
        if not known or not given:
            if kept and old and old != value:
                self.refuse(path, "", "value")
            else:
                self.put(holder, key, value, path)
            return
        for index, (name, entry) in enumerate(zip(given, value, strict=True)):
            here = (*path, index)
            if name in known:
                self.into(old[known.index(name)], entry, kind.removeprefix("list:"), here, kept)
            else:
                old.append(self.copy(entry, here))
                self.note(old, len(old) - 1, here)

    def remove(self, holder: Json, key: str, path: Path, kept: bool, known: Mapping[str, str] | None) -> None:
        if key in holder:
            body = len(path) == 1 and key in _BODIES and not (self.replaced and key == "container")
            if kept or body:
                self.refuse(path, "the step" if body else "", "value")
                return
            del holder[key]
            self.note(holder, key, path)
        elif known is not None and key not in known:
            holder[key] = None  # so that the schema reports an unknown field
            self.note(holder, key, path)

    def put(self, holder: Json, key: str, value: Any, path: Path) -> None:
        holder[key] = self.copy(value, path)
        self.note(holder, key, path)

    def copy(self, value: Any, path: Path) -> Any:
        """A copy of a value of the patch for the manifest, with the places of its parts noted."""
        if is_mapping(value):
            found: Json = {}
            for key, one in value.items():
                if one is not None:
                    found[key] = self.copy(one, (*path, key))
                    self.note(found, key, (*path, key))
            return found
        if is_list(value):
            listed = [self.copy(one, (*path, index)) for index, one in enumerate(value)]
            for index in range(len(listed)):
                self.note(listed, index, (*path, index))
            return listed
        return value

    def note(self, holder: Json | list[Any], key: str | int, path: Path) -> None:
        self.origins.note(holder, key, self.at(path))

    def at(self, path: Path, part: str = "value") -> Place:
        if not isinstance(self.place, Argument):
            return self.place
        return self.place._replace(part=part, path=(*self.before, *path))

    def refuse(self, path: Path, way: str, part: str) -> None:
        said = ".".join(map(str, path))
        self.patcher.refused.append(Diagnostic(OwnField(said, way), self.at(path, part)))


def _told(entries: list[Any], keys: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The keys of the entries of a list; empty if some entry lacks one."""
    found: list[tuple[Any, ...]] = []
    for entry in entries:
        if not is_mapping(entry):
            return []
        values = tuple(entry.get(key, usual) for key, usual in keys.items())
        if not all(isinstance(value, (str, int)) for value in values):
            return []
        found.append(values)
    return found
