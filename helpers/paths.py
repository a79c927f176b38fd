"""Where things are: absolute folders found from the package, never from the working directory."""

from pathlib import Path

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
