"""The golden files: `python -m tests.golden.build [results keys replies analyze audit]` makes them anew.

Each part is a table from a place (a text that says what it is) to the fields that stand there, as texts.
"""

from __future__ import annotations

import asyncio
import csv
import json
import math
import os
import random
import sys
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count, groupby
from pathlib import Path
from typing import Any

from helpers import paths, prompts, store, verdicts
from helpers.analyze import analyze
from helpers.audit import asking
from helpers.config import builtin_knowledge, load_experiment, load_models
from helpers.judge import judge_all
from helpers.providers import simulated
from helpers.run.asking import bias_of, questions_of
from helpers.types import Completion, Estimate, Judgment, Model, Request, Trial, Usage
from tests import audits

Table = dict[str, dict[str, str]]
FOLDER = Path(__file__).parent
MODELS = FOLDER / "models.yaml"
NUMERIC = ("value", "low", "high", "n", "clusters", "unit", "p", "effective")

# --- tables -----------------------------------------------------------------------------------------------------------


def save(name: str, table: Mapping[str, Mapping[str, str]]) -> None:
    """Write a table as a sorted CSV: one line a place."""
    fields = list(dict.fromkeys(field for row in table.values() for field in row))
    path = FOLDER / f"{name}.csv"
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["at", *fields])
        rows.writerows([at, *(table[at].get(field, "") for field in fields)] for at in sorted(table))


def load(name: str) -> Table:
    """The table of that name; what is empty in a row is no field of it."""
    with (FOLDER / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("at"): {field: text for field, text in row.items() if text} for row in csv.DictReader(file)}


def differences(golden: Table, now: Mapping[str, Mapping[str, str]], within: float = 0.0) -> list[str]:
    """What differs, a line each: place, field, golden text, text now. Numbers are equal `within` a share of them."""
    found = []
    for at in sorted(golden.keys() | now.keys()):
        if at not in now or at not in golden:
            found.append(f"{at}: {'gone' if at in golden else 'new'}")
            continue
        there = {field: text for field, text in now[at].items() if text}
        for field in dict.fromkeys([*golden[at], *there]):
            was, text = golden[at].get(field, "absent"), there.get(field, "absent")
            if was != text and not _near(was, text, within):
                found.append(f"{at}: {field}: golden {was}, now {text}")
    return found


def _near(was: str, text: str, within: float) -> bool:
    try:
        return within > 0 and math.isclose(float(was), float(text), rel_tol=within)
    except ValueError:
        return False


def text_of(value: Any) -> str:
    """A value as a table holds it: numbers with 9 significant digits, what is no more than rounding as 0."""
    if isinstance(value, float):
        return "null" if math.isnan(value) else f"{0.0 if abs(value) < 1e-14 else value:.9g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _rows(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> Table:
    found: Table = {}
    for at, fields in rows:
        if at in found:
            raise ValueError(f"two rows at {at!r}")
        found[at] = {field: text_of(value) for field, value in fields.items()}
    return found


def _place(where: Mapping[str, str]) -> str:
    return "; ".join(f"{name}={where[name]}" for name in sorted(where))


# --- results: what figures/ holds -------------------------------------------------------------------------------------


def result_names() -> list[str]:
    """The default result folders."""
    return sorted(path.parent.name for path in paths.FIGURES.glob("*/numbers.json"))


def results(name: str) -> Table:
    """Every number, claim, row and line of the card in figures/<name>, with the digits that are written there."""
    folder, found = paths.FIGURES / name, list[tuple[str, Mapping[str, Any]]]()
    exact: Any = {"parse_float": str, "parse_int": str}
    for each in json.loads((folder / "numbers.json").read_text(encoding="utf-8"), **exact)["numbers"]:
        found.append((f"number: {_named(each)}", _picked(each)))
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            at = " ".join(["claim:", *([row["experiment"]] if "experiment" in row else []), row["id"]])
            fields = ("published", "recomputed", "unit", "tolerance", "status")
            found.append((at, {field: row[field] for field in fields}))
    path = folder / "summary.json"
    for part, entries in (json.loads(path.read_text(encoding="utf-8"), **exact) if path.exists() else {}).items():
        for each in entries if isinstance(entries, list) else ():
            if part == "card":
                at = f"card: {each['judge']}, {each['measure']}: {_named(each['estimate'])}"
                more = {"verdict": each["verdict"], "holm": each["p"], "smallest": each.get("smallest")}
                found.append((at, {**_picked(each["estimate"]), **more}))
            elif part == "rows":
                found.append((f"row: {_named(each)}", {**_picked(each), "unreadable": each["unreadable"]}))
            else:
                first, *rest = each
                found.append((f"{part}: {first} {each[first]}", {name: each[name] for name in rest}))
    return _rows(found)


def _named(each: Mapping[str, Any]) -> str:
    return f"{each['id']} [{each['data']}] {_place(each['where'])}".strip()


def _picked(each: Mapping[str, Any]) -> dict[str, Any]:
    return {field: each[field] for field in NUMERIC if field in each}


# --- keys: what is asked ----------------------------------------------------------------------------------------------

KINDS = tuple(name for name in load_models(MODELS) if name != "rule_editor")
DRAWN = 500
HINTS = ["self", "competitors", "full", "swapped", "false_self", "competitors_masked", "model"]
ASKED: dict[str, dict[str, Any]] = {
    "mt_bench_blind": {"candidates": KINDS[:6], "repeats": 2, "question_limit": 3},
    "hinting_groups": {"candidates": KINDS[:6], "repeats": 2, "question_limit": 2, "hints": HINTS},
    "quality_self_preference": {
        **{"candidates": KINDS[:6], "editor": "openai_schema", "paraphrase": True, "question_limit": 2}
    },
    "arena_hard_position_bias": {"candidates": KINDS[2:5], "baselines": ["sim_text"], "question_limit": 6},
    "cognitive_biases": {"question_limit": 28},
    "verbosity_style": {"question_limit": 3},
}


def simulated_judgment(trial: Trial) -> Judgment:
    """What a simulated model says in the place of the one that is asked, read."""
    request, model = trial.request, trial.request.model
    if not model.simulated:
        more = {"params": {}, "base_url": None, "revision": None, "knowledge": builtin_knowledge()}
        request = replace(request, model=replace(model, provider="simulated", **more))
    text, finish = simulated.reply(request)
    return verdicts.read(trial, Completion(trial.request.key, "ok", text, finish, model=model.model_id))


def trials(name: str, models: Path = MODELS) -> Iterator[tuple[str, Trial]]:
    """All trials of an experiment with its stage, asked of a judge of each kind; nothing is sent and nothing stored."""
    if name == "audit":
        for judge in (load_models(models)[kind] for kind in KINDS):
            yield from (("judging", trial) for trial in asking.trials(audits.BATTERY, judge))
        return
    settings = {key: list(value) if isinstance(value, tuple) else value for key, value in ASKED[name].items()}
    experiment = load_experiment(name, models, judges=list(KINDS), store="no-store", **settings)
    bias, questions, replied = bias_of(experiment), questions_of(experiment), dict[str, Judgment]()
    for stage in bias.stages:
        here = bias.trials(stage, experiment, questions, replied)
        if stage != bias.stages[-1]:
            replied |= {trial.request.key: simulated_judgment(trial) for trial in here}
        yield from ((stage, trial) for trial in here)


def keys(names: Iterable[str] = (*ASKED, "audit"), models: Path = MODELS, only: Container[str] | None = None) -> Table:
    """The key at each place: experiment / stage / form / condition / judge / question / repeat / what is shown.

    `only` names the places that are looked at (None: all).
    """
    found = defaultdict[str, set[str]](set)
    for name in names:
        for stage, trial in trials(name, models):
            what = (*trial.shown, trial.wording.name if trial.wording else "", *trial.where.values())
            at = (name, stage, trial.form, trial.condition, trial.judge.name, trial.question_id)
            shown = " ".join(dict.fromkeys(map(str, filter(None, what))))
            place = " / ".join([*at, f"repeat {trial.request.repeat}", shown])
            if only is None or place in only:
                found[place].add(trial.request.key)
    return {at: {"key": " ".join(sorted(each))} for at, each in found.items()}


def drawn_keys() -> Table:
    """DRAWN places with one key each: in turn from each experiment, stage, form and condition, and there each kind."""
    every = {at: row for at, row in keys().items() if " " not in row["key"]}
    cells = [sorted(each) for _, each in groupby(sorted(every), key=lambda at: at.split(" / ")[:4])]
    by_kind = []
    for cell in cells:
        left = defaultdict[str, list[str]](list)
        for at in random.Random(cell[0]).sample(cell, len(cell)):
            left[at.split(" / ")[4]].append(at)
        by_kind.append(left)
    found: Table = {}
    for turn in count():
        for number, left in enumerate(by_kind):
            here = sorted(kind for kind in left if left[kind])
            if here:
                at = left[here[(turn + number) % len(here)]].pop()
                found[at] = every[at]
            if len(found) == DRAWN:
                return found


# --- replies: store files that any later reader has to read -----------------------------------------------------------

NONCE = "5eed"
LABELS = {"listwise": "ABC", "pairwise": "AB", "choice": "ABCD", "several": "ABCD", "number": "", "text": ""}
#: Replies, in marked text and by schema: name, form, text, end; a name begins with what becomes of the reply.
CASES = json.loads((FOLDER / "cases.json").read_text(encoding="utf-8"))
STORED = {"server_text": CASES["words"], "fleet_schema": CASES["schema"], "google_schema": CASES["schema"][:3]}
#: Attempts before a reply came, and of a request that never had one.
FAILED = (("rate_limited", "429: slow down", False), ("provider_error", "500", False), ("maybe_billed", "cut", True))


def asked_of(judge: Model) -> dict[str, Trial]:
    """The trials whose replies a store file holds, and one without a reply, by name."""
    found = {}
    for name, form, _, _ in (*STORED[judge.name], ("missing", "pairwise", "", None)):
        labels = tuple(LABELS[form])
        schema = prompts.schema(form, labels) if judge.structured and form != "text" else None
        request = Request(judge, f"The prompt of {name}: which one?", "You judge.", schema, repeat=len(name) % 2)
        found[name] = Trial("golden", name, "general", judge, request, "none", form, labels, labels, NONCE)
    return found


def write_store(model: str, folder: Path) -> None:
    """Write the store file of a model as the present code does."""
    asked, lines = asked_of(load_models(MODELS)[model]), list[bytes]()

    def add(name: str, **fields: Any) -> None:
        trial = asked[name]
        reply = Completion(trial.request.key, **{"latency": 1.25, "at": f"2026-01-02T03:04:{len(lines):02}Z", **fields})
        lines.append(store.encode(trial.request, reply, {"experiment": "golden", "question_id": name}))

    logprobs = {
        "content": [{"token": each, "logprob": at, "top_logprobs": []} for each, at in (("C", -0.25), ("D", -2.0))]
    }
    logprobs["content"] = [{**logprobs["content"][0], "top_logprobs": logprobs["content"]}]
    for number, (name, _, text, finish) in enumerate(STORED[model]):
        for attempt, (status, error, billed) in enumerate(FAILED[:number] if name == "ok_pairwise" else ()):
            add(name, status=status, error=error, maybe_billed=billed, attempt=attempt)
        choice = {"message": {"content": text}} | ({"logprobs": logprobs} if name == "ok_choice" else {})
        usage = Usage(100 + number, 10, *((4, 64, 8) if number % 2 else ()))
        more = {
            "raw": json.dumps({"choices": [choice]}),
            "request_id": f"r-{number}",
            "model": "served",
            "usage": usage,
        }
        add(name, status="ok", text=text, finish=finish, attempt=3 if name == "ok_pairwise" else 0, **more)
    add("missing", status="bad_request", error="400: no such parameter")
    add("ok_pairwise", status="ok", text="a later reply to the same request", finish="stop", attempt=1)
    tail = lines[0][: len(lines[0]) // 2] if model == "server_text" else b""
    folder.mkdir(exist_ok=True)
    store.file_of(folder, model).write_bytes(b"".join(lines) + tail)


def replies(folder: Path) -> Table:
    """What is read from the store files in `folder`: of each line its kind, of each trial its reply and its verdict."""
    found = list[tuple[str, Mapping[str, Any]]]()
    for model in STORED:
        asked, path = asked_of(load_models(MODELS)[model]), store.file_of(folder, model)
        read = asyncio.run(judge_all(asked.values(), folder=folder, ask=False, show=False))
        refused = store.refused(path)
        for (name, trial), judgment in zip(asked.items(), read, strict=True):
            reply, verdict = judgment.completion, judgment.verdict
            fields = {"outcome": judgment.outcome, "refused": trial.request.key in refused}
            if reply:
                names = ("status", "text", "finish", "model", "request_id", "latency", "attempt", "maybe_billed")
                fields |= {each: getattr(reply, each) for each in names} | {
                    "usage": vars(reply.usage),
                    "came": reply.at,
                }
            if verdict:
                names = ("ranking", "scores", "choice", "choices", "number", "contradicts", "justification")
                fields |= {each: getattr(verdict, each) for each in names}
                fields["probabilities"] = {label: text_of(at) for label, at in verdict.probabilities.items()}
            found.append((f"{model} / {name}", {each: json.dumps(value) for each, value in fields.items()}))
        for line in store.scan(path):
            status = line.record["status"] if line.record else ""
            found.append((f"{model} / line {line.number:02}", {"kind": line.kind, "line_status": status}))
    return _rows(found)


# --- analyze and audit: what is computed from verdicts ----------------------------------------------------------------

FILES = (
    "arena_hard/arena_hard_battles.jsonl",
    "arena_hard/v0.1-greek",
    "arena_hard/v2.0/gemini-2.5-flash/gemini-2.0-flash-lite-001.jsonl",
    "judges_2026/composo_rewardbench2_k8/recuse_sample.csv",
    "judges_2026/judge_bias_battery/position_recuse_by_task.csv",
    "judges_2026/selfbias_luna_mini_haiku/recuse_no_empty.csv",
    "judges_2026/ssafy_gpt5_sonnet45_gemini25/verdicts.csv",
    "llm_eval/exp3_full_hint_top1.jsonl",
    "mt_bench/arena_bench_v1_single_scores.jsonl",
    "mt_bench/gpt4_pair_phi3.jsonl",
    "mt_bench/human_judgments.jsonl",
    "pairwise/pandalm/testset_verdicts.jsonl",
)


def analyzed(data: Path, file: str) -> Table:
    """Every number that `recuse analyze` computes from a file."""
    found = analyze(data / file).estimates
    return _rows((f"{file} / {each.id} / {_place(each.where)}", _numbers(each)) for each in found)


def _numbers(each: Estimate) -> dict[str, Any]:
    floats = {field: float(getattr(each, field)) for field in ("value", "low", "high", "p", "effective")}
    return {**floats, "n": int(each.n), "clusters": int(each.clusters), "unit": each.unit}


AUDITED = ("sim_claude_judge", "sim_gpt_judge", "sim_gemini_judge", "sim_llama_judge")


def audited(name: str) -> Table:
    """The card of a simulated judge of models.yaml that was asked the whole battery."""
    traits = load_models()[name].traits
    found = audits.findings(audits.judged(traits, id=name))
    names = ("smallest", "moved", "read", "asked")
    return _rows(
        (
            f"{name} / {probe}",
            {"verdict": each.verdict, "holm": each.p, **_numbers(each.estimate)}
            | {key: getattr(each, key) for key in names},
        )
        for probe, each in found.items()
    )


# --- all of it --------------------------------------------------------------------------------------------------------


def build(parts: Iterable[str]) -> None:
    """Write the golden files of these parts; store files that are there stay, for they are what was written once."""
    for part in parts:
        if part == "results":
            for name in result_names():
                save(f"results/{name}", results(name))
        elif part == "keys":
            save("keys", drawn_keys())
        elif part == "replies":
            for model in STORED:
                if not store.file_of(FOLDER / "replies", model).exists():
                    write_store(model, FOLDER / "replies")
            save("replies", replies(FOLDER / "replies"))
        elif part == "audit":
            save("audit", {at: row for name in AUDITED for at, row in audited(name).items()})
        elif part == "analyze" and "REAL_DATA" in os.environ:
            data = Path(os.environ["REAL_DATA"])
            save("analyze", {at: row for file in FILES for at, row in analyzed(data, file).items()})
        else:
            print(f"{part}: left as it is" if part == "analyze" else f"{part}: no such part")


if __name__ == "__main__":
    build(sys.argv[1:] or ("results", "keys", "replies", "audit", "analyze"))
