"""The software bill of materials names everything that the locks pin, and nothing else."""

import json
import re
import uuid
from pathlib import Path

import pytest
from scripts.write_sbom import ROOT, build_sbom, main, read_npm_lock, read_python_lock

LOCK = """\
one==1.2.0 \\
    --hash=sha256:{a} \\
    --hash=sha256:{b}
two-words==3rc1 ; sys_platform == 'win32' \\
    --hash=sha256:{a}
""".format(a="a" * 64, b="b" * 64)


def test_a_python_package_has_its_version_and_the_hash_of_each_file() -> None:
    one, two = read_python_lock(LOCK)
    assert (one["name"], one["version"], one["purl"]) == ("one", "1.2.0", "pkg:pypi/one@1.2.0")
    assert [digest["content"] for digest in one["hashes"]] == ["a" * 64, "b" * 64]
    assert two["version"] == "3rc1"
    assert two["properties"] == [{"name": "hitsend:marker", "value": "sys_platform == 'win32'"}]


def test_an_npm_package_is_named_once_with_its_scope_and_licence() -> None:
    there = {"version": "2.0.0", "integrity": "sha512-AAEC", "license": "MIT"}
    lock = {
        "packages": {
            "": {"name": "hitsend-web"},
            "node_modules/@scope/name": there,
            "node_modules/other/node_modules/@scope/name": there,
            "node_modules/linked": {"link": True},
        }
    }
    (component,) = read_npm_lock(lock)
    assert component["purl"] == "pkg:npm/%40scope/name@2.0.0"
    assert (component["group"], component["name"]) == ("@scope", "name")
    assert component["hashes"] == [{"alg": "SHA-512", "content": "000102"}]
    assert component["licenses"] == [{"expression": "MIT"}]


def test_every_package_of_the_locks_is_in_it_with_a_hash() -> None:
    components = build_sbom()["components"]
    pins = re.findall(r"^(\S+)==(\S+)", (ROOT / "requirements/run.lock").read_text(), re.M)
    npm = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    expected = {f"pkg:pypi/{name}@{version}" for name, version in pins}
    expected |= {
        f"pkg:npm/{path.rpartition('node_modules/')[2].replace('@', '%40')}@{package['version']}"
        for path, package in npm.items()
        if path
    }
    assert len(pins) > 40
    assert {component["purl"] for component in components} == expected
    refs = [component["bom-ref"] for component in components]
    assert len(set(refs)) == len(refs)
    assert all(component["hashes"] for component in components)


def test_it_is_cyclonedx_and_names_no_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(tmp_path / "sbom.json")])
    main([])
    text = (tmp_path / "sbom.json").read_text()
    assert text == capsys.readouterr().out, "the same locks give the same file"
    sbom = json.loads(text)
    assert (sbom["bomFormat"], sbom["specVersion"]) == ("CycloneDX", "1.6")
    assert uuid.UUID(sbom["serialNumber"].removeprefix("urn:uuid:")).version == 4
    assert set(re.findall(r"https?://([^/\"]+)", text)) == {"cyclonedx.org"}
    assert sbom["dependencies"][0]["ref"] == sbom["metadata"]["component"]["bom-ref"]
