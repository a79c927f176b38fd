"""Which format a file of verdicts has, and the verdicts of each in the frame of their style."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from .. import datasets, frames
from ..biases import hinting
from ..biases.protocol import SIGNS
from ..datasets.answers import maker
from ..datasets.games import FORMATS as PUBLISHED, LLMBAR_LABELS, format_of, instructions, records_of
from ..datasets.hub import ERROR_FILES, JUDGMENT_FILES
from ..datasets.questions import UNKNOWN
from ..datasets.reading import LONGEST_NAME, Record, first_record, short_name
from ..types import Estimate
from . import reading
from .reading import REQUIRED, Cells, Parsed, Raw, Row, numbered, refuse_again, refuse_two, texts

NAN = float("nan")


@dataclass(frozen=True)
class Verdicts:
    """The verdicts of a file in the frame of their style (`kinds` of accepted.toml), and what else the file told.

    `frame`: of pairwise the games frame with `ordered` (whether the shown order is known), `won` (what the candidate
    won: 1, 0, 1/2 or a share) and `gold` (what it should have); of rankings the listwise frame with `gold` (the best
    candidate); of scores one row a score (question_id, category, judge, judge_vendor, candidate, candidate_vendor,
    condition, repeat, score, gold, length, outcome). `counts` has a row a judge, condition and verdict as it was
    written (n). `extra` are numbers that this format alone tells.
    """

    style: str
    frame: pd.DataFrame
    counts: pd.DataFrame
    notes: tuple[str, ...] = ()
    extra: tuple[Estimate, ...] = ()
    format: str = "tidy"
    name: str = ""

    @property
    def baseline(self) -> bool:
        """Whether all candidates were compared with one and the same."""
        pairs, different = self.style == "pairwise", self.frame["condition"] != "identical"
        return pairs and (self.format == "arena-hard" or self.frame.loc[different, "baseline"].nunique() <= 1)


#: Who stands first, as the games frame says it.
FIRSTS = ("baseline", "candidate")


def sides(shown: list[tuple[str, ...]]) -> list[tuple[str, str]]:
    """Baseline and candidate of each pair.

    The baseline is the name that stands in every pair, the first by name where two do; else of each pair the first by
    name. The same text twice is no pair of names.
    """
    names = [set(pair) for pair in shown if pair[0] != pair[1]]
    common = min(set.intersection(*names), default="") if names else ""
    return [(common, pair[pair[0] == common]) if common in pair else (min(pair), max(pair)) for pair in shown]


def pairwise(cells: Cells) -> Verdicts:
    """The games frame of a tidy file, with `ordered`, `won` and `gold`.

    Two scores on one pair in both orders are a verdict: the higher one wins, and `score_baseline`, `score_candidate`
    and `gap` (the score of the first answer less that of the second) stand beside it.
    """
    pairs = sides([row.shown for row in cells.rows])
    games = (_game(*each) for each in zip(cells.rows, pairs, strict=True))
    frame = _spread(cells, ({"at": at, **game} for at, game in enumerate(games)))
    turned = frame.pop("turned").to_numpy()
    scored, notes = cells.style == "scores", tuple[str, ...]()
    if scored:
        words = "the higher one wins; the place effect is reported in points as well."
        notes = (f"Two scores a row on pairs in both orders: {words}",)
        # Askings are counted within each order, where `repeat` counts both orders.
        keys = frame[["judge", "question_id", "condition", *FIRSTS]].assign(turned=turned)
        frame["repeat"] = frame.groupby(numbered(keys))["repeat"].rank(method="dense").astype(int) - 1
    left_out = [] if scored else ["gap", "score_baseline", "score_candidate"]
    left_out += [] if "length" in cells.raw.table else ["length_baseline", "length_candidate"]
    frame = frame.drop(columns=["row", *left_out])
    twin = (frame["baseline"].astype(object) == frame["candidate"].astype(object)).to_numpy()
    asked = frame[["judge", "question_id", *FIRSTS, "condition", "repeat"]]
    # The same text twice has no order: its first asking counts as game 1, its second as game 2.
    group = numbered(asked)
    asking = pd.Series(group).groupby(group).cumcount().to_numpy()
    second = np.where(twin, asking % 2, turned)
    game = np.where(twin, asking, second)
    refuse_again(cells.raw.place, asked.assign(game=game), "the same pair by the same judge in the same order")
    side, condition = np.where(second == 1, 1.0, -1.0), frame["condition"]
    frame = frame.assign(
        condition=condition.astype(object).mask(twin, "identical").astype("category") if twin.any() else condition,
        source=pd.Categorical([""]).repeat(len(frame)),
        judge_model=frame["judge"],
        first=pd.Categorical.from_codes(second, list(FIRSTS)),
        games=np.bincount(group)[group],
        score=frame["verdict"],
        won=(side * frame["won"] + 1) / 2,
        gold=(side * frame["gold"] + 1) / 2,
    )
    return Verdicts("pairwise", frame, counts_of(frame), notes)


def _game(row: Row, pair: tuple[str, str]) -> dict[str, object]:
    """What a row says about a pair; `won` and `gold` are signs, above 0 for the answer shown first."""
    turned = row.shown[0] != pair[0]
    lengths = row.lengths[::-1] if turned else row.lengths
    first, second = row.verdict.value if row.verdict.style == "scores" else (NAN, NAN)
    verdict, gold = _label(row.verdict), _label(row.gold)
    return {
        "turned": turned,
        "baseline": pair[0],
        "candidate": pair[1],
        "verdict": verdict.value,
        "won": SIGNS.get(verdict.value, NAN),
        "gold": SIGNS.get(gold.value, NAN),
        "length_baseline": lengths[0],
        "length_candidate": lengths[1],
        "gap": first - second if row.ordered else NAN,
        "score_baseline": second if turned else first,
        "score_candidate": first if turned else second,
        "ordered": row.ordered,
        "outcome": verdict.outcome,
    }


def _label(found: Parsed) -> Parsed:
    """The label of a verdict on a pair, or the one that two scores stand for; a score that is not there makes none."""
    if found.style != "scores":
        return found
    gap = found.value[0] - found.value[1]
    return Parsed("label", reading.label_of(gap)) if gap == gap else Parsed("", None, "unparsed")


def counts_of(frame: pd.DataFrame, value: str = "score") -> pd.DataFrame:
    """How often each judge gave each verdict as it is written, and each outcome without one: `Verdicts.counts`."""
    verdicts = frame[value].astype(object)
    verdicts = verdicts.where(frame["outcome"].astype(object) == "ok", frame["outcome"].astype(object))
    keys = [frame["judge"], frame["condition"], verdicts.rename("verdict")]
    return frame.groupby(keys, observed=True, sort=True).size().rename("n").reset_index()


#: Columns of the frames that are names.
NAMED = ("baseline", "candidate", "baseline_vendor", "candidate_vendor", "verdict", "outcome", "label")


def _spread(cells: Cells, records: Iterable[dict[str, object]]) -> pd.DataFrame:
    """The columns of all frames: what the file says of each judgment, and `records` of what its cells say, by `at`.

    `row` is the row of the file, from 0.
    """
    raw = cells.raw
    named = (
        (int(first), name, vendor)
        for first, one in zip(cells.first, cells.rows, strict=True)
        for name, vendor in zip(one.shown, one.vendors, strict=True)
    )
    made = refuse_two(raw, "candidate", "vendor", named)
    table = pd.DataFrame(records)
    for side in (name for name in FIRSTS if name in table):
        table[f"{side}_vendor"] = table[side].map(made.get)
    table = table.astype(dict.fromkeys([name for name in NAMED if name in table], "category"))
    names = ("question", "category", "judge", "judge_vendor", "condition", "repeat")
    judged = pd.DataFrame(
        {"experiment": "analyze", "at": cells.at} | {name: reading.column(raw, name) for name in names}
    )
    judged = judged.rename(columns={"question": "question_id"}).rename_axis("row").reset_index()
    # A judge's first asking is 0, wherever its numbers begin.
    judged["repeat"] = judged.groupby("judge", observed=True)["repeat"].rank(method="dense").astype(int) - 1
    different = judged[["row", "judge", "judge_vendor"]].drop_duplicates(["judge", "judge_vendor"])
    vendors = refuse_two(raw, "judge", "vendor", different.itertuples(index=False, name=None))
    # What one row tells of a judge holds for those that leave it empty.
    judged["judge_vendor"] = judged["judge"].map(lambda judge: vendors.get(judge, "")).astype("category")
    return judged.merge(table, on="at", how="left").drop(columns="at")


def _listed(cells: Cells, fields: Callable[[Row, int], dict[str, object]]) -> pd.DataFrame:
    """A frame with one row a judgment and candidate, with what `fields` says of each.

    No candidate may be judged twice by one judge on one question under one condition in one asking.
    """
    records = (
        {"at": at, "candidate": name, "length": each.lengths[slot], "slot": slot, **fields(each, slot)}
        for at, each in enumerate(cells.rows)
        for slot, name in enumerate(each.shown)
    )
    frame = _spread(cells, records).astype({"length": float})
    asked = frame[["judge", "question_id", "candidate", "condition", "repeat"]]
    refuse_again(lambda number: cells.raw.place(int(frame["row"][number])), asked, "the same answer by the same judge")
    return frame


def rankings(cells: Cells) -> Verdicts:
    """The listwise frame of a tidy file of rankings, with `gold`: the name of the answer that should be first."""

    def one(row: Row, slot: int) -> dict[str, object]:
        rank = row.verdict.value.index(slot) + 1.0 if row.verdict.style else NAN
        gold = float(slot == row.gold.value[0]) if row.gold.style == "ranking" else NAN
        place = {"slot": slot, "label": string.ascii_uppercase[slot : slot + 1] or None}
        place = place if row.ordered else {"slot": NAN, "label": None}
        return place | {"named": row.named[slot], "rank": rank, "gold": gold, "outcome": row.verdict.outcome}

    frame = _listed(cells, one)
    words = {name: frame[name].astype(object) for name in ("judge", "judge_vendor", "candidate", "candidate_vendor")}
    same_vendor = words["judge_vendor"] == words["candidate_vendor"]
    frame = frame.assign(
        judge_tier="",
        judge_model=None,
        candidate_tier="",
        candidate_model=None,
        score=NAN,
        top=(frame["rank"] == 1.0).astype(float).where(frame["rank"].notna()),
        contradicts=False,
        own_vendor=same_vendor,
        own_model=same_vendor & (words["judge"] == words["candidate"]),
    )
    best = frame[frame["top"] == 1.0].set_index("row")["candidate"].astype(object)
    heads = frame[~frame["row"].duplicated()]
    written = counts_of(heads.assign(first=heads["row"].map(best)), "first")
    return Verdicts("ranking", frame.drop(columns="row"), written)


def scores(cells: Cells) -> Verdicts:
    """One row a score of a tidy file; a score that is null has the outcome of its row, or else "unparsed"."""

    def one(row: Row, slot: int) -> dict[str, object]:
        score, gold = (each.value[slot] if each.style == "scores" else NAN for each in (row.verdict, row.gold))
        lost = row.verdict.outcome == "ok" and np.isnan(score)
        return {"score": score, "gold": gold, "outcome": "unparsed" if lost else row.verdict.outcome}

    frame = _listed(cells, one).drop(columns=["slot", "row"])
    marked = frame.assign(written=np.where(frame["score"].isna(), None, "a score"))
    return Verdicts("score", frame, counts_of(marked, "written"))


def shaped(cells: Cells) -> Verdicts:
    """The verdicts in the frame of their style; scores of pairs in both orders are verdicts on the pair."""
    shown = {row.shown for row in cells.rows}
    pairs = all(len(pair) == 2 and pair[0] != pair[1] for pair in shown) and any(pair[::-1] in shown for pair in shown)
    if cells.style == "label" or (cells.style == "scores" and pairs):
        return pairwise(cells)
    return rankings(cells) if cells.style == "ranking" else scores(cells)


def load_tidy(
    path: Path, ignore_extra: bool = False, names: Mapping[str, str] | None = None, positive: str = ""
) -> Verdicts:
    """The verdicts of a tidy file (columns: `ALL`, or `names` in their place), in the frame of their style.

    `positive`: verdicts are grades around 0, and those above it are for the answer shown "first" (or "second"); more
    than 1 from 0 is a strong verdict.
    Everything is checked before anything is computed: columns, names, verdicts, one style a file, no asking twice. A
    ValueError names file, line and field, what was found and what is valid.
    """
    return tidied(reading.read(path, ignore_extra, names), positive)


def tidied(raw: Raw, positive: str = "", notes: Iterable[str] = ()) -> Verdicts:
    """The verdicts of rows in tidy columns, in the frame of their style."""
    raw, more = _questions(raw)
    found = reading.cells(raw, positive)
    file = shaped(found)
    clusters, words = _clusters(raw)
    frame = frames.with_clusters(file.frame, clusters)
    most = frames.dominance_words(frame["cluster"])
    return replace(
        file, frame=frame, notes=(*file.notes, *more, *notes, *_ties(raw, found.style), *words, *filter(None, [most]))
    )


def _questions(raw: Raw) -> tuple[Raw, list[str]]:
    """The file with names for its questions, and what is said of them.

    A text in a name's place gets its first words and a hash; an item of a question is a question in its cluster.
    """
    table, notes = raw.table, []
    question = table["question"]
    long = (question.str.len() > LONGEST_NAME) | question.str.contains(r"[\n\r\t]", na=False)
    if long.any():
        names = {text: short_name(text) for text in question[long].unique()}
        table = table.assign(question=question.replace(names))
        notes.append(f"{long.sum():,} rows name their question by its text; its first words and a hash stand for it.")
    if "item" in table:
        named = table["question"].where(table["item"].isna(), table["question"] + ", " + table["item"])
        table = table.assign(question=named, cluster=table["cluster" if "cluster" in table else "question"])
        notes.append("Items of a question (column item) are compared one by one; the question is what varies.")
    return replace(raw, table=table), notes


def _clusters(raw: Raw) -> tuple[dict[str, str], list[str]]:
    """The cluster of each question, by the column `cluster` or by texts, and what is said of it."""
    if "cluster" in raw.table:
        rows = raw.table[["question", "cluster"]].dropna().drop_duplicates()
        clusters = refuse_two(raw, "question", "cluster", rows.itertuples(name=None))
        many = len({reading.name_of(each, "cluster") for each in clusters.values()})
        words = f"{len(clusters):,} questions are of {many:,} clusters (column cluster), which intervals take as units."
        return clusters, [words]
    if "question_text" not in raw.table:
        return {}, []
    rows = raw.table[["question", "question_text"]].dropna().drop_duplicates("question").astype(str)
    clusters = datasets.merge_near_duplicates(dict(rows.itertuples(index=False, name=None)))
    return clusters, [*filter(None, [datasets.near_duplicate_words(clusters)])]


def _ties(raw: Raw, style: str) -> list[str]:
    """That a C counts as a tie, where there is one: elsewhere it may mean that both answers are bad."""
    if style != "label":
        return []
    count = int(raw.table["verdict"].str.fullmatch(r"[\[\]]*\s*c\s*[\[\]]*", case=False).sum())
    return [f"{count:,} of {len(raw.table):,} verdicts are C, a tie as FastChat writes it."] if count else []


BY_NAMES = "Vendors are those that the names of models tell."
NO_ORDER = "The file does not tell in which order answers were shown: no number about places is made."
#: FastChat's scale.
LEAST, MOST = 1, 10


def games(frame: pd.DataFrame, notes: Iterable[str] = ()) -> Verdicts:
    """A games frame of a loader as verdicts: what is won and what should be (`gold`), whether the order is known."""
    ordered = (frame["condition"] != datasets.NO_ORDER).to_numpy()
    sign = frame["verdict"].map(SIGNS).astype(float).to_numpy()
    won = (np.where(frame["first"] == "candidate", sign, -sign) + 1) / 2
    frame = frame.assign(
        baseline_vendor=frame["baseline"].map(maker),
        condition=frame["condition"].replace(datasets.NO_ORDER, "none"),
        ordered=ordered,
        won=frame.get("won", won),
        gold=frame.get("gold", np.nan),
    )
    partly = f"of {ordered.sum():,} of {len(frame):,} verdicts: numbers about places are of these."
    order = [] if ordered.all() else [f"The shown order is known {partly}" if ordered.any() else NO_ORDER]
    return Verdicts("pairwise", frames.recoded(frame), counts_of(frame), (*order, *notes))


def arena_hard(path: Path) -> Verdicts:
    """Arena-Hard's judgments: a file, a judge's folder, or a tree of judges; broken lines are reported and left out."""
    found = datasets.load_arena(path)
    # A second game that no line holds was never asked: there is nothing in it that could not be read.
    asked = found.frame[(found.frame["outcome"] != "missing") | (found.frame["games"] > 1)]
    frame = found.frame if asked.empty else asked.reset_index(drop=True)
    notes = [f"Not read as it stands: {problem}" for problem in found.problems[:5]]
    more = len(found.problems) - len(notes)
    return games(frame, [*notes, *([f"... and {more} more."] if more > 0 else [])])


def llmbar(path: Path) -> Verdicts:
    """LLMBar's verdicts; with an instances.jsonl beside them also what is right."""
    labels = path.with_name(LLMBAR_LABELS)
    if not labels.is_file():
        return games(datasets.load_pairwise(path, "llmbar"), [f"No {LLMBAR_LABELS} beside it: no gold."])
    return games(datasets.load_pairwise(path, "llmbar", labels=labels).assign(gold=1.0))


def pandalm(path: Path) -> Verdicts:
    """PandaLM's verdicts with what most annotators say as gold; items of one instruction are one question."""
    frame = datasets.load_pairwise(path, "pandalm")
    items = frame.drop_duplicates("question_id").sort_values("question_id", key=lambda ids: ids.astype(int))
    pair = items["baseline"].astype(str) + "_" + items["candidate"].astype(str)
    of_item = dict(zip(items["question_id"], map(str, instructions(list(pair))), strict=True))
    note = "Items of one instruction, told by where their pairs of models begin anew, are one question."
    return games(frame.assign(question_id=frame["question_id"].map(of_item)), [note])


def fastchat_single(path: Path) -> Verdicts:
    """FastChat's scores of single answers; null and what is no score of its scale, as -1, could not be read.

    A turn is an item of its question; lines on the same answer with later time stamps are repeats.
    """
    records = records_of(path, "fastchat-single")
    seen: Counter[tuple[str, ...]] = Counter()
    off: list[float] = []

    def read(record: Record) -> dict[str, Any]:
        judge, score = record.get("judge") or UNKNOWN, record.number("score")
        judge = judge[0] if isinstance(judge, list) else judge
        turn = f"turn {Record(turn=record.get('turn') or 1).whole_number('turn', 1)}"
        question, model = record.id("question_id"), record.text("model")
        repeat = seen[key := (str(judge), question, model, turn)]
        seen[key] += isinstance(record.get("tstamp"), int | float)
        off.extend([score] if score != -1 and (score < LEAST or score > MOST) else [])
        verdict = score if LEAST <= score <= MOST else None
        names = {"judge": judge, "question": question, "item": turn, "candidates": [model]}
        return names | {"verdict": verdict, "repeat": repeat}

    rows = records.map(read, "question_id")
    note = [f"{len(off):,} scores such as {off[0]:g} lie outside {LEAST} to {MOST} and are unreadable."] if off else []
    return _of_rows(path, rows, note, records.lines or ())


def llm_eval(path: Path) -> Verdicts:
    """LLM-Eval's rankings: a file, or the folder of all groups; first places also as their source counts them."""
    frame, top = datasets.load_judgments(path), datasets.load_top1(path)
    top = top.assign(verdict=top["pick"].fillna("no winner known"))
    counts = top.groupby(["judge", "condition", "verdict"]).size().rename("n").reset_index()
    extra = tuple(hinting.published_picks(top, "folder"))
    return Verdicts("ranking", frame.assign(gold=np.nan), counts, tuple(frame.attrs.get("notes", ())), extra)


def _of_rows(path: Path, rows: list[dict[str, Any]], notes: Iterable[str], lines: Sequence[int] = ()) -> Verdicts:
    """Rows in tidy columns, checked and put into a frame as a tidy file is; vendors follow from the names."""
    columns = [*REQUIRED, *(key for key in reading.OPTIONAL if any(row.get(key) for row in rows))]
    table = {key: texts(row.get(key) for row in rows) for key in columns}
    table["judge_vendor"] = texts(maker(str(row["judge"])) for row in rows)
    table["candidate_vendors"] = texts(_makers(row["candidates"]) for row in rows)
    return tidied(Raw(path, pd.DataFrame(table), lines or None), notes=notes)


def _makers(candidates: Any) -> list[str]:
    names = candidates if isinstance(candidates, list) else str(candidates).split("|")
    return [maker(str(name).strip()) for name in names]


#: What loads each format that needs more than `datasets.load_pairwise`, by its name in `datasets/formats.toml`.
LOADERS: dict[str, Callable[[Path], Verdicts]] = {
    "llmbar": llmbar,
    "pandalm": pandalm,
    "llm-eval": llm_eval,
    "inspect": lambda path: _of_rows(path, *datasets.load_inspect(path)),
    "arena-hard": arena_hard,
    "fastchat-single": fastchat_single,
}


#: Formats of files of verdicts, in the order in which they are tried.
FORMATS = {name: form for name, form in PUBLISHED.items() if form["known_by"]}
TIDY = "tidy"
NAMES = (TIDY, *FORMATS)


def load(
    source: str | Path | pd.DataFrame,
    format: str | None = None,
    ignore_extra: bool = False,
    names: Mapping[str, str] | None = None,
    positive: str = "",
) -> Verdicts:
    """The verdicts of a file or folder in a known format; which one, its fields tell unless `format` does.

    Tables are tidy, or pairs of models with a winner; JSON is known by the fields of its first record, a folder by
    what lies in it. `names` makes a file tidy: its own names by our columns; so does `positive` (see `load_tidy`). What
    is of no known format is a ValueError with what was found and what is valid, a path that is not there a
    FileNotFoundError.
    """
    if isinstance(source, pd.DataFrame):  # as the file that it would be saved as, whose lines errors name
        with TemporaryDirectory() as folder:
            source.to_json(path := Path(folder) / "frame.jsonl", orient="records", lines=True, default_handler=str)
            return load(path, format, ignore_extra, names, positive)
    path = Path(source).expanduser()
    if format is not None and format not in NAMES:
        raise ValueError(f"format {format!r}; valid: {', '.join(NAMES)}")
    if not path.exists():
        raise FileNotFoundError(f"{path}: no such file or folder")
    if unknown := [name for name in names or {} if name not in reading.ALL]:
        raise ValueError(f"--map {unknown[0]}: no such column. {reading.VALID}")
    if positive not in ("", "first", "second"):
        raise ValueError(f"positive {positive!r}; valid: first, second (for which answer a grade above 0 is)")
    chosen = TIDY if names or positive else format or (_of_folder(path) if path.is_dir() else _of_file(path))
    if chosen == TIDY:
        if path.is_dir():
            raise ValueError(f"{path}: tidy verdicts are one file, this is a folder")
        file = load_tidy(path, ignore_extra, {theirs: ours for ours, theirs in (names or {}).items()}, positive)
    else:
        as_pairs = {"wide-pairs": "votes"}.get(chosen, chosen)
        if chosen in datasets.EXPORTS:
            file = _of_rows(path, *datasets.load_export(path, chosen))
        else:
            file = LOADERS[chosen](path) if chosen in LOADERS else games(datasets.load_pairwise(path, as_pairs))
        file = replace(file, notes=(BY_NAMES, *file.notes))
    name = "" if path.is_dir() else path.name.removesuffix(".gz").rpartition(".")[0]
    return replace(file, format=chosen, name=name or path.name, notes=(*file.notes, *_alike(file)))


def _alike(file: Verdicts) -> list[str]:
    """What is said of names that differ in nothing but capitals: they are different judges or candidates."""
    names: dict[str, set[str]] = {}
    for column in {"judge", "candidate", "baseline"} & {*file.frame}:
        for name in file.frame[column].dropna().unique():
            names.setdefault(str(name).casefold(), set()).add(str(name))
    twins = [" and ".join(sorted(found)) for found in names.values() if len(found) > 1]
    return [f"Names that differ in capitals alone are taken as different: {'; '.join(twins[:5])}."] if twins else []


def _of_folder(path: Path) -> str:
    names = {each.name for each in path.iterdir()}
    if names & {*JUDGMENT_FILES, *ERROR_FILES}:
        return "llm-eval"
    if any(path.rglob("*.eval")):
        return "inspect"
    if found := sorted(path.rglob("*.jsonl")):
        formats = {}
        for each in found[: reading.ACCEPTED["most"]["tried"]]:
            with suppress(ValueError, OSError):
                formats[each.relative_to(path)] = _of_file(each)
        if formats and "arena-hard" not in formats.values():
            files = ", ".join(f"{name} ({format})" for name, format in [*formats.items()][:8])
            raise ValueError(
                f"{path}: not Arena-Hard's judgments (<judge>/<model>.jsonl); name one file, such as {files}"
            )
        return "arena-hard"
    if any(path.rglob("*.json")):
        return "inspect"
    advice = ", ".join(sorted(names)[:20]) or "nothing"
    expected = "Arena-Hard's judgments (<judge>/<model>.jsonl), logs of Inspect (.eval, .json), or LLM-Eval's groups"
    raise ValueError(f"{path}: found {advice}; expected {expected}; a tidy file is named itself")


def _of_file(path: Path) -> str:
    if path.suffix.lower() == ".eval":
        return "inspect"
    end = reading.end_of(path)
    if end not in (".json", ".jsonl"):
        wide = end != ".parquet" and {"model_a", "model_b", "winner"} <= {*reading.header(path)[1]}
        return "wide-pairs" if wide else TIDY
    record = first_record(path)
    if name := format_of(record):
        return name
    # With two of its columns a file means to be tidy: faults are reported by column.
    if len(record.keys() & {*REQUIRED}) >= 2 or not record:
        return TIDY
    if shape := reading.shape_of(record):
        raise ValueError(f"{path}: {shape}")
    fields = {TIDY: [{*REQUIRED}]}
    fields |= {name: [{*each.split()} for each in form["known_by"]] for name, form in FORMATS.items()}
    nearest = sorted(fields, key=lambda name: -max(len(each & record.keys()) / len(each) for each in fields[name]))
    needed = (f"{name} ({' or '.join(', '.join(sorted(each)) for each in fields[name])})" for name in nearest)
    raise ValueError(
        f"{path}: fields {', '.join(sorted(record)[:30])} are of no known format: {'; '.join(needed)}; "
        "--map judge=... names the columns of a tidy file as this one has them"
    )
