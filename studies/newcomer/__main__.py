"""What the tasks of a newcomer need, and whether an answer is right: `python -m studies.newcomer check 1 FOLDER`."""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd

from helpers import paths
from helpers.config import builtin_knowledge, load_models
from helpers.providers.simulated import reply
from helpers.types import Request

#: The model that the server serves, and the hours after which it ends.
SERVED, HOURS = "house-judge", 2.0


def verdicts(judge: str, first: float, questions: int, seed: int) -> Iterator[dict[str, str]]:
    """Both orders of two answers to each question; the place shown first is named in this share of verdicts."""
    rng = random.Random(f"{seed}:{judge}")
    for number in range(questions):
        for shown in (("alpha", "beta"), ("beta", "alpha")):
            named = "first" if rng.random() < first else "second"
            yield {"judge": judge, "question": f"p{number:03}", "shown": "|".join(shown), "named": named}


def give(task: int, folder: Path) -> None:
    """Write what a task needs."""
    folder.mkdir(parents=True, exist_ok=True)
    if task > 2:
        print(f"task {task} needs no file")
    elif task == 1:
        rows = pd.DataFrame(verdicts("lab", 0.33, 120, 1))
        rows[["answer_1", "answer_2"]] = rows.pop("shown").str.split("|", expand=True).to_numpy()
        renamed = {"judge": "grader", "question": "prompt_id", "named": "preferred"}
        rows.rename(columns=renamed).to_csv(folder / "votes.csv", index=False)
    else:
        rows = pd.DataFrame([*verdicts("red", 0.62, 80, 2), *verdicts("blue", 0.5, 80, 2)])
        games = rows.assign(candidates=rows.pop("shown").str.split("|"))
        games.rename(columns={"named": "verdict"}).to_parquet(folder / "games.parquet")


def place_effect(rows: pd.DataFrame) -> tuple[float, float]:
    """How much oftener the first place is named than the second, in pp, and the standard error by questions."""
    sides = (rows["named"] == "first").astype(float) * 2 - 1
    means = 100 * sides.groupby(rows["question"]).mean()
    return float(means.mean()), float(means.std() / math.sqrt(len(means)))


def check(task: int, folder: Path) -> str:
    """What is wrong with an answer, "" where it is right."""
    return (check_figure, check_notebook, check_card, check_paper, check_experiment)[task - 1](folder)


def check_figure(folder: Path) -> str:
    """Place, effect and interval as computed by hand, and a figure."""
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    effect, error = place_effect(pd.DataFrame(verdicts("lab", 0.33, 120, 1)))
    if answer["place"] != ("first" if effect > 0 else "second") or abs(abs(answer["pp"]) - abs(effect)) > 0.6:
        return f"the effect is {effect:+.1f} pp"
    width = abs(answer["high"] - answer["low"])
    if not 0.8 < width / (2 * 1.98 * error) < 1.25:
        return f"the interval should be about {2 * 1.98 * error:.1f} pp wide, not {width:.1f}"
    figure = folder / answer["figure"]
    return "" if figure.suffix in (".png", ".pdf") and figure.is_file() else f"{figure}: no figure"


def check_notebook(folder: Path) -> str:
    """An executed notebook without errors that shows the effect of both judges."""
    cells = [each for each in nbformat.read(folder / "answer.ipynb", as_version=4).cells if each.cell_type == "code"]
    outputs = [output for cell in cells for output in cell.outputs]
    if not outputs or any(output.output_type == "error" for output in outputs):
        return "the notebook was not executed, or has an error"
    text = json.dumps(outputs).replace("\\u2212", "-")
    for judge, first in (("red", 0.62), ("blue", 0.5)):
        effect, _ = place_effect(pd.DataFrame(verdicts(judge, first, 80, 2)))
        if f"{effect:.1f}" not in text and f"{effect / 100:.3f}" not in text:
            return f"the effect of {judge}, {effect:+.1f} pp, is not shown"
    return ""


def check_card(folder: Path) -> str:
    """A whole card of the served model, and an answer that says what it says."""
    cards = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("card/**/card.json")]
    if not cards or SERVED not in json.dumps(cards[0]["judge"]):
        return f"no card of {SERVED} in {folder / 'card'}"
    shown = {each["probe"]: {each["probe"], each["id"]} for each in cards[0]["probes"] if each["verdict"] == "biased"}
    if "order" not in shown:
        return f"the model prefers the place shown first, and the card calls biased: {', '.join(shown) or 'nothing'}"
    answer = json.loads((folder / "answer.json").read_text(encoding="utf-8"))["biased"]
    named = {name for name, names in shown.items() for each in answer if each in names or each.startswith(name)}
    return "" if named == {*shown} and len(answer) == len(shown) else f"the card shows {', '.join(sorted(shown))}"


def check_paper(folder: Path) -> str:
    """A figure that is there, and three numbers with intervals by macros that a file of the folder defines."""
    text = (folder / "paper.tex").read_text(encoding="utf-8")
    there = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("figures/*.*")}
    inserted = re.findall(r"\\(?:includegraphics(?:\[[^\]]*\])?|input)\{(?:\\RecuseFolder\s*)?([^}]+)\}", text)
    if not any(
        file.endswith(re.sub(r"\.(pdf|tex)$", "", each)) for file in there for each in inserted if "figures/" in each
    ):
        return f"none of these is a figure that is there: {', '.join(inserted) or 'nothing'}"
    files = (path.read_text(encoding="utf-8") for path in folder.rglob("numbers.tex"))
    numbers = {name for file in files for name in re.findall(r"\\Recuse\w*Number\{(\w+)\}", file)}
    used = set(re.findall(r"\\([A-Za-z]+?)(?:Full|Interval)(?![A-Za-z])", text)) & numbers
    return "" if len(used) >= 3 else f"{len(used)} numbers with their intervals by macros of `recuse paper`"


def check_experiment(folder: Path) -> str:
    """The experiment is declared in the clone, was run, and gave several judges an interval; nothing was changed."""
    if not (paths.EXPERIMENTS / "capital_letters" / "numbers.yaml").is_file():
        return "experiments/capital_letters/numbers.yaml is not there"
    found = [*paths.FIGURES.glob("capital_letters/numbers.json"), *paths.RUNS.glob("capital_letters-*/numbers.json")]
    numbers = [each for path in found for each in json.loads(path.read_text(encoding="utf-8"))["numbers"]]
    judges = {each["where"].get("judge") for each in numbers if each.get("low") is not None} - {None}
    if len(judges) < 2:
        return f"intervals of {len(judges)} judges"
    changed = subprocess.run(["git", "diff", "--name-only", "helpers"], cwd=paths.ROOT, capture_output=True, text=True)
    return f"files of the package were changed: {changed.stdout}" if changed.stdout.strip() else ""


class Served(BaseHTTPRequestHandler):
    """OpenAI's chat completions of a simulated judge with a strong preference for the place shown first."""

    def do_GET(self) -> None:
        """The list of models."""
        self._send({"object": "list", "data": [{"id": SERVED, "object": "model"}]})

    def do_POST(self) -> None:
        """One reply."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        texts = {each["role"]: each["content"] for each in body["messages"]}
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
        text, finish = reply(Request(JUDGE, texts["user"], texts.get("system", ""), schema))
        message = {"role": "assistant", "content": text}
        counts = {"prompt_tokens": len(texts["user"]) // 4, "completion_tokens": len(text) // 4}
        choice = {"index": 0, "message": message, "finish_reason": finish or "stop"}
        self._send({"id": "x", "object": "chat.completion", "model": SERVED, "choices": [choice], "usage": counts})

    def _send(self, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


KNOWN = load_models(knowledge=builtin_knowledge())["sim_gpt_fast"]
JUDGE = replace(KNOWN, traits={**KNOWN.traits, "primacy": [2.5, 0.0, 0.0, 0.0, 0.0, 0.0]})


def serve(folder: Path) -> None:
    """Serve the model at 127.0.0.1 for some hours, its address in the folder."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Served)
    address = f"http://127.0.0.1:{server.server_port}/v1"
    (folder / "address.txt").write_text(f"{address} {SERVED}\n", encoding="utf-8")
    print(address, SERVED, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(HOURS * 3600)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="studies.newcomer", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    for name in ("give", "check"):
        action = actions.add_parser(name)
        action.add_argument("task", type=int, choices=range(1, 6))
        action.add_argument("folder", type=Path)
    actions.add_parser("serve").add_argument("folder", type=Path)
    asked = parser.parse_args()
    if asked.action == "serve":
        serve(asked.folder)
    elif asked.action == "give":
        give(asked.task, asked.folder)
    else:
        wrong = check(asked.task, asked.folder)
        print(f"not yet: {wrong}" if wrong else "right")
        raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
