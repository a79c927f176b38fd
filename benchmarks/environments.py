"""Peers, each in an environment of its own: what they need does not go together with what we need."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parent / "environments"


@dataclass(frozen=True)
class Peer:
    """A peer: the environment's name, what is installed there (the first is the peer itself), its program."""

    name: str
    packages: tuple[str, ...]
    program: str

    @property
    def python(self) -> Path:
        """The interpreter of its environment."""
        return FOLDER / self.name / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")

    @property
    def stamp(self) -> Path:
        """The file that holds what was installed, once all of it is."""
        return FOLDER / self.name / "installed"

    @property
    def built(self) -> bool:
        """Whether the environment holds what it should."""
        return self.stamp.exists() and self.stamp.read_text(encoding="utf-8") == "\n".join(self.packages)


#: The same openai SDK as ours where a peer takes it.
OPENAI = f"openai=={version('openai')}"
PEERS = {
    "inspect_ai": Peer("inspect_ai", ("inspect_ai==0.3.285", OPENAI), "inspect_eval"),
    "litellm": Peer("litellm", ("litellm==1.106.2",), "litellm_calls"),
    "a client per call": Peer("client_per_call", (OPENAI,), "client_per_call"),
}


def build(peer: Peer) -> str:
    """Make the environment of a peer, unless it is there; why it cannot be made, "" where it is there."""
    if peer.built:
        return ""
    print(f"building the environment of {', '.join(peer.packages)}", file=sys.stderr)
    pip = [str(peer.python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *peer.packages]
    for command in ([sys.executable, "-m", "venv", "--clear", str(FOLDER / peer.name)], pip):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]
            print(f"{peer.packages[0]} is not installed: {reason}", file=sys.stderr)
            return reason[:200].replace("|", "/")
    peer.stamp.write_text("\n".join(peer.packages), encoding="utf-8")
    return ""


def version_in(peer: Peer) -> str:
    """The peer and the openai SDK in its environment, with their versions."""
    names = dict.fromkeys([peer.packages[0].split("==")[0], "openai"])
    code = f"from importlib.metadata import version; print(*(f'{{n}} {{version(n)}}' for n in {[*names]!r}), sep=', ')"
    return subprocess.run([str(peer.python), "-c", code], capture_output=True, text=True, check=True).stdout.strip()
