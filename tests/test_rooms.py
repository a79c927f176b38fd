"""The house: which room may import which, who touches the disk and the environment, how large a room may grow."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from importlib import metadata
from inspect import iscoroutinefunction, signature
from pathlib import Path

import pytest

from helpers import paths
from helpers.providers.transport import module_of
from helpers.services import SERVICES
from helpers.types import Model

HELPERS = paths.ROOT / "helpers"
EVERYWHERE = {"types", "paths", "escaping", "json_text", "words"}
MAY_IMPORT = {
    "types": set(),
    "paths": set(),
    "escaping": set(),
    "json_text": set(),
    "words": {"config"},
    "services": set(),
    "config": {"services"},
    "prompts": {"services"},
    "verdicts": set(),
    "datasets": {"config", "frames"},
    "providers": {"services"},
    "store": set(),
    "judge": {"config", "services", "store", "providers", "verdicts"},
    "frames": set(),
    "stats": set(),
    "biases": {"config", "frames", "prompts", "stats"},
    "claims": {"config", "stats"},
    "figures": {"stats"},
    "tables": {"stats"},
    "macros": set(),
    "export": {"macros", "stats", "services", "providers"},
}
COMMANDS = {"run", "cluster", "calibrate", "power", "analyze", "audit", "explain", "overview", "check", "report"}
COMMANDS |= {"paper", "explore", "compare", "listing", "commands", "__main__"}
ALL = set(MAY_IMPORT) | COMMANDS
MAY_IMPORT |= dict.fromkeys(COMMANDS, ALL)
#: export puts figures and tables into files.
MAY_IMPORT["export"] |= {"figures", "tables"}
NO_PANDAS_AT_START = (
    "types",
    "paths",
    "escaping",
    "json_text",
    "words",
    "services",
    "store",
    "verdicts",
    "judge",
    "providers",
    "prompts",
    "config",
)
DISK = {"store", "config", "prompts", "datasets", "export", "run", "paths"}
DISK |= {
    "calibrate",
    "power",
    "analyze",
    "audit",
    "explain",
    "overview",
    "check",
    "report",
    "paper",
    "compare",
    "listing",
}
MODULES = sorted(HELPERS.rglob("*.py"))
STUDIES = sorted((paths.ROOT / "studies").rglob("*.py"))

#: How many lines and files rooms may have: what they have, so that a change pays for what it adds. Only ever lowered.
MOST = {
    "types paths escaping json_text services": (795, 5),
    "config": (700, 3),
    "prompts verdicts": (802, 4),
    "datasets": (3_469, 10),
    "providers": (2_100, 11),
    "store": (950, 4),
    "judge": (1_347, 5),
    "frames": (388, 1),
    "stats": (2_512, 9),
    "biases": (10_286, 38),
    "words": (550, 2),
    "claims tables macros export": (820, 4),
    "figures": (3_583, 12),
    "run cluster": (3_127, 10),
    "analyze": (2_074, 5),
    "audit": (1_350, 4),
    "calibrate": (100, 1),
    "power": (419, 1),
    "report": (908, 4),
    "paper": (1_256, 4),
    "overview": (388, 1),
    "explain explore check": (694, 3),
    "commands __main__": (800, 5),
    "compare": (252, 1),
    "listing": (49, 1),
}
#: What is written rather than programmed counts, too: templates, and the table of figures.
TEMPLATES = {".html", ".js", ".css", ".jinja", ".tex", "specs.toml"}


def room(path: Path) -> str:
    return path.relative_to(HELPERS).parts[0].removesuffix(".py")


def imports(path: Path) -> list[tuple[ast.AST, str]]:
    """Every import statement outside TYPE_CHECKING blocks, with the module's full name."""
    found, tree = [], ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            for inner in ast.walk(node):
                inner.skip = True  # type: ignore[attr-defined]
    for node in ast.walk(tree):
        if getattr(node, "skip", False):
            continue
        if isinstance(node, ast.Import):
            found += [(node, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(paths.ROOT).parent.parts
            parts = (
                [*package[: len(package) + 1 - node.level], *filter(None, [node.module])]
                if node.level
                else [node.module]
            )
            found += [(node, ".".join([*parts, name.name])) for name in node.names]
    return found


def test_imports_within_the_package_are_relative() -> None:
    """So that the same files can be installed under another name."""
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert "helpers" not in {name.partition(".")[0] for name in names}, f"{path}, line {node.lineno}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HELPERS)))
def test_a_room_imports_only_what_the_house_allows(path: Path) -> None:
    here = room(path)
    if here == "__init__":
        return
    for _, name in imports(path):
        parts = name.split(".")
        if parts[0] == "helpers" and len(parts) > 1:
            assert parts[1] in MAY_IMPORT[here] | EVERYWHERE | {here}, f"{here} must not import {name}"
        single = name.startswith("helpers.biases.") and (HELPERS / "biases" / parts[2] / "asked.py").is_file()
        assert not single or here in {"biases", "analyze", "audit"}, f"deleting {name} would break {here}"


def test_no_bias_imports_another_but_hinting_builds_on_top_choice() -> None:
    for path in MODULES:
        if room(path) == "biases":
            own = path.relative_to(HELPERS / "biases").parts[0].removesuffix(".py")
            for _, name in imports(path):
                parts = name.split(".")
                shared = (HELPERS / "biases" / f"{parts[2]}.py").is_file() if len(parts) > 2 else True
                if parts[:2] == ["helpers", "biases"] and not shared:
                    allowed = {own, "top_choice"} if own == "hinting" else {own}
                    assert parts[2] in allowed, f"{own} must not import {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(HELPERS)))
def test_only_providers_read_the_environment_and_only_some_rooms_the_disk(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    if room(path) != "providers":
        assert "environ" not in source.replace("environment", "") and "getenv" not in source
    if room(path) not in DISK:
        # A stream that is joined to another one, or to nothing, is not on the disk.
        source = source.replace("fdopen(", "").replace("os.open(os.devnull,", "")
        for word in ("open(", "read_text(", "write_text(", "read_bytes(", "write_bytes("):
            assert word not in source, f"{path.name} touches the disk: {word}"


@pytest.mark.parametrize("path", [*MODULES, *STUDIES], ids=lambda p: str(p.relative_to(paths.ROOT)))
def test_a_room_is_read_in_one_sitting(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 600


@pytest.mark.parametrize("rooms", MOST)
def test_no_room_grows(rooms: str) -> None:
    texts = [path.read_text(encoding="utf-8").splitlines() for path in MODULES if room(path) in rooms.split()]
    written = [
        path for path in HELPERS.rglob("*") if {path.suffix, path.name} & TEMPLATES and room(path) in rooms.split()
    ]
    lines = sum(map(len, texts)) + sum(len(path.read_text(encoding="utf-8").splitlines()) for path in written)
    most_lines, most_files = MOST[rooms]
    assert lines <= most_lines and sum(len(text) > 1 for text in texts) <= most_files, (lines, most_lines)


def test_each_room_has_a_bound() -> None:
    assert {room(path) for path in MODULES} - {"__init__"} == {name for rooms in MOST for name in rooms.split()}


def test_neither_the_package_nor_a_notebook_imports_a_study() -> None:
    """Only `recuse power` asks for one, by name, where it has no pilot."""
    assert not [path for path in MODULES for _, name in imports(path) if name.split(".")[0] == "studies"]
    for notebook in paths.NOTEBOOKS.glob("*.ipynb"):
        assert not re.search(r"\b(import|from) studies", notebook.read_text(encoding="utf-8")), notebook
    code = "import sys, helpers.power; print([name for name in sys.modules if name.startswith('studies')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_store_verdicts_and_judge_need_no_more_than_they_use() -> None:
    code = """
import sys, helpers.store, helpers.verdicts, helpers.judge
late = {"pandas", "numpy", "pyarrow", "statsmodels", "seaborn", "datasets", "openai", "anthropic", "google.genai",
        "httpx2", "aiohttp", "genai_prices", "pydantic", "yaml", "jinja2", "tqdm", "tenacity", "filelock"}
print(sorted(late & set(sys.modules)))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


def test_asking_needs_no_heavy_import() -> None:
    code = f"""
import sys
for name in {NO_PANDAS_AT_START!r}: __import__("helpers." + name)
heavy = {{"pandas", "numpy", "scipy", "statsmodels", "seaborn", "matplotlib", "datasets", "openai", "anthropic",
          "google.genai", "aiohttp", "papermill", "genai_prices"}}
print(sorted(heavy & set(sys.modules)))
"""
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert loaded.strip() == "[]"


# --- services ---------------------------------------------------------------------------------------------------------

#: A service that exists nowhere: its entry and its module, put in before anything else of the project is loaded.
NEW = """
import asyncio, json, os, sys, types
from pathlib import Path
from helpers.services import SERVICES, Service

SERVICES["acme"] = Service(
    keys=("ACME_CODE",), address="ACME_URL", token_parameter="most", sdk="acme-sdk",
    limits={"requests": [f"acme-{part}-calls" for part in ("limit", "remaining", "reset")]},
)

from helpers.config import load_limits, load_models
from helpers.export import this_run
from helpers.providers import Sent, Session, addresses, missing_keys
from helpers.providers.meanings import read_limits
from helpers.check import variables
from helpers.types import Completion, Request


class Client(list):
    async def close(self):
        self.append("closed")


async def send(client, request):
    return Sent(json.dumps([client[0], request.params]))


acme = types.ModuleType("helpers.providers.acme")
acme.client, acme.send = lambda model, key: Client([key]), send
acme.read = lambda raw: Completion("", "ok", text=raw, finish="stop")
sys.modules[acme.__name__] = acme

folder, records = Path(sys.argv[1]), []
model = load_models(folder / "models.yaml")["theirs"]
told = {"missing": missing_keys([model]), "addresses": addresses([model])}
told["limit"] = [*load_limits(path=folder / "limits.yaml")]
headers = {"acme-limit-calls": "60", "acme-remaining-calls": "30", "acme-reset-calls": "10"}
told["headers"] = {counted: each.remaining for counted, each in read_limits(headers, 0.0).items()}
told["key"] = "ACME_CODE" in variables()
told["version"] = "acme-sdk" in this_run()["versions"]


async def asked():
    async with Session(lambda request: None, lambda request, completion: records.append(completion)) as session:
        reply = await session.complete(Request(model, "Hello"))
        return {"client": session.client(model)[0], "reply": reply.text, "recorded": records[0].text}


os.environ["ACME_CODE"] = "c0de-of-acme"
print(json.dumps(told | asyncio.run(asked())))
"""


def test_one_entry_and_a_module_make_a_service_known_everywhere(tmp_path: Path) -> None:
    (tmp_path / "models.yaml").write_text("theirs: {provider: acme, model_id: a-1, vendor: acme, max_tokens: 7}\n")
    (tmp_path / "limits.yaml").write_text("acme: {requests_per_minute: 60}\n")
    environment = {**os.environ, "ACME_URL": "http://127.0.0.1:9/acme"}
    environment.pop("ACME_CODE", None)
    run = subprocess.run(
        [sys.executable, "-c", NEW, str(tmp_path)], capture_output=True, text=True, env=environment, cwd=paths.ROOT
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "missing": {"ACME_CODE": ["theirs"]},
        "addresses": {"ACME_URL": "http://127.0.0.1:9/acme"},
        "limit": ["acme"],
        "headers": {"requests": 30.0},
        "key": True,
        "version": True,
        "client": "c0de-of-acme",
        # In what came back, a key that the entry names is struck out like any other.
        "reply": '["[ACME_CODE]", {"most": 7}]',
        "recorded": '["[ACME_CODE]", {"most": 7}]',
    }


@pytest.mark.parametrize("name", SERVICES)
def test_the_module_of_a_service_speaks_to_it_in_three_functions(name: str) -> None:
    module, asked = module_of(name), {"client": 2, "send": 2, "read": 1}
    assert {each: len(signature(getattr(module, each)).parameters) for each in asked} == asked
    assert {each for each in asked if iscoroutinefunction(getattr(module, each))} == {"send"}
    assert iscoroutinefunction(module.client(Model("m", name, "m", "x"), "none").close)
    assert metadata.version(SERVICES[name].sdk)


@pytest.mark.parametrize("checker", ["ruff check --no-cache", "ruff format --no-cache --check", "mypy --cache-dir={}"])
def test_a_checker_finds_nothing(checker: str, tmp_path: Path) -> None:
    words = [sys.executable, "-m", *checker.format(tmp_path).split()]
    done = subprocess.run(words, cwd=paths.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
