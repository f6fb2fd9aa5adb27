"""Writes the software bill of materials: what hitsend is made of, as CycloneDX JSON.

    python scripts/write_sbom.py [FILE]

It lists the Python packages of `requirements/run.lock`, with the hashes of the files that may be
installed, and the npm packages of `web/package-lock.json` that the page is built from. It reads
only these two files, so it is the same on every machine.
"""

import base64
import hashlib
import json
import re
import sys
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SPEC_VERSION = "1.6"
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+?))? *\\?$")
HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
SRI = {"sha512": "SHA-512", "sha384": "SHA-384", "sha256": "SHA-256", "sha1": "SHA-1"}

Component = dict[str, Any]


def build_sbom(root: Path = ROOT) -> dict[str, Any]:
    run_lock, npm_lock = root / "requirements/run.lock", root / "web/package-lock.json"
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    components = [
        *read_python_lock(run_lock.read_text()),
        *read_npm_lock(json.loads(npm_lock.read_text())),
    ]
    # The same locks give the same number, so that two files can be compared.
    content = hashlib.sha256(run_lock.read_bytes() + npm_lock.read_bytes()).digest()
    own_ref = f"pkg:pypi/{project['name']}@{project['version']}"
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{SPEC_VERSION}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": SPEC_VERSION,
        "serialNumber": f"urn:uuid:{uuid.UUID(bytes=content[:16], version=4)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": own_ref,
                "name": project["name"],
                "version": project["version"],
                "description": project["description"],
                "licenses": [{"license": {"id": project["license"]}}],
                "purl": own_ref,
            }
        },
        "components": components,
        "dependencies": [
            {"ref": own_ref, "dependsOn": [component["bom-ref"] for component in components]}
        ],
    }


def read_python_lock(text: str) -> Iterator[Component]:
    """Yields each pinned package with the SHA-256 of each of its files."""
    component: Component | None = None
    for line in text.splitlines():
        if found := PIN.match(line):
            if component:
                yield component
            name, version, marker = found.groups()
            component = _component("pypi", name, version, [])
            if marker:
                component["properties"] = [{"name": "hitsend:marker", "value": marker.strip()}]
        elif component and (digest := HASH.search(line)):
            component["hashes"].append({"alg": "SHA-256", "content": digest[1]})
    if component:
        yield component


def read_npm_lock(lock: dict[str, Any]) -> Iterator[Component]:
    """Yields each package once, however often it is installed."""
    seen = set[str]()
    for path, package in sorted(lock["packages"].items()):
        name = package.get("name") or path.rpartition("node_modules/")[2]
        if not path or package.get("link") or f"{name}@{package['version']}" in seen:
            continue
        seen.add(f"{name}@{package['version']}")
        component = _component("npm", name, package["version"], _sri(package.get("integrity", "")))
        if license_id := package.get("license"):
            component["licenses"] = [{"expression": license_id}]
        yield component


def _component(kind: str, name: str, version: str, hashes: list[dict[str, str]]) -> Component:
    scope, _, plain = name.rpartition("/")
    purl = f"pkg:{kind}/{scope.replace('@', '%40') + '/' if scope else ''}{plain}@{version}"
    component = {
        "type": "library",
        "bom-ref": purl,
        "name": plain,
        "version": version,
        "purl": purl,
        "hashes": hashes,
    }
    if scope:
        component["group"] = scope
    if kind == "npm":
        # What of it is in the page was built into it: nothing of npm is installed.
        component["properties"] = [{"name": "hitsend:use", "value": "builds the page"}]
    return component


def _sri(integrity: str) -> list[dict[str, str]]:
    hashes = []
    for part in integrity.split():
        algorithm, _, digest = part.partition("-")
        hashes.append({"alg": SRI[algorithm], "content": base64.b64decode(digest).hex()})
    return hashes


def main(words: list[str]) -> None:
    text = json.dumps(build_sbom(), indent=2, ensure_ascii=False) + "\n"
    if words:
        Path(words[0]).write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1:])
