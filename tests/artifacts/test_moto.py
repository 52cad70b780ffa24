"""Against moto, which keeps any key as it is, and whose answers are not made here."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.artifacts.objects import endless, whole
from tests.artifacts.runs import Known, command, plain, there, told, workflow

Json = dict[str, Any]
On = Callable[[Json], Known]


class Moto:
    """A server, and a client of another make that fills it."""

    def __init__(self) -> None:
        from moto.server import ThreadedMotoServer

        boto3: Any = import_module("boto3")  # it has no types
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.endpoint = f"{host}:{port}"
        self.client: Any = boto3.client(
            "s3",
            endpoint_url=f"http://{self.endpoint}",
            aws_access_key_id="access",
            aws_secret_access_key="secret",
            region_name="us-east-1",
        )
        self.client.create_bucket(Bucket="argo")

    def put(self, key: str, data: bytes) -> None:
        self.client.put_object(Bucket="argo", Key=key, Body=data)

    def close(self) -> None:
        self._server.stop()


@pytest.fixture(scope="module")
def moto() -> Iterator[Moto]:
    made = Moto()
    yield made
    made.close()


def test_two_hundred_objects(moto: Moto, on: On, tmp_path: Path) -> None:
    wanted: dict[str, bytes] = {}
    for number in range(200):
        data = f"object {number}".encode() * number
        moto.put(f"many/trial-{number % 20}/{number}", data)
        wanted[f"make/many/trial-{number % 20}/{number}"] = data
    on(workflow(moto.endpoint, {"make": {"artifacts": [plain("many", "many")]}}))
    assert command([]) == 0
    assert there(tmp_path / "demo") == wanted
    assert told(tmp_path / "demo")["outputs"][0]["checked"] == ["etag"]


def test_a_large_object_that_was_uploaded_in_parts(moto: Moto, on: On, tmp_path: Path) -> None:
    upload = moto.client.create_multipart_upload(Bucket="argo", Key="large")["UploadId"]
    data = b"".join(whole(endless(64 << 20)))
    parts: list[Json] = []
    for number in range(1, 5):
        body = data[(number - 1) << 24 : number << 24]
        made = moto.client.upload_part(
            Bucket="argo", Key="large", UploadId=upload, PartNumber=number, Body=body
        )
        parts.append({"ETag": made["ETag"], "PartNumber": number})
    moto.client.complete_multipart_upload(
        Bucket="argo", Key="large", UploadId=upload, MultipartUpload={"Parts": parts}
    )
    on(workflow(moto.endpoint, {"make": {"artifacts": [plain("large", "large")]}}))
    assert command([]) == 0
    found = told(tmp_path / "demo")["outputs"][0]
    assert found["checked"] == ["etag"]
    assert found["files"] == [{"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}]


@pytest.mark.parametrize("key", ["../x", "a/../../b", "a/../b", "/abs", "a//b", "."])
def test_hostile_keys(
    moto: Moto, on: On, tmp_path: Path, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prefix = f"hostile-{hashlib.md5(key.encode()).hexdigest()[:6]}"
    moto.put(f"{prefix}/good", b"good")
    moto.put(f"{prefix}/{key}", b"bad")
    moto.put("fine", b"fine")
    artifacts = [plain("f", prefix), plain("fine", "fine"), plain("direct", f"{prefix}/{key}")]
    on(workflow(moto.endpoint, {"make": {"artifacts": artifacts}}))
    assert command([]) == 1
    assert there(tmp_path / "demo") == {"make/fine": b"fine"}
    said = capsys.readouterr().err
    assert "make.direct: its key " in said
    assert "is not a path, so none of them is fetched: " in said
    assert f'"{prefix}/{key}"' in said.replace("//", "/") or f"{prefix}/{key}" in said
    assert {path.name for path in tmp_path.iterdir()} == {"demo"}


def test_empty_objects_that_stand_for_folders(moto: Moto, on: On, tmp_path: Path) -> None:
    for key, data in {"shown/": b"", "shown/sub/": b"", "shown/sub/x": b"x", "shown/empty": b""}.items():
        moto.put(key, data)
    on(workflow(moto.endpoint, {"make": {"artifacts": [plain("f", "shown"), plain("g", "shown/sub/")]}}))
    assert command([]) == 0
    assert there(tmp_path / "demo") == {"make/f/empty": b"", "make/f/sub/x": b"x", "make/g/x": b"x"}


def test_a_bucket_that_is_not_there(moto: Moto, on: On, capsys: pytest.CaptureFixture[str]) -> None:
    run = workflow(moto.endpoint, {"make": {"artifacts": [plain("a", "a")]}})
    run["status"]["artifactRepositoryRef"]["artifactRepository"]["s3"]["bucket"] = "nowhere"
    on(run)
    assert command([]) == 3
    assert "there is no s3://nowhere at " in capsys.readouterr().err
