"""What can be wrong with where a step is to run."""

from __future__ import annotations

from flowdsl.diagnostic import Finding


class ProductPattern(Finding):
    """A product with a pattern."""

    code = "FD279"
    title = "`{have}` is a pattern, but node labels can only be compared as a whole"
    label = "no node has this label"
    help = 'list the products: product=["A100-SXM4-40GB", "A100-SXM4-80GB"], or name them in the profile of a cluster'
    have: str


class BadNode(Finding):
    """A node selector that Kubernetes refuses."""

    code = "FD280"
    title = "`{have}` is not a node label"
    label = "expected {expected}"
    help = 'write labels as the nodes have them: node={{"disk": "ssd"}}'
    have: str
    expected: str


class BadWhere(Finding):
    """A `where` text that does not parse."""

    code = "FD281"
    title = "`where` cannot be read: expected {expected}, found {found}"
    label = "{found} at character {at}"
    help = 'for example: where="gpu.memory >= 40Gi and zone in (eu-1, eu-2) and not spot"'
    expected: str
    found: str
    at: int


class BadToleration(Finding):
    """A toleration that does not parse."""

    code = "FD282"
    title = "`{have}` is not valid in a toleration"
    label = "expected {expected}"
    help = 'write it as kubectl writes taints: tolerations=["spot=true:NoSchedule"]'
    have: str
    expected: str
