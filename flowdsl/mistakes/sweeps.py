"""Findings about `sweep`: spaces, trials, metrics."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, suggest


class NotASpace(Finding):
    """A parameter of a sweep with neither a space nor a list."""

    code = "FD250"
    title = "the space of `{name}` is {have}, not a search space or a list"
    label = "this is {have}"
    help = "write choice(...), uniform(low, high), loguniform(low, high), integer(low, high) or a list"
    name: str
    have: str


class MeantAsRange(Finding):
    """Two numbers in a tuple, where points are drawn."""

    code = "FD365"
    severity = "warning"
    title = "the space of `{name}` is a choice of two values, {low} and {high}"
    label = "nothing between them is tried"
    help = "for a range write {space}({low}, {high}); for these two choice({low}, {high})"
    name: str
    low: float
    high: float
    whole: bool

    def words(self) -> dict[str, str]:
        """The fields, and the space that was probably meant."""
        low, high = self.low, self.high
        space = "integer" if self.whole else "loguniform" if 0 < low <= high / 100 else "uniform"
        return {**super().words(), "low": repr(low), "high": repr(high), "space": space}


class RepeatedValue(Finding):
    """A choice that has a value more than once."""

    code = "FD395"
    severity = "warning"
    title = "the space of `{name}` has {values} more than once"
    label = "the same trials run again"
    help = (
        "write each value once; to repeat trials, also search a parameter that tells them apart, such as "
        "`seed=[1, 2]`"
    )
    name: str
    values: tuple[str, ...]


class EmptySpace(Finding):
    """A choice of nothing."""

    code = "FD251"
    title = "the space of `{name}` has no values"
    label = "nothing to choose from"
    help = "give at least one value"
    name: str


class BadSpace(Finding):
    """A space whose numbers do not fit together."""

    code = "FD252"
    title = "no value can be drawn from {space}"
    label = "{problem}"
    help = "write {form}"
    space: str
    problem: str
    form: str


class SpaceType(Finding):
    """A space that draws another type than the parameter takes."""

    code = "FD253"
    title = "{space}(...) draws {gives}, but `{name}` is {want}"
    label = "draws {gives}"
    help = "use {instead}, or change the annotation of `{name}`"
    name: str
    space: str
    gives: str
    want: str

    def words(self) -> dict[str, str]:
        """The fields, and the space that fits the parameter."""
        instead = "integer(low, high) or choice(...)" if self.want.startswith("int") else "choice(...)"
        return {**super().words(), "instead": instead}


class SpaceRunTime(Finding):
    """A space that is known only at run time."""

    code = "FD254"
    title = "the space of `{name}` is known only at run time"
    label = "the trials are drawn while compiling"
    help = "write the values, or use fan_out over the list"
    name: str


class UnknownSearch(Finding):
    """A search method that does not exist."""

    code = "FD255"
    title = "`search` cannot be {have}"
    label = "not a search"
    help = 'use "grid", "random", "sobol" or "tpe", or Gp(image="...") with an image that has PyTorch'
    have: str


class TrialsMissing(Finding):
    """A search that draws points, without their number."""

    code = "FD256"
    title = "a {search} search needs the number of its trials"
    label = "`trials` is missing here"
    help = "pass `trials=20`"
    search: str


class TooManySearched(Finding):
    """More parameters than Sobol's sequence is defined for."""

    code = "FD370"
    title = "Sobol's sequence is defined for at most {most} parameters, and this space has {dimensions}"
    label = "a space of `normal(...)` counts twice"
    help = 'write search="random", or search fewer parameters at once'
    most: int
    dimensions: int


class GridContinuous(Finding):
    """A grid over a space with infinitely many values."""

    code = "FD257"
    title = "a grid needs a list of values for `{name}`"
    label = "a range has too many values to try them all"
    help = "write choice(...) or a list for `{name}`, or pass `trials=` for a random search"
    name: str
    space: str


class GridTrials(Finding):
    """A grid of another size than the number of trials."""

    code = "FD258"
    title = "the grid has {size} points, but `trials` says {trials}"
    label = "a grid tries every point"
    help = 'leave `trials` out, or write search="random"'
    trials: int
    size: int


class TooManyTrials(Finding):
    """More trials than there are different points."""

    code = "FD259"
    title = "the space has only {size} different points for {trials} trials"
    label = "no trial is run twice"
    help = 'ask for at most {size} trials, or write search="grid" without `trials`'
    trials: int
    size: int


class GridTooLarge(Finding):
    """A grid that no cluster will run."""

    code = "FD260"
    title = "the grid has more than {most} points"
    label = "{found} combinations"
    help = "take fewer values, or a random search with `trials=`"
    most: int
    found: str


class NotAnObjective(Finding):
    """`objective=` that is neither maximize nor minimize."""

    code = "FD261"
    title = "the objective is {have}, not maximize(...) or minimize(...)"
    label = "this is {have}"
    help = 'write objective=maximize("output") or minimize("output")'
    have: str


class UnknownMetric(Finding):
    """An objective that is not an output of the trial."""

    code = "FD262"
    title = "`{step}` has no {shown} to judge its trials by"
    label = "{meant}"
    help = "{way}"
    name: str
    step: str
    known: tuple[str, ...]
    inside: str = ""  # the output that it is a part of
    single: str = ""  # the type of the one result, if it is not of several
    goal: str = ""

    def words(self) -> dict[str, str]:
        """The fields, and the output that was probably meant, or how a part becomes one."""
        shown = f"output `{self.name}`" if self.name else "single output"
        meant = suggest(self.name, self.known) or "it returns nothing"
        word = "minimize" if self.goal == "min" else "maximize"
        way = f'name one of its outputs, `{word}("NAME")`'
        part = self.name.rpartition(".")[2]
        if self.inside:
            meant = f"`{part}` is a part of `{self.inside}`"
            way = f"name the way to it: `{self.inside}.{part}`"
        elif self.single:
            meant = f"its one result is {self.single}"
            way = f"write `{word}()`: a single result has no name"
            if self.single not in ("float", "int"):
                way = f'let it return a NamedTuple or dataclass with `{part}: float`, and name that: `{word}("{part}")`'
        return {**super().words(), "shown": shown, "meant": meant, "way": way}


class MetricNotANumber(Finding):
    """An objective that is not a number."""

    code = "FD263"
    title = "the metric `{name}` is {type}, not a number"
    label = "trials are compared by this"
    help = "{way}"
    name: str
    type: str
    part: str = ""  # a number in it
    key: str = ""  # of a number, if it is a dict

    def words(self) -> dict[str, str]:
        """The fields, and how a part of it becomes the metric."""
        way = "return it as float or int"
        if self.part:
            way = f"name a number of it: `{self.name}.{self.part}`"
        elif self.key:
            way = (
                f"make it a TypedDict, NamedTuple or dataclass with `{self.key}: float`, and name that number"
            )
        return {**super().words(), "way": way}


class BadSeed(Finding):
    """A seed that is not a whole number."""

    code = "FD264"
    title = "`seed` is {have}, not a whole number"
    label = "this is {have}"
    help = "write a whole number: the same seed draws the same trials again"
    have: str


class TooFewTrials(Finding):
    """More trials that have to succeed than the sweep has."""

    code = "FD265"
    title = "`min_success` is {bound}, but the sweep has {trials} trials"
    label = "the run would always fail"
    help = "write {trials} or less"
    bound: int
    trials: int


class BadCondition(Finding):
    """A condition of a space that cannot be read."""

    code = "FD371"
    title = "the condition of the space of `{name}` cannot be read: {problem}"
    label = "not a condition"
    help = 'write one on other parameters of the sweep, as in uniform(0, 1).when("layers > 3 and kind in (a, b)")'
    name: str
    problem: str


class ConditionUnknown(Finding):
    """A condition of a space on something that the sweep does not search."""

    code = "FD372"
    title = "the space of `{name}` depends on `{other}`, which this sweep does not search"
    label = "{meant}"
    help = "name a parameter that the sweep has a space for, or leave the condition out"
    name: str
    other: str
    known: tuple[str, ...]

    def words(self) -> dict[str, str]:
        """The fields, and the parameter that was probably meant."""
        meant = suggest(self.other, self.known) or f"`{self.name}` is all that it searches"
        return {**super().words(), "meant": meant}


class ConditionCycle(Finding):
    """Conditions of spaces that wait for each other."""

    code = "FD373"
    title = "whether `{name}` is searched depends on itself"
    label = "{way}"
    help = "use conditions on parameters that are chosen earlier"
    name: str
    way: str


class ConditionType(Finding):
    """A condition of a space that compares a parameter with what it cannot be compared with."""

    code = "FD374"
    title = "`{part}` cannot be decided: {problem}"
    label = "the condition of `{name}`"
    help = "compare `{other}`, which is {type}, {way}"
    name: str
    part: str
    other: str
    type: str
    problem: str
    way: str


class ConditionNever(Finding):
    """A condition of a space that holds in no point."""

    code = "FD375"
    title = "`{part}` holds in no point of this sweep"
    label = "{values}"
    help = "change the condition, or the values tried for {others}"
    part: str
    others: str
    values: str


class ConditionAlways(Finding):
    """A condition of a space that holds in every point."""

    code = "FD376"
    severity = "warning"
    title = "`{part}` holds in every point of this sweep"
    label = "{values}"
    help = "leave it out, or change the values tried for {others}"
    part: str
    others: str
    values: str


class NoDefault(Finding):
    """A parameter that is not searched in every trial, and has no value for the others."""

    code = "FD377"
    title = "`{name}` of `{step}` has no default for the trials that do not search it"
    label = "not searched in every trial"
    help = "give `{name}` a default, or make it {type} | None"
    name: str
    step: str
    type: str


class ConditionRunTime(Finding):
    """A condition of a space on a parameter whose values are known only at run time."""

    code = "FD378"
    title = "the space of `{name}` depends on `{other}`, whose values are known only at run time"
    label = "the trials are drawn while compiling"
    help = "give `{other}` values that are known now, or leave the condition out"
    name: str
    other: str


class RoundsUnknown(Finding):
    """A search that learns, without the size of its rounds."""

    code = "FD390"
    title = "a search that learns needs to know how many trials run at once"
    label = "`parallel` is missing here"
    help = "pass `parallel=4`: each round learns from those before it, so a smaller number learns more"


class NothingLearnt(Finding):
    """A search that learns, but has only random trials."""

    code = "FD391"
    title = "all {trials} trials would be random: a search that learns begins with {startup} random ones"
    label = "no more than those"
    help = 'ask for more trials, write search={word}(startup=...) with fewer, or search="random"'
    trials: int
    startup: int
    word: str


class Unsearchable(Finding):
    """A space that a search cannot learn about."""

    code = "FD392"
    title = "a search that learns cannot choose `{name}`: {reason}"
    label = "this space"
    help = "{way}"
    name: str
    reason: str
    way: str


class TooManyRounds(Finding):
    """A search that learns in so many rounds that the run's object could not hold their history."""

    code = "FD393"
    title = "{trials} trials in {rounds} rounds are too many: a search that learns has at most 1000 in 100"
    label = "each round is told of all trials before it"
    help = 'let more trials run at once, ask for fewer, or write search="random"'
    trials: int
    rounds: int


class NotAnImage(Finding):
    """The image of a search is not the name of one."""

    code = "FD394"
    title = "the image of the search is {have}, not the name of an image"
    label = "this is {have}"
    help = "write the name of an image that has Python and what the search needs"
    have: str
