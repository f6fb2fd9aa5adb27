"""Sets up what the targets of `make` need: environment, dependencies, page, small model.

Each step leaves a stamp that holds what it was made from, and is skipped while that is the
same, so a second run costs a few milliseconds. Needs only Python's standard library.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from scripts import build_web
from scripts.build_web import Node, digest, is_current, write_stamp

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
STAMPS = VENV / "stamps"
NODE = ROOT / ".cache/node"
CONFORMANCE = ROOT / "tests/conformance"
SMALL_MODEL = "smollm2-135m"


def main(verb: str, words: Sequence[str]) -> None:
    os.chdir(ROOT)
    try:
        VERBS[verb](*words)
    except subprocess.CalledProcessError as error:
        stop(f"This did not work (exit code {error.returncode}): {as_text(error.cmd)}")
    except KeyboardInterrupt:
        sys.exit(130)


def run(*words: str) -> None:
    make_environment("run")
    build_page()
    fetch_small_model()
    os.execv(PYTHON, [str(PYTHON), "-m", "hitsend", "serve", *words])


def dev() -> None:
    make_environment("dev")
    build_page()


def sandbox() -> None:
    """Adds the extra `sandbox` to the environment, and compiles its CPython."""
    if not (STAMPS / "dev").exists():
        make_environment("run")
    lock = ROOT / "requirements/sandbox.lock"
    install = pip_install_words(lock)
    once(STAMPS / "sandbox", digest([lock]), f"Installing {lock.name}", lambda: pip(*install))
    subprocess.run([PYTHON, "-m", "hitsend", "sandbox", "install"], check=True)


def make_environment(kind: str) -> None:
    """`kind` is `run` or `dev`: which of the two locks."""
    make_venv()
    lock = ROOT / f"requirements/{kind}.lock"
    install = pip_install_words(lock)
    once(STAMPS / kind, digest([lock]), f"Installing {lock.name}", lambda: pip(*install))
    editable = ("install", "--no-deps", "--no-build-isolation", "-e", ".")
    project = digest([ROOT / "pyproject.toml"])
    once(STAMPS / "hitsend", project, "Installing hitsend", lambda: pip(*editable))


def pip_install_words(lock: Path) -> tuple[str, ...]:
    """pip's words for a lock. It names every package, so pip has nothing to resolve.

    Without `--no-deps` older versions of pip look for the newest release of a package that is
    needed with an extra (`coverage[toml]`), and refuse it because the lock pins another.
    """
    return ("install", "--no-deps", "--require-hashes", "-r", str(lock))


def make_venv() -> None:
    # An environment holds its own path, so it does not survive a move.
    python, key = f"python{sys.version_info[0]}.{sys.version_info[1]}", str(ROOT)
    stamp, pip_command = STAMPS / "venv", VENV / "bin/pip"
    if PYTHON.exists() and pip_command.exists() and (is_current(stamp, key) or not stamp.exists()):
        return
    if find_spec("ensurepip") is None:
        stop(f"This Python cannot make environments: install the package {python}-venv.")
    tell("Making the virtual environment")
    # Not this interpreter if it lives in the environment that is about to be cleared.
    base = os.path.join(sys.base_prefix, "bin", python)
    subprocess.run([base, "-m", "venv", "--clear", VENV], check=True)
    write_stamp(stamp, key)


def build_page() -> None:
    if not build_web.is_built(ROOT):
        tell("Building the page")
        build_web.build(ROOT, find_node())


def find_node(oldest: tuple[int, int] = (20, 19)) -> Node:
    node = build_web.system_node(oldest)
    if node is None:
        lock = ROOT / "requirements/node.lock"
        install = (*pip_install_words(lock), "--upgrade", "--target", str(NODE))
        once(NODE / "stamp", digest([lock]), "Fetching Node", lambda: pip(*install))
        node = build_web.packaged_node(NODE)
    if node is None:
        stop("There is no Node for this machine in the package index: install Node 22.12 or later.")
    return node


def fetch_small_model() -> None:
    """Fetches it before the start, so that the first answer comes at once. Other engines need no
    weights here."""
    stamp = STAMPS / "model"
    if os.environ.get("HITSEND_ENGINE", "llama") != "llama":
        return
    if stamp.is_file() and Path(stamp.read_text()).is_file():
        return
    command = [str(PYTHON), "-m", "hitsend", "models", "pull", SMALL_MODEL]
    path = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    write_stamp(stamp, path.strip())


def chromium() -> None:
    """The browser that the browser tests and `bench.page` drive."""
    if any(map(shutil.which, ("chromium", "google-chrome"))):
        return
    if os.getuid() != 0 or not shutil.which("apt-get"):
        stop("Chromium is needed on PATH: install the package `chromium`.")
    tell("Installing Chromium")
    subprocess.run(["apt-get", "update"], check=True)
    subprocess.run(["apt-get", "install", "-y", "--no-install-recommends", "chromium"], check=True)


def conformance() -> Node:
    """The official MCP conformance suite, in tests/conformance. Returns the Node it runs on."""
    node = find_node(oldest=(22, 12))
    build_web.install(CONFORMANCE, ROOT / ".cache/stamps/conformance", node)
    return node


def npm(*words: str) -> None:
    """npm, with the Node and the packages that build the page."""
    node = find_node()
    build_web.install(ROOT / "web", ROOT / ".cache/stamps/npm", node)
    build_web.npm(node, ROOT / "web", *words)


def once(stamp: Path, key: str, title: str, do: Callable[[], None]) -> None:
    if not is_current(stamp, key):
        tell(title)
        do()
        write_stamp(stamp, key)


def pip(*words: str) -> None:
    environ = os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run([PYTHON, "-m", "pip", *words], env=environ, check=True)


def tell(title: str) -> None:
    print(f"==> {title}", flush=True)


def stop(reason: str) -> NoReturn:
    sys.exit(f"hitsend: {reason}")


def as_text(command: object) -> str:
    words = command if isinstance(command, Sequence) else [command]
    return " ".join(map(str, words))


VERBS: dict[str, Callable[..., object]] = {
    "run": run,
    "dev": dev,
    "chromium": chromium,
    "conformance": conformance,
    "sandbox": sandbox,
    "npm": npm,
}


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
