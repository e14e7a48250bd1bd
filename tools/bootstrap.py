"""Prepare ``.venv`` and Java, then run a command with them: ``python -m tools.bootstrap test CMD …``.

The first word names what is installed: ``demo`` (what the product needs) or ``test`` (that, the tools
and the test libraries). A second run compares one digest and goes straight to the command.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.machine import (
    BROWSERS,
    JAVA_ADVICE,
    JAVA_PACKAGES,
    apt_install,
    find_browser,
    find_java,
)

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
SCRATCH = ROOT / ".build"
LOCKS = {"demo": "locks/airflow.txt", "test": "locks/dev.txt"}
CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
OLDEST, NEWEST = (3, 11), (3, 13)


class Unprepared(Exception):  # noqa: N818 - a message to the reader, not an error of the product
    """The machine lacks something, and the text says what to do."""


def main(arguments: list[str]) -> int:
    """Prepare what the first argument names and become the command that follows."""
    if not arguments or arguments[0] not in LOCKS:
        print(f"usage: python -m tools.bootstrap {'|'.join(LOCKS)} [COMMAND …]", file=sys.stderr)
        return 2
    profile, command = arguments[0], arguments[1:]
    try:
        environ = prepared_environment(profile)
        prepare_venv(profile)
    except Unprepared as problem:
        print(problem, file=sys.stderr)
        return 2
    if command:
        sys.stdout.flush()
        os.chdir(ROOT)
        os.execvpe(command[0], command, environ)  # noqa: S606 - the command is the Makefile's
    return 0


def prepared_environment(profile: str) -> dict[str, str]:
    """Give the environment of the command: Java and the programs of ``.venv`` come first."""
    environ = dict(os.environ)
    java = find_java(environ)
    if java is None:
        say("Java 17 or 21 is missing: trying to install it")
        apt_install(JAVA_PACKAGES)
        java = find_java(environ)
    if java is None:
        raise Unprepared(JAVA_ADVICE)
    if profile == "test" and find_browser(environ) is None:
        say("Chromium is missing: trying to install it")
        if not apt_install(BROWSERS[:2]):
            say("no Chromium: the browser tests will be skipped")
    path = environ.get("PATH", os.defpath)
    environ.pop("PYTHONHOME", None)
    return environ | {
        "JAVA_HOME": str(java),
        "PATH": os.pathsep.join([str(VENV / "bin"), str(java / "bin"), path]),
        "VIRTUAL_ENV": str(VENV),
    }


def prepare_venv(profile: str) -> None:
    """Bring ``.venv`` to what the locks say, unless it is there already."""
    python = find_python()
    if any(stamp(name, python) == written_stamp() for name in (profile, "test")):
        return
    say(f"preparing {VENV.name} from {LOCKS[profile]}")
    uv = find_uv()
    if not (VENV / "bin" / "python").exists():
        run(uv, "venv", "--quiet", "--python", python, str(VENV))
    target = ["--python", str(VENV / "bin" / "python")]
    # uv takes what is not in the lock away, this project and its stamp included, so a stop halfway shows.
    (VENV / "stamp").unlink(missing_ok=True)
    run(uv, "pip", "sync", "--require-hashes", *target, str(ROOT / LOCKS[profile]))
    run(uv, "pip", "install", "--no-deps", "--no-build-isolation", *target, "--editable", str(ROOT))
    (VENV / "stamp").write_text(stamp(profile, python), encoding="utf-8")


def stamp(profile: str, python: str) -> str:
    """Give a digest of everything that the content of ``.venv`` follows from."""
    digest = hashlib.sha256(f"{profile} {python} {ROOT}".encode())
    for name in (LOCKS[profile], "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return f"{profile} {digest.hexdigest()}"


def written_stamp() -> str:
    """Give the stamp of the environment that is there; empty where there is none."""
    try:
        return (VENV / "stamp").read_text(encoding="utf-8")
    except OSError:
        return ""


def find_python() -> str:
    """Find a Python that the locks are for; a version number asks uv to bring one."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    return "{}.{}".format(*NEWEST)


def find_uv() -> str:
    """Find uv, or install the locked one beside the checkout's other scratch files."""
    own = SCRATCH / "uv" / "bin" / "uv"
    found = shutil.which("uv") or (str(own) if own.exists() else None)
    if found:
        return found
    say("installing uv")
    lock = ["--require-hashes", "--quiet", "-r", str(ROOT / "locks" / "uv.txt")]
    if succeeds(sys.executable, "-m", "venv", "--clear", str(own.parent.parent)):
        run(str(own.parent / "python"), "-m", "pip", "install", *lock)
        return str(own)
    # Debian splits ensurepip off; pip alone, or the missing package, does as well.
    if not succeeds(sys.executable, "-m", "pip", "--version"):
        apt_install(("python3-pip",))
    if not succeeds(sys.executable, "-m", "pip", "--version"):
        raise Unprepared(
            f"{sys.executable} can install nothing: neither its venv nor its pip module works.\n"
            "  Debian, Ubuntu   sudo apt-get install python3-venv\n"
            "  elsewhere        put uv on PATH"
        )
    run(sys.executable, "-m", "pip", "install", *lock, "--target", str(own.parent.parent))
    return str(own)


def succeeds(*command: str) -> bool:
    """Run a command silently and say whether it went well."""
    done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    return done.returncode == 0


def run(*command: str) -> None:
    """Run a command, and stop with its own words where it fails."""
    # uv brings certificates of its own; a machine behind a proxy trusts one more, in the system's store.
    # The setting has an old and a new name.
    trust = (
        {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
        if any(map(os.path.isfile, CERTIFICATES))
        else {}
    )
    done = subprocess.run(command, stdin=subprocess.DEVNULL, env=trust | os.environ, check=False)
    if done.returncode:
        raise Unprepared(f"this failed, its message is above: {' '.join(command)}")


def say(line: str) -> None:
    """Tell the user what takes time."""
    print(f"[slacktide] {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
