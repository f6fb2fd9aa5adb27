"""The files in `deploy/` fit what they install: paths, settings, and protections."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hitsend.settings import NAMES, OTHER_VARIABLES, PREFIX, Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SERVICES = sorted(DEPLOY.glob("*.service"))
PROTECTIONS = {
    "NoNewPrivileges": "yes",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "MemoryDenyWriteExecute": "yes",
    "RestrictNamespaces": "yes",
    "CapabilityBoundingSet": "",
    "UMask": "0077",
    "User": "hitsend",
}
IMAGE = (DEPLOY / "Dockerfile").read_text()


def read_unit(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\w+)=(.*)$", path.read_text(), re.M))


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: path.name)
def test_a_service_may_do_little_besides_its_work(path: Path) -> None:
    service = read_unit(path)
    assert {name: service[name] for name in PROTECTIONS} == PROTECTIONS


def test_a_stop_leaves_time_for_running_answers() -> None:
    service = read_unit(DEPLOY / "hitsend.service")
    assert float(service["TimeoutStopSec"]) >= Settings().drain_s + 10
    assert service["KillMode"] == "mixed"


@pytest.mark.parametrize("path", [*SERVICES, DEPLOY / "Dockerfile"], ids=lambda path: path.name)
def test_every_setting_in_it_exists(path: Path) -> None:
    known = {PREFIX + name.upper() for name in NAMES} | OTHER_VARIABLES
    assert set(re.findall(r"\bHITSEND_[A-Z_]+", path.read_text())) <= known


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
@pytest.mark.parametrize("path", [*SERVICES, *DEPLOY.glob("*.timer")], ids=lambda path: path.name)
def test_systemd_understands_it(path: Path, tmp_path: Path) -> None:
    for unit in DEPLOY.glob("hitsend*"):
        text = unit.read_text().replace("/opt/hitsend/bin/hitsend", "/bin/true")
        (tmp_path / unit.name).write_text(text)
    words = ["systemd-analyze", "verify", str(tmp_path / path.name)]
    ran = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_image_copies_what_is_there_and_runs_as_nobody() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", IMAGE, re.M)
    for name in " ".join(copied).split():
        assert (ROOT / name).exists(), name
    users = re.findall(r"^USER (\S+)$", IMAGE, re.M)
    assert users == ["10001:10001"]
    assert IMAGE.index("USER 10001") < IMAGE.index("ENTRYPOINT")
    installs = re.findall(r"pip install .*", IMAGE)
    assert all("--require-hashes" in one or "--no-index" in one for one in installs)


def test_nothing_built_here_gets_into_the_image() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    assert {".git", ".venv", ".cache", "**/node_modules", "src/hitsend/server/static"} <= {*ignored}
