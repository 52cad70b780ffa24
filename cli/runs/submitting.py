"""`submit`: submits a pipeline, or any Argo workflow, to a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from flowdsl.cli.display.texts import line
from flowdsl.cli.pipelines.compiling import Target
from flowdsl.cli.pipelines.documents import right_documents
from flowdsl.cli.process import DONE, INTERRUPTED, REFUSED, UNKNOWN, WRONG, Refused, err, note, out, say
from flowdsl.cli.root import filled
from flowdsl.cli.runs import given, parameters
from flowdsl.grammar.names import is_label_value, is_qualified_name
from flowdsl.runtime.local.error import RunError
from flowdsl.runtime.local.prepare import chosen, named
from flowdsl.runtime.parts import part

if TYPE_CHECKING:
    from flowdsl.cli.clusters.reach import Reach
    from flowdsl.cli.runs.options import New, Submission
    from flowdsl.compiler.sweeping import Search
    from flowdsl.runtime.cluster.seam import Cluster
    from flowdsl.runtime.submit import Asked

Json = dict[str, Any]

_SHOWN = 10
"""Changes of a run by the cluster that are said."""


def submit_file(
    target: str, new: New, options: Submission, reach: Reach, goal: Target, search: Search | None = None
) -> int:
    """Submit the workflow of a file, or a sweep over it; the exit code. Raises Refused, RunError and ClusterError."""
    from flowdsl.runtime.submit import submission

    _check(options)
    right = right_documents((target,), goal, search=search, given=new.parameters)
    if right is None:
        return WRONG
    document, _ = chosen(right.meant, right.others)
    program = right.program_of(document)
    texts = given.pairs(new.parameters, "-p")
    values = parameters.remote(texts, document, program)
    run = submission(document, _asked(new, options, values.texts))
    if not options.no_check:
        parameters.judge(run, values.texts, right.every, defaults=True)
    parameters.keyed(run, values.keys)
    return _send(run, options, reach.of(target).within(run["metadata"].get("namespace")))


def submit_from(reference: str, new: New, options: Submission, reach: Reach) -> int:
    """Submit a template of the cluster; returns the exit code. Raises Refused, RunError and ClusterError."""
    from flowdsl.runtime.submit import from_template, meant, submission

    _check(options)
    kind, name = meant(reference)
    texts = parameters.untyped(new.parameters)
    asked = _asked(new, options, texts)
    cluster = reach.connect()
    template = cluster.get(kind, name)
    run = from_template(kind, template, asked)
    if not options.no_check:
        parameters.judge(submission({**template, "kind": kind.name}, asked), texts, (), defaults=True)
    run["metadata"].pop("namespace", None)
    return _send(run, options, reach, cluster)


def _check(options: Submission) -> None:
    """Refuse options that contradict each other. Raises Refused."""
    from flowdsl.cli.runs.waiting import limit_of

    limit_of(options.timeout)
    after = options.after
    if options.dry_run and after:
        raise Refused(f"--dry-run creates nothing to wait for: leave out --{after}")


def _asked(new: New, options: Submission, texts: dict[str, str]) -> Asked:
    """The options of a submission, validated as far as that needs no cluster. Raises RunError."""
    from flowdsl.runtime.submit import Asked

    labels = given.pairs(options.labels, "--label", "KEY=VALUE")
    for key, value in labels.items():
        if not is_qualified_name(key):
            raise RunError(f"--label {key}={value}: `{key}` cannot be the key of a label")
        if not is_label_value(value):
            raise RunError(f"--label {key}={value}: `{value}` cannot be the value of a label")
    filled("--id", options.id)
    return Asked(texts, "" if new.name is None else named(new.name), options.id or "", labels)


def _send(run: Json, options: Submission, reach: Reach, cluster: Cluster | None = None) -> int:
    from flowdsl.cli.clusters.reach import Found, note_submission
    from flowdsl.cli.runs.reading import machine_readable
    from flowdsl.cli.runs.waiting import detached
    from flowdsl.runtime.cluster.kinds import WORKFLOW
    from flowdsl.runtime.cluster.trouble import Unreachable

    if options.dry_run == "client":
        out(machine_readable(run, "yaml" if options.output == "name" else options.output))
        return DONE
    cluster = cluster or reach.connect()
    if not options.no_check and not _fits(cluster, run):
        err(f"nothing was created in namespace `{cluster.namespace}`; --no-check submits all the same\n")
        return REFUSED
    name = str(run["metadata"]["name"])
    unknown = f"whether the run {name} was created is unknown; see\n  flowdsl get {name}{reach.flags()}\n"
    made: Json | None = None
    try:
        made = cluster.create(WORKFLOW, run, dry_run=options.dry_run == "server")
        _beside(cluster, run, made)
        if options.dry_run:
            err(f"the server would create the run {name} in namespace `{cluster.namespace}`\n")
        else:
            note_submission(reach)
            phase = part(made, "status").get("phase")  # none of a run that was just created
            said = (
                f"submitted before, with the same --id, and {phase}," if phase and options.id else "created"
            )
            err(f"{said} in namespace `{cluster.namespace}` of {cluster.called}\n")
        if not options.dry_run or options.output != "name":
            out(machine_readable(made, options.output))
        return _after(cluster, made, options, reach)
    except KeyboardInterrupt:
        if options.dry_run:
            raise
        if made is None:
            err(f"\ninterrupted: {unknown}")
        else:
            err(f"\n{detached(Found(made, None, cluster), options.after or 'wait', reach)}")
        return INTERRUPTED
    except Unreachable as error:
        if made is not None or not error.sent or options.dry_run:
            raise
        say(str(error))
        err(unknown)
        return UNKNOWN


def _beside(cluster: Cluster, run: Json, made: Json) -> None:
    """Report warnings of the server, and its changes to the run: what was reviewed is not what runs."""
    from flowdsl.runtime.drift import altered

    for text in cluster.warnings:
        note(f"the server warns: {line(text)}")
    changed = altered(run, made)
    if changed:
        more = [f"and {len(changed) - _SHOWN} more"] if len(changed) > _SHOWN else []
        lines = [f"  {line(one)}" for one in (*changed[:_SHOWN], *more)]
        note("the cluster changed the run as it took it:", *lines)


def _after(cluster: Cluster, made: Json, options: Submission, reach: Reach) -> int:
    from flowdsl.cli.clusters.reach import Found
    from flowdsl.cli.runs.waiting import follow, late, limit_of, lost
    from flowdsl.runtime.cluster.trouble import ClusterError, Overdue, Vanished

    if not options.after:
        return DONE
    found = Found(made, None, cluster)
    try:
        if options.after == "logs":
            from flowdsl.cli.runs import logs

            cluster.policy = cluster.policy.ending(limit_of(options.timeout))
            code = logs.follow(found, reach)
            if code not in (DONE, REFUSED):  # a log that cannot be read keeps no run from its end
                return code
        return follow(found, limit_of(options.timeout), reach, options.after)
    except Overdue as error:
        return late(found, "wait", reach, error)
    except Vanished:
        raise
    except ClusterError as error:  # the run is there, whatever keeps it from being seen
        return lost(found, "wait", reach, error)


def _fits(cluster: Cluster, run: Json) -> bool:
    """Whether the cluster has what a run needs; reports what it lacks.

    What may not be read is left to the server: it is not known to be missing.
    """
    from flowdsl.runtime.needs import missing

    problems = missing(cluster, run)
    for one in problems:
        if one.weight != "unchecked":
            tell = say if one.weight == "problem" else note
            tell(one.text, *([f"  {one.remedy}"] if one.remedy else []))
    return all(one.weight != "problem" for one in problems)
