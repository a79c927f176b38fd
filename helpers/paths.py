"""Where things are: absolute folders found from the package, never from the working directory."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
#: Only a wheel has this folder: what it brings of the repository.
BUNDLE = Path(__file__).resolve().with_name("_bundle")
EXPERIMENTS = (BUNDLE if BUNDLE.is_dir() else ROOT) / "experiments"
MODELS = EXPERIMENTS / "models.yaml"
LIMITS = EXPERIMENTS / "limits.yaml"
DATA = ROOT / "data"
REPLIES = DATA / "replies"
DOWNLOADS = DATA / "downloads"
FIGURES = ROOT / "figures"
RUNS = FIGURES / "runs"


def load_table(name: str) -> dict[str, Any]:
    """The TOML file of this name, relative to the package."""
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
