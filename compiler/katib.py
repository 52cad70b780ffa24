"""A sweep from the command line as an Experiment of Katib, whose controller draws the points and starts the trials.

Each trial is a Workflow. Its last pod prints the metric, and is the one into which Katib puts what collects it.
Source: Katib 0.19, the validator of Experiments and the search algorithms' services.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

from flowdsl.compiler.argo.provenance import SPEC, sealed
from flowdsl.compiler.compile import compile_loaded
from flowdsl.compiler.encode import encode
from flowdsl.compiler.sweeping import WrongSearch, goal_of, named, trial
from flowdsl.points.draw import multiples
from flowdsl.values import types as t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flowdsl.compiler.compile import Compiled
    from flowdsl.compiler.load import Loaded
    from flowdsl.compiler.profile import Profile
    from flowdsl.compiler.sweeping import Search, Tried

Json = dict[str, Any]

LABELS = {"katib.kubeflow.org/metric": "true"}
"""The labels of the pod that prints the metric."""

LONGEST = 40
"""Maximum number of characters of an Experiment's name."""

# A trial ends as its Workflow does. GJSON compares strings in character order, and no other phase of Argo is
# between these two; `Error` ends a Workflow, too, which Katib's example omits.
_SUCCEEDED = 'status.[@this].#(phase=="Succeeded")#'
_FAILED = 'status.[@this].#(phase>="Error")#|#(phase<="Failed")#'


def experiment(loaded: Loaded, name: str | None, search: Search, profile: Profile) -> tuple[Loaded, Compiled]:
    """Compile a sweep over the pipeline or step of that name to an Experiment, if the sweep itself is valid.

    Also returns the file of a trial. Raises WrongSearch for what Katib cannot do, and what `compile_loaded` raises.
    """
    if search.search_image is not None:
        raise WrongSearch("Katib brings the image of its search: leave out --search-image")
    made, spaces = trial(loaded, name, search, LABELS)
    method = search.search or ("grid" if search.trials is None else "random")
    parameters = [_parameter(one, method) for one in spaces]
    compiled = compile_loaded(made, kind="workflow", profile=profile)
    if compiled.failed:
        return made, compiled
    [workflow] = compiled.documents
    metadata = workflow["metadata"]
    known = metadata.pop("generateName").removesuffix("-")
    if len(known) > LONGEST or not known[0].isalpha():
        raise WrongSearch(
            f"Katib takes a name of at most {LONGEST} characters that begins with a letter, and not `{known}`: "
            'name the pipeline, @pipeline(name="...")'
        )
    _ask(workflow["spec"]["arguments"]["parameters"], spaces)
    metric, goal = goal_of(search.metric)
    trials = search.trials or math.prod(map(_size, spaces))
    document = {
        "apiVersion": "kubeflow.org/v1beta1",
        "kind": "Experiment",
        "metadata": {"name": known, **metadata},
        "spec": {
            "objective": {
                "type": "maximize" if goal == "max" else "minimize",
                "objectiveMetricName": named(metric),
            },
            "algorithm": _algorithm(method, search.seed or 0),
            "parallelTrialCount": min(search.parallel or trials, trials),
            "maxTrialCount": trials,
            # With as many failures the Experiment has failed: fewer than `min_success` can still be usable.
            "maxFailedTrialCount": trials - (search.min_success or 1) + 1,
            "parameters": parameters,
            "metricsCollectorSpec": {"collector": {"kind": "StdOut"}},
            "trialTemplate": {
                "retain": True,
                "primaryPodLabels": LABELS,
                "primaryContainerName": "main",
                "successCondition": _SUCCEEDED,
                "failureCondition": _FAILED,
                "trialParameters": [{"name": one.name, "reference": one.name} for one in spaces],
                "trialSpec": {**workflow, "metadata": _of_trials(metadata)},
            },
        },
    }
    return made, compiled._replace(text=sealed(document), documents=[document])


def _of_trials(metadata: Json) -> Json:
    """The metadata of the Workflows: Katib sets their name, and the namespace of the Experiment."""
    return {"labels": {key: value for key, value in metadata["labels"].items() if key != SPEC}}


def _ask(parameters: Sequence[Json], spaces: Sequence[Tried]) -> None:
    """Give the Workflow of a trial Katib's placeholders: Katib replaces them in the text of the Workflow."""
    given = {one["name"]: one for one in parameters}
    for one in spaces:
        given[one.name].pop("enum", None)  # the list of the values tried replaces it
        given[one.name]["value"] = f"${{trialParameters.{one.name}}}"
    for name, parameter in given.items():
        if "value" not in parameter:
            raise WrongSearch(
                f"Katib starts the trials itself, and `{name}` has no default: say {name}=VALUE"
            )


def _parameter(one: Tried, method: str) -> Json:
    """The search space of a parameter in Katib's terms. Raises WrongSearch where Katib has no equivalent."""
    if one.condition is not None:
        raise _other(
            one, "Katib draws each parameter in every point, also where another one makes it needless"
        )
    if method == "sobol" and one.word in ("loguniform", "normal"):
        raise _other(one, "Katib's Sobol draws evenly between the bounds, whatever the distribution")
    if one.word is None:
        texts = [encode(value, one.type) for value in one.values]
        # Katib inserts them into the JSON of the Workflow unescaped.
        space: Json = {"list": [json.dumps(text, ensure_ascii=False)[1:-1] for text in texts]}
        return {"name": one.name, "parameterType": "categorical", "feasibleSpace": space}
    kind = "int" if one.word == "integer" or one.type == t.INT else "double"
    return {"name": one.name, "parameterType": kind, "feasibleSpace": _SPACES[one.word](*one.values)}


def _other(one: Tried, why: str) -> WrongSearch:
    return WrongSearch(f"{one.name}={one.text}: {why}; write another space, or leave out `--as katib`")


def _between(low: float, high: float) -> Json:
    return {"min": repr(low), "max": repr(high)}


def _by_magnitude(low: float, high: float) -> Json:
    return {**_between(low, high), "distribution": "logUniform"}


def _stepwise(low: float, high: float, step: float) -> Json:
    """The multiples of a step: Katib samples between the bounds and rounds, so these must be multiples themselves."""
    values = multiples(low, high, step)
    return {**_between(values[0], values[-1]), "step": repr(step)}


def _around(mean: float, deviation: float) -> Json:
    """The bounds from which Katib derives mean and deviation: their middle, and a sixth of their distance."""
    middle, reach = Fraction(repr(mean)), 3 * Fraction(repr(deviation))
    return {**_between(float(middle - reach), float(middle + reach)), "distribution": "normal"}


_SPACES: Mapping[str, Callable[..., Json]] = {
    "uniform": _between,
    "integer": _between,
    "loguniform": _by_magnitude,
    "quniform": _stepwise,
    "normal": _around,
}


def _size(one: Tried) -> int:
    """How many values a grid search has for a parameter."""
    if one.word is None:
        return len(one.values)
    low, high, step = (*cast("tuple[float, ...]", one.values), 1)[:3]
    return len(multiples(low, high, step))


def _algorithm(method: str, seed: int) -> Json:
    """A search method by its name in Katib. Its Sobol takes no seed, others take 32 bits."""
    found: Json = {"algorithmName": "bayesianoptimization" if method == "gp" else method}
    if method != "sobol":
        found["algorithmSettings"] = [{"name": "random_state", "value": str(seed % 2**32)}]
    return found
