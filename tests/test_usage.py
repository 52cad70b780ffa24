"""`flowdsl top`: how devices are counted, and how the tables look. Goldens are in tests/usage."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from flowdsl.cli.app import run
from flowdsl.cli.clusters.reach import Reach
from flowdsl.cli.display.paint import Paint
from flowdsl.cli.runs.usage import instances_table, nodes_table, runs_table
from flowdsl.compiler.amounts import asked, gpus
from flowdsl.grammar.devices import is_gpu
from flowdsl.runtime.cluster.trouble import Unreachable
from flowdsl.runtime.usage import exporter
from flowdsl.runtime.usage.nodes import cluster_use, pod_uses
from flowdsl.runtime.usage.runs import run_uses
from tests.goldens import same
from tests.standing import Standing, thing

if TYPE_CHECKING:
    from collections.abc import Callable

Json = dict[str, Any]

GOLDENS = Path(__file__).parent / "usage"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()


def node(
    name: str, has: Json, installed: Json | None = None, labels: Json | None = None, **spec: Any
) -> Json:
    return thing(
        "Node",
        name,
        metadata={"labels": labels or {}},
        spec=spec,
        status={
            "allocatable": {"cpu": "63500m", "memory": "250Gi", **has},
            "capacity": {"cpu": "64", "memory": "256Gi", **(installed or has)},
            "addresses": [
                {"type": "Hostname", "address": name},
                {"type": "InternalIP", "address": "10.0.0.7"},
            ],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    )


def pod(name: str, limits: Json, place: str = "", phase: str = "Running", run: str = "", **rest: Any) -> Json:
    spec: Json = {"containers": [{"name": "main", "resources": {"limits": limits}}]}
    if place:
        spec["nodeName"] = place
    labels = {"workflows.argoproj.io/workflow": run} if run else {}
    metadata = {"labels": labels, **rest.pop("metadata", {})}
    return thing(
        "Pod", name, rest.pop("namespace", "ml"), metadata=metadata, spec=spec, status={"phase": phase}
    )


A100 = {"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB", "node-role.kubernetes.io/worker": ""}
NODES = [
    node("cpu-0", {}, labels={"node-role.kubernetes.io/control-plane": ""}),
    node("gpu-0", {"nvidia.com/gpu": "4"}, labels=A100),
    node("gpu-1", {"nvidia.com/gpu": "3"}, {"nvidia.com/gpu": "4"}, labels=A100, unschedulable=True),
    node(
        "gpu-mixed-with-a-long-name-2a",
        {"nvidia.com/gpu": "1", "nvidia.com/mig-1g.5gb": "7", "rdma/hca": "1k"},
        labels={"nvidia.com/gpu.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"},
    ),
    node("tpu-0", {"google.com/tpu": "4"}, labels={"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite"}),
]
PODS = [
    pod("sentiment-x7k2p-train-1", {"nvidia.com/gpu": "2"}, "gpu-0", run="sentiment-x7k2p"),
    pod("sentiment-x7k2p-train-2", {"nvidia.com/gpu": 1}, "gpu-0", "Pending", run="sentiment-x7k2p"),
    pod("sentiment-x7k2p-train-3", {"nvidia.com/gpu": 4}, "", "Pending", run="sentiment-x7k2p"),
    pod("sentiment-x7k2p-clean", {"cpu": "2"}, "gpu-0", run="sentiment-x7k2p"),
    pod("sentiment-x7k2p-old", {"nvidia.com/gpu": 4}, "gpu-1", "Succeeded", run="sentiment-x7k2p"),
    pod("notebook", {"nvidia.com/mig-1g.5gb": "2"}, "gpu-mixed-with-a-long-name-2a", namespace="research"),
    pod(
        "ending",
        {"google.com/tpu": "4"},
        "tpu-0",
        namespace="research",
        metadata={"deletionTimestamp": "2026-03-01T11:00:00Z"},
    ),
]
RUNS = [
    thing(
        "Workflow",
        "sentiment-x7k2p",
        "ml",
        metadata={"creationTimestamp": "2026-03-01T09:55:00Z"},
        spec={"suspend": True},
        status={"phase": "Running"},
    ),
    thing(
        "Workflow", "fresh", "ml", metadata={"creationTimestamp": "2026-03-01T11:59:30Z"}, spec={}, status={}
    ),
]

METRICS = """\
# HELP DCGM_FI_DEV_GPU_UTIL GPU utilization (in %).
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="1",UUID="GPU-a",device="nvidia1",modelName="NVIDIA A100",Hostname="gpu-0",\
container="main",namespace="ml",pod="sentiment-x7k2p-train-1"} 96
DCGM_FI_DEV_GPU_UTIL{gpu="0",modelName="odd \\"name\\"} \\\\",namespace="ml",pod="sentiment-x7k2p-train-1"} 97 1700000
DCGM_FI_DEV_FB_USED{gpu="1",namespace="ml",pod="sentiment-x7k2p-train-1"} 30123
DCGM_FI_DEV_FB_FREE{gpu="1",namespace="ml",pod="sentiment-x7k2p-train-1"} 10413
DCGM_FI_DEV_FB_USED{gpu="0",namespace="ml",pod="sentiment-x7k2p-train-1"} 1e3
DCGM_FI_DEV_GPU_UTIL{gpu="3",namespace="",pod=""} 12
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="2",GPU_I_ID="10",GPU_I_PROFILE="1g.5gb",namespace="research",pod="notebook"} 0.505
DCGM_FI_PROF_GR_ENGINE_ACTIVE{gpu="2",GPU_I_ID="7",GPU_I_PROFILE="1g.5gb",namespace="research",pod="notebook"} 0
DCGM_FI_DEV_GPU_UTIL{gpu="2",GPU_I_ID="7",namespace="research",pod="notebook"} NaN
up 1
this is no sample
broken{a="b" 3
"""


@pytest.fixture(params=[80, 140])
def paint(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Paint:
    """No colours, and a given number of columns."""
    monkeypatch.setenv("COLUMNS", str(request.param))
    return Paint(None)


def golden(name: str, paint: Paint) -> Path:
    return GOLDENS / f"{name}-{paint.width()}.txt"


@pytest.fixture
def flowdsl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command against a cluster."""
    monkeypatch.chdir(tmp_path)

    def command(cluster: Standing, *arguments: str) -> tuple[int, str, str]:
        def connect(_: Reach) -> Standing:
            return cluster

        monkeypatch.setattr(Reach, "connect", connect)
        code = run(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command


# --- counting --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resource", "counts"),
    [
        *((name, True) for name in ("nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-2g.10gb")),
        *(
            (name, True)
            for name in ("amd.com/gpu", "gpu.intel.com/i915", "gpu.intel.com/xe", "aliyun.com/gpu")
        ),
        *((name, True) for name in ("google.com/tpu", "habana.ai/gaudi", "huawei.com/Ascend910")),
        *(
            (name, False)
            for name in ("cpu", "hugepages-2Mi", "rdma/hca", "aliyun.com/gpu-mem", "nvidia.com/gpumem")
        ),
        *((name, False) for name in ("gpu.intel.com/i915_monitoring", "devices.example/input", "gpu")),
    ],
)
def test_what_counts_as_a_device(resource: str, counts: bool) -> None:
    assert is_gpu(resource) is counts


def container(number: int, **rest: str) -> Json:
    return {"resources": {"limits": {"nvidia.com/gpu": str(number)}}, **rest}


@pytest.mark.parametrize(
    ("containers", "starting", "number"),
    [
        ([1, 2], [], 3),
        ([1], [(4, "")], 4),
        ([3], [(1, "Always"), (2, "")], 4),
        ([1], [(2, "Always"), (3, "")], 5),
        ([1], [(3, ""), (2, "Always")], 3),
        ([], [], 0),
    ],
)
def test_init_containers_run_before_the_others(
    containers: list[int], starting: list[tuple[int, str]], number: int
) -> None:
    spec = {
        "containers": [container(one) for one in containers],
        "initContainers": [
            container(one, **({"restartPolicy": word} if word else {})) for one, word in starting
        ],
    }
    assert sum(gpus(asked(spec)).values()) == number


def test_nodes_and_the_pods_on_them() -> None:
    use = cluster_use(NODES, PODS)
    assert [(one.name, one.total, one.allocated, one.unhealthy) for one in use.nodes] == [
        ("gpu-0", 4, 3, 0),
        ("gpu-1", 3, 0, 1),
        ("gpu-mixed-with-a-long-name-2a", 8, 2, 0),
        ("tpu-0", 4, 4, 0),
        ("cpu-0", 0, 0, 0),
    ]
    assert [one.name for one in use.waiting] == ["sentiment-x7k2p-train-3"]
    assert (use.total, use.allocated) == (19, 9)
    assert [one.status for one in pod_uses(PODS)] == [
        "Running",
        "Pending",
        "Pending",
        "Terminating",
        "Running",
    ]


def test_a_node_that_says_nothing_about_itself() -> None:
    (found,) = cluster_use([thing("Node", "bare")], [{}]).nodes
    assert found[:8] == ("bare", "-", "-", "Unknown", 0, 0, 0, "")


def test_runs_and_their_pods() -> None:
    fresh, busy = run_uses(RUNS, PODS)
    assert (fresh.name, fresh.status, fresh.requested, fresh.allocated) == ("fresh", "Pending", 0, 0)
    assert (busy.requested, busy.allocated, busy.nodes) == (7, 3, ("gpu-0",))
    assert busy.status == "Running (Suspended)"


def test_what_an_exporter_says() -> None:
    found = exporter.held(exporter.samples(METRICS))
    assert found == {
        ("ml", "sentiment-x7k2p-train-1"): [
            exporter.Device("0", 'odd "name"} \\', 97, 1000, None),
            exporter.Device("1", "NVIDIA A100", 96, 30123, 10413),
        ],
        ("research", "notebook"): [
            exporter.Device("2/7", "", 0, None, None),
            exporter.Device("2/10", "", 50.5, None, None),
        ],
    }


# --- tables ----------------------------------------------------------------------------------------------


def test_table_of_nodes(paint: Paint, request: pytest.FixtureRequest) -> None:
    same(nodes_table(cluster_use(NODES, PODS), paint), golden("nodes", paint), request)


def test_table_of_nodes_with_their_pods(paint: Paint, request: pytest.FixtureRequest) -> None:
    same(nodes_table(cluster_use(NODES, PODS), paint, details=True), golden("details", paint), request)


def test_table_of_runs(paint: Paint, request: pytest.FixtureRequest) -> None:
    text = runs_table(run_uses(RUNS, PODS), NOW, paint)
    text += "\n" + runs_table(run_uses(RUNS, PODS), NOW, paint, everywhere=True)
    same(text, golden("runs", paint), request)


def test_table_of_the_pods_of_runs(paint: Paint, request: pytest.FixtureRequest) -> None:
    held = exporter.held(exporter.samples(METRICS))
    same(instances_table(run_uses(RUNS, PODS), held, paint), golden("instances", paint), request)


# --- commands --------------------------------------------------------------------------------------------


def test_top_node(flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = flowdsl(Standing([*NODES, *PODS]), "top", "node")
    assert (code, err) == (0, "")
    assert "Allocated/Total GPUs of the cluster: 9/19 (47.4%)\n" in out
    assert "Requested by pods that wait for a node: 4\n" in out
    code, out, _ = flowdsl(Standing([NODES[0]]), "top", "node", "-d")
    assert (code, out.splitlines()[-1]) == (0, "Allocated/Total GPUs of the cluster: 0/0")


def test_the_label_of_the_card_is_that_of_the_settings(
    flowdsl: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    (tmp_path / "flowdsl.toml").write_text(
        'default-cluster = "lab"\n[clusters.lab]\nlabels = {"gpu.product" = "lab/card"}\n'
    )
    own = node("n", {"nvidia.com/gpu": "1"}, labels={**A100, "lab/card": "big"})
    assert flowdsl(Standing([own]), "top", "node")[1].splitlines()[1].endswith(" big")


def test_what_may_not_be_read_is_said(flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    whole = [*NODES, *PODS]
    code, out, err = flowdsl(Standing(whole, forbidden=["list pods *"]), "top", "node")
    assert (code, err.splitlines()[-1]) == (
        0,
        "note: pods of other namespaces may not be read: only what those of `ml` hold is counted",
    )
    assert "3/19" in out
    code, out, err = flowdsl(Standing(whole, forbidden=["list pods *", "list pods"]), "top", "node")
    assert err.splitlines()[-1].startswith(
        "note: pods may not be read, so what they hold is not known: kubectl"
    )
    code, out, err = flowdsl(Standing(whole, forbidden=["list pods *", "list nodes"]), "top", "node")
    assert code == 0
    assert "sentiment-x7k2p-train-1" in out
    assert "notebook" not in out
    assert (
        "note: nodes may not be read, so what there is in all is not known: kubectl auth can-i list nodes"
        in err
    )
    code, out, err = flowdsl(Standing(whole, forbidden=["list pods", "list nodes"]), "top", "node")
    assert (code, out) == (3, "")
    assert err.startswith("flowdsl: cannot list nodes: ")


EXPORTER = thing(
    "Pod",
    "dcgm-exporter-1",
    "gpu-operator",
    metadata={"labels": {"app.kubernetes.io/name": "dcgm-exporter"}},
    spec={"nodeName": "gpu-0"},
    status={"phase": "Running"},
)


def test_top_job(flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    cluster = Standing([*RUNS, *PODS, EXPORTER], answers={"dcgm-exporter-1": METRICS.encode()})
    code, out, err = flowdsl(cluster, "top", "job")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["NAME", "fresh", "sentiment-x7k2p"]
    code, out, err = flowdsl(cluster, "top", "job", "sentiment-x7k2p", "--instance")
    assert (code, err) == (0, "")
    assert "30123/40536MiB" in out
    assert "proxy dcgm-exporter-1:9400/metrics" in cluster.asked
    code, _, err = flowdsl(cluster, "top", "job", "gone")
    assert (code, err) == (
        2,
        (
            "flowdsl: there is no run `gone` in namespace `ml` of cluster `lab`: "
            "flowdsl top job shows those that are active\n"
        ),
    )
    assert flowdsl(Standing(), "top", "job")[1] == "no run is active in namespace `ml`\n"


def test_an_exporter_that_is_not_there_or_does_not_answer(
    flowdsl: Callable[..., tuple[int, str, str]],
) -> None:
    words = ("top", "job", "-i")
    code, out, err = flowdsl(Standing([*RUNS, *PODS]), *words)
    assert code == 0
    assert "N/A" in out
    assert "note: no pod of a DCGM exporter is there" in err
    away = Standing([*RUNS, *PODS, EXPORTER], answers={"dcgm-exporter-1": Unreachable("away", sent=True)})
    assert "note: the exporter dcgm-exporter-1 does not answer: away\n" in flowdsl(away, *words)[2]
    other = Standing([*RUNS, *PODS, EXPORTER])
    assert "no pod of a DCGM exporter" in flowdsl(other, *words, "--exporter", "app=other")[2]


def test_runs_without_devices(flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    assert flowdsl(Standing(RUNS), "top", "job", "-i")[1] == "no pod of an active run asks for a GPU\n"


def test_names_are_shown_harmlessly(flowdsl: Callable[..., tuple[int, str, str]]) -> None:
    wild = node("n", {"nvidia.com/gpu": "1"}, labels={"nvidia.com/gpu.product": "\x1b[31mred"})
    assert "\\x1b[31mred" in flowdsl(Standing([wild]), "top", "node")[1]
