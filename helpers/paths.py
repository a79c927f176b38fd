"""Where things are: absolute folders found from the package, never from the working directory."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
EXPERIMENTS = ROOT / "experiments"
MODELS = EXPERIMENTS / "models.yaml"
LIMITS = EXPERIMENTS / "limits.yaml"
DATA = ROOT / "data"
REPLIES = DATA / "replies"
DOWNLOADS = DATA / "downloads"
FIGURES = ROOT / "figures"
RUNS = FIGURES / "runs"
