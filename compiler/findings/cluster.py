"""What a cluster does not have."""

from __future__ import annotations

from flowdsl.diagnostic import Finding, Unknown


class UnknownPool(Unknown):
    """A pool that the profile does not have."""

    code = "FD678"
    title = "the cluster `{cluster}` has no pool `{name}`"
    help = "name a pool of its profile, or add it there: [clusters.{cluster}.pools.{name}]"
    nothing = "its profile lists no pools"
    cluster: str


class NeedsCluster(Finding):
    """An option that needs the profile of a cluster."""

    code = "FD679"
    title = "what `{option}` means is defined by the profile of a cluster, and none is chosen"
    label = "unknown without a cluster"
    help = "choose one with --cluster NAME, or describe it in flowdsl.toml and make it the `default-cluster`"
    option: str


class UnknownProduct(Unknown):
    """A GPU product that the profile does not list."""

    code = "FD680"
    title = "the cluster `{cluster}` has no GPU `{name}`"
    help = "name a product of its profile, or add it there: [clusters.{cluster}.products]"
    cluster: str


class NoSuchProduct(Finding):
    """GPUs, or a product of them, that no node of the pools has."""

    code = "FD681"
    title = "no node of {where} has {names}"
    label = "the pod would wait forever"
    help = "name another product or pool, or correct `products` of the pools in the profile"
    names: tuple[str, ...]
    where: str


class TooMuch(Finding):
    """A request for more than any node has."""

    code = "FD682"
    title = "no node of {where} has {asked}: the most is {most}"
    label = "the pod would wait forever"
    help = "ask for at most {most}, or correct the pools in the profile"
    asked: str
    most: str
    where: str


class KeptAway(Finding):
    """A step that tolerates the taints of none of the pools that have the GPU, or as much as it asks for."""

    code = "FD898"
    severity = "warning"
    title = "no pool of `{cluster}` with {asked} lets the pod in: `{pool}` has the taint {taint}"
    label = "the pod would wait forever"
    help = (
        'name the pool: pool="{pool}"; or tolerate the taint: tolerations=["{taint}"]; for all steps with a GPU: '
        "`gpu-taints` of the profile"
    )
    cluster: str
    asked: str
    pool: str
    taint: str


class OtherMode(Finding):
    """A volume whose claim has another access mode on the cluster than the pipeline says."""

    code = "FD683"
    title = "the volume `{name}` is {have} here, but {want} on `{cluster}`"
    label = "the claim has the mode {want}"
    help = 'write the mode of the claim: Volume("{name}", mode="{want}"); or correct it in the profile'
    name: str
    have: str
    want: str
    cluster: str


class NoSpot(Finding):
    """Spot nodes on a cluster whose profile has none."""

    code = "FD684"
    title = "the profile of `{cluster}` does not say which nodes are spot"
    label = "no such nodes"
    help = (
        'say it in [clusters.{cluster}]: spot = {{label = "KEY=VALUE"}}, or spot = false where there are none'
    )
    cluster: str


class UnknownQueue(Unknown):
    """A queue that the profile does not list."""

    code = "FD685"
    title = "the cluster `{cluster}` has no queue `{name}`"
    help = "name one of the `queues` in its profile"
    cluster: str


class Clash(Finding):
    """Two requirements on one node label that exclude each other."""

    code = "FD686"
    title = "no node has both `{one}`, for `{by}`, and `{other}`, for `{option}`"
    label = "the pod would wait forever"
    help = "remove one of the two"
    one: str
    by: str
    other: str
    option: str


class NoLabel(Finding):
    """Products of a vendor whose node labels are not known."""

    code = "FD694"
    title = "the node label for the {what} of {resource} is not known"
    label = "known only for NVIDIA's devices"
    help = 'name it in the profile of the cluster: labels = {{"gpu.{what}" = "example.com/label"}}'
    what: str
    resource: str


class NoSharing(Finding):
    """A share of a GPU where nothing says how to request one."""

    code = "FD688"
    title = "nothing says how to request a share of a GPU of {vendor}"
    label = "no resource to request"
    help = "define it in the profile of the cluster: [clusters.{shown}.share.{vendor}] with a `resource`"
    vendor: str
    cluster: str

    def words(self) -> dict[str, str]:
        """The fields, and the name of the table."""
        return {**super().words(), "shown": self.cluster or "NAME"}


class UnknownLabel(Finding):
    """A node label that is nearly one of the short names."""

    code = "FD781"
    severity = "warning"
    title = "`{name}` is taken literally, as a node label"
    label = "did you mean `{meant}`?"
    help = "write `{meant}`; if `{name}` is a label of your own, ignore this"
    name: str
    meant: str
