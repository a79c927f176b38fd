"""Where things are: in a checkout from its root; an installed wheel brings definitions and writes where one works."""

import tomllib
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent
#: Only a wheel has this folder: the definitions of the repository.
BUNDLE = PACKAGE / "_bundle"
DEFINITIONS, ROOT = (BUNDLE, Path.cwd()) if BUNDLE.is_dir() else (PACKAGE.parent, PACKAGE.parent)
NOTEBOOKS, EXPERIMENTS, BUILTIN = (DEFINITIONS / name for name in ("notebooks", "experiments", "data"))
MODELS, LIMITS = EXPERIMENTS / "models.yaml", EXPERIMENTS / "limits.yaml"
DATA = ROOT / "data"
REPLIES, DOWNLOADS = DATA / "replies", DATA / "downloads"
FIGURES = ROOT / "figures"
RUNS = FIGURES / "runs"
#: Executed notebooks with default parameters, each in the folder of its experiment.
REPORTS = FIGURES if BUNDLE.is_dir() else EXPERIMENTS


def load_table(name: str) -> dict[str, Any]:
    """The TOML file of this name, relative to the package."""
    return tomllib.loads((PACKAGE / name).read_text(encoding="utf-8"))
