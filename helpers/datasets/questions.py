"""Questions of a benchmark, alone or on passages, in any of the layouts of `question_sets.toml`."""

from __future__ import annotations

import re
import tempfile
import unicodedata
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from html import unescape
from itertools import count, takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..paths import load_table
from ..types import Question, short_hash
from .hub import NAMES, QUESTION_FILES, Entry, Source, find_files
from .reading import Record, Records, checked_text, open_parquet, read_rows, refuse_if, show

FORMS: dict[str, dict[str, Any]] = load_table("datasets/question_sets.toml")
PASSAGE_FILES = tuple(NAMES["files"]["passages"])
#: The split that is taken of a folder laid out as data sets on the hub are.
SPLIT = "data/validation-*.parquet"
#: Texts of which this many of 100 letters are the same, in the same order, are near-duplicates (rapidfuzz's `ratio`).
NEAR = 90
#: Of more texts than this only those that are equal but for case, spaces and punctuation are found.
MOST_COMPARED = 10_000
#: The category of what has none.
UNKNOWN = "unknown"
Mapper = Callable[..., Any]
#: The letters of options.
LETTERS = "ABCD"
REASONS = "a reason for each of 4 options"
_WRITTEN = re.compile(r"[\W_]+")


def read_sets(
    source: Source, hub: Entry, names: tuple[str, ...], mappers: Mapping[str, Mapper], what: str = "", others: str = ""
) -> Iterator[tuple[Records, Mapper]]:
    """The records of each file that `source` means, and which of the mappers reads its format (`question_sets.toml`).

    By default these are the questions of the hub entry, or else its answers, which hold theirs. JSON and Parquet files
    of the hub, and of a folder laid out like a data set there (its validation split), are read by the library
    `datasets`, each column with its type.
    """
    splits = [] if source == "hub" else sorted(Path(source).expanduser().glob(SPLIT))
    what = what or ("questions" if hub and hub.get("questions") else "answers")
    forms = {name: FORMS[name] for name in mappers}
    for path in splits if len(splits) == 1 else find_files(source, hub, what, names, others):
        table = path.suffix == ".parquet"
        if table:
            with open_parquet(path) as file:
                records = Records(path, (dict.fromkeys(file.schema_arrow.names),), (1,))
        else:
            records = read_rows(path)
        expected = "one of " + "; ".join(form["words"] for form in forms.values())
        name = records.kind({name: form["needs"] for name, form in forms.items()}, expected)
        if table or (Path(source).expanduser() != path and path.suffix != ".csv"):
            rows = _typed(records, forms[name])
            records = replace(records, rows=rows, lines=tuple(range(1, len(rows) + 1)) if table else records.lines)
        yield records, mappers[name]


def _typed(records: Records, form: Mapping[str, Any]) -> tuple[Any, ...]:
    """The rows of a data set, its columns of the types of its format.

    JSON that is not of these types, or of which the library would change a text (dates), is left to the mapper.
    """
    from datasets import Features, Json, List, Value, load_dataset
    from datasets.exceptions import DatasetsError
    from pyarrow import ArrowException

    table = records.path.suffix == ".parquet"
    types = {name: form["columns"].get(name) for name in records.fields if name in form["columns"] or not table}
    features = {
        name: List(Value(type[0])) if isinstance(type, list) else Value(type) if type else Json()
        for name, type in types.items()
    }
    more: dict[str, Any] = {"columns": [*types]} if table else {}
    try:
        with tempfile.TemporaryDirectory() as folder:
            more |= {"split": "train", "streaming": True, "cache_dir": folder}
            kind = "parquet" if table else "json"
            rows = [*load_dataset(kind, data_files=str(records.path), features=Features(features), **more)]
        if table:
            return tuple(rows)
        pairs = [*zip(records.rows, rows, strict=True)]
        values = [(old[name], new[name]) for old, new in pairs for name in old]
        changed = any(isinstance(one, str) and isinstance(other, str) and one != other for one, other in values)
        return records.rows if changed else tuple({name: new[name] for name in old} for old, new in pairs)
    except (DatasetsError, ArrowException, TypeError, ValueError) as error:
        if table:
            raise ValueError(f"{records.path}: {str(error).splitlines()[0]}; expected {form['words']}") from None
        return records.rows


def load_questions(source: Source, hub: Entry = None) -> tuple[Question, ...]:
    """The questions in a file, in a folder with exactly one of QUESTION_FILES, or behind the hub entry ("hub").

    The format is that of the records, their order is kept; published answers stand for the questions that they answer.
    """
    mappers = {"own": _plain, "mt_bench": _mt_bench, "answered": _answered, "judged_pair": _judged_pair}
    records, read = next(read_sets(source, hub, QUESTION_FILES, mappers))
    questions = records.map(read)
    if read is _answered:
        first: dict[str, tuple[int, Question]] = {}
        for line, question in zip(records.lines, questions, strict=True):
            earlier, other = first.setdefault(question.id, (line, question))
            if other != question:
                where = f"{records.path}, lines {earlier} and {line}"
                raise ValueError(f"{where}: question {question.id} with two different texts or categories")
        return tuple(question for _, question in first.values())
    return once(records, [replace(one, id=one.id or f"pair_{at:03d}") for at, one in enumerate(questions)])


def load_arena_questions(source: Source, hub: Entry = None) -> tuple[Question, ...]:
    """The questions in Arena-Hard's question.jsonl, v2.0 or v0.1: the file, the folder that it lies in, or "hub"."""
    mappers = {"arena_prompt": _arena, "arena_turns": _arena}
    records, _ = next(read_sets(source, hub, ("question.jsonl",), mappers))
    return once(records, records.map(_arena))


def once(records: Records, questions: Sequence[Question]) -> tuple[Question, ...]:
    """The questions, each id once."""
    records.refuse_duplicates([question.id for question in questions], "question ids")
    return tuple(questions)


def load_passages(source: Source, hub: Entry = None, hard: bool = False) -> tuple[Question, ...]:
    """The questions on passages in a file, in a folder with exactly one of PASSAGE_FILES, or behind the hub entry.

    QuALITY (tags are stripped, paragraphs kept), our own articles, whose `reasons` become points, or the flat records
    of published answers. `category` is the source of the article, `gold` a letter; `hard` keeps what the data set marks
    as difficult. Flat records without gold are left out with a warning.
    """
    mappers = {"quality": _quality, "quality_rows": _quality_row, "articles": _article, "flat": read_flat}
    records, read = next(read_sets(source, hub, PASSAGE_FILES, mappers))
    path = records.path
    placed = placed_questions(records, read)
    if left_out := sorted({*range(len(records.rows))} - {at for at, _ in placed}):
        # Of the file's name alone: the folders are those of one machine, and notebooks keep what is warned of.
        example = f"for instance record {left_out[0] + 1}, line {records.lines[left_out[0]]}"
        none = f"{len(left_out)} of {len(records.rows)} records have no gold label (field 'output_label')"
        warnings.warn(f"{path.name}: {none} and are left out, {example}", stacklevel=2)
    questions = tuple(question for _, question in placed)
    if hard and all(question.hard is None for question in questions):
        raise ValueError(f"{path}: no question has the field 'difficult', so hard=True could keep none")
    if hard and not any(question.hard for question in questions):
        raise ValueError(f"{path}: hard=True keeps none of {len(questions)} questions: none is marked 'difficult'")
    return tuple(question for question in questions if question.hard or not hard)


def placed_questions(records: Records, read: Mapper) -> list[tuple[int, Question]]:
    """The questions of records with the places of these: each id once, each article with one text, at least one."""
    placed = [(at, question) for at, found in enumerate(records.map(read)) for question in found]
    if not placed:
        raise ValueError(f"{records.path}: none of {len(records.rows)} records has a gold label (field 'output_label')")
    if read is _article:
        records.refuse_duplicates([row["id"] for row in records.rows], "article ids")
    lines = tuple(records.lines[at] for at, _ in placed)
    once(replace(records, lines=lines), [question for _, question in placed])
    first: dict[str, tuple[int, Question]] = {}
    for line, (_, question) in zip(lines, placed, strict=True):
        earlier, other = first.setdefault(question.article, (line, question))
        if question.passage != other.passage:
            # Where they first differ: two long texts are not compared by eye.
            same = takewhile(lambda pair: len({*pair}) == 1, zip(question.passage, other.passage, strict=False))
            where = f"article {question.article} has two different texts (from character {len([*same]) + 1} on"
            raise ValueError(f"{records.path}, lines {earlier} and {line}: {where}; question {question.id})")
    return placed


def _plain(record: Record) -> Question:
    return Question(*record.texts("id", "category", "text"), record.listed("points"), record.text_or_none("reference"))  # type: ignore


def _mt_bench(record: Record) -> Question:
    number, category = record.whole_number("question_id", 0), record.text("category")
    turns = record.typed("turns", list, "a list that begins with the question's text", needed=True)
    reference = record.typed("reference", list, "a list with a text for each turn")
    answer = checked_text(reference[0], "reference", blank=True) if reference else None
    return Question(f"{category}_{number:03d}", category, checked_text(turns[0], "turns"), reference=answer)


def _answered(record: Record) -> Question:
    return Question(*record.texts("prompt_id", "category", "prompt_text"))  # type: ignore[arg-type]


def _judged_pair(record: Record) -> Question:
    """An instruction with two responses, one of them known to be better; its category is the bias it is made for."""
    label, category = record.get("label"), checked_text(record.get("bias"), "category")
    refuse_if(type(label) is not int or label not in (1, 2), "label", label, "1 or 2: the better response")
    id, texts = record.text_or_none("id") or "", record.texts("response1", "response2")
    return Question(id, category, record.text("instruction"), options=texts, gold="AB"[label - 1])


def _arena(record: Record) -> Question:
    text, turns = record.get("prompt"), record.get("turns")
    if text is None and isinstance(turns, list) and turns:
        text = turns[0].get("content") if isinstance(turns[0], dict) else turns[0]
    return Question(record.id(), record.text("category"), checked_text(text, "prompt"))


def _quality(record: Record) -> list[Question]:
    name = record.text("set_unique_id")
    about = {key: record[key] for key in ("article_id", "article", "source") if key in record}
    return _each(record, lambda row, n: _quality_row(Record(row | about), f"{name}_{n}")[0], "question_unique_id")


def _quality_row(record: Record, instead: str | None = None) -> list[Question]:
    gold, difficult = record.get("gold_label"), record.get("difficult")
    if gold is None:
        raise ValueError("no 'gold_label': the test split is published without it; take dev or train")
    refuse_if(isinstance(gold, str), "gold_label", gold, "a whole number from 1 to 4")
    refuse_if(isinstance(difficult, bool) or difficult not in (None, 0, 1), "difficult", difficult, "0 or 1")
    question = Question(
        id=record.text_or_none("question_unique_id") or instead or record.text("question_unique_id"),
        category=record.text_or_none("source") or UNKNOWN,
        text=record.text("question"),
        article=record.text("article_id"),
        passage=plain_text(record.text("article")),
        options=options_of(record.get("options")),
        gold=letter(gold, "gold_label"),
        hard=None if difficult is None else bool(difficult),
    )
    return [question]


def _article(record: Record) -> list[Question]:
    article, passage, category = record.texts("id", "passage", "category")

    def read(row: Record, number: int) -> Question:
        options, gold, points = options_of(row.get("options")), row.get("gold"), row.listed("reasons", REASONS)
        refuse_if(gold not in tuple(LETTERS), "gold", gold, "one of A, B, C, D")
        refuse_if(
            row.get("reasons") is not None and len(points) != len(options), "reasons", row.get("reasons"), REASONS
        )
        id, text = row.texts("id", "text")
        return Question(id, category, text, points, None, -1, article, passage, options, gold)

    return _each(record, read, "id")


def read_flat(record: Record) -> list[Question]:
    """The question of a flat record with a gold letter, `output_label`; its text holds its options."""
    if record.get("output_label") in (None, ""):
        return []
    id, asked = record.texts("pid", "questions")
    text, options = parted(asked)
    gold = letter(record.get("output_label"), "output_label")
    right = " ".join((record["output"] if isinstance(record.get("output"), str) else "").split())
    same = [option for option in options if " ".join(option.split()) == right]
    if same and same[0] != options[LETTERS.index(gold)]:
        raise ValueError(f"field 'output_label' says {gold}, field 'output' is the text of another option")
    category, passage = record.text_or_none("source") or UNKNOWN, plain_text(record.text("text"))
    return [Question(id, category, text, article=id.partition("_")[0], passage=passage, options=options, gold=gold)]


def _each(record: Record, read: Callable[[Record, int], Question], name: str) -> list[Question]:
    """The questions in a record; what is wrong with one is reported with its id."""
    found = []
    for number, row in enumerate(record.typed("questions", list, "a list of objects", dict, needed=True), 1):
        try:
            found.append(read(Record(row), number))
        except ValueError as error:
            raise ValueError(f"question {row.get(name) or number}: {error}") from None
    return found


def letter(value: Any, name: str) -> str:
    """The letter of an option given as A to D or as 1 to 4; anything else is a ValueError."""
    mark = value.strip() if isinstance(value, str) else str(value) if type(value) is int else ""
    refuse_if(mark not in (*LETTERS, *"1234"), name, value, "one of A, B, C, D or 1 to 4 (counted from 1)")
    return mark if mark in LETTERS else LETTERS[int(mark) - 1]


def parted(asked: str) -> tuple[str, tuple[str, ...]]:
    """The question and its four options, from one text that holds both; the letters must stand in order, once each.

    A fifth mark after them in the same notation is refused; "(E)" within a line is none where the marks begin lines.
    """
    line_start, inline = r"^[ \t]*\(?([{}])[).:][ \t]+", r"\(([{}])\)\s+"
    for notation in (line_start, inline):
        marks = list(re.finditer(notation.format("A-D"), asked, re.MULTILINE))
        if [mark[1] for mark in marks] == list(LETTERS):
            if re.compile(notation.format("E"), re.MULTILINE).search(asked, marks[-1].end()):
                raise ValueError("field 'questions' has a fifth option, (E), expected (A) (B) (C) (D) alone")
            ends = [*(mark.start() for mark in marks[1:]), len(asked)]
            texts = [asked[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
            return checked_text(asked[: marks[0].start()].strip(), "questions"), options_of(texts, "questions")
    found = " ".join(re.findall(line_start.format("A-D"), asked, re.MULTILINE)) or "none"
    raise ValueError(f"field 'questions' has the options {found}, expected (A) (B) (C) (D), once each and in order")


def options_of(options: Any, name: str = "options") -> tuple[str, ...]:
    """Four options, each a text that no other one is; anything else is a ValueError."""
    if not isinstance(options, list) or len(options) != len(LETTERS):
        count = f"{len(options)} options" if isinstance(options, list) else show(options)
        raise ValueError(f"field {name!r} holds {count}, expected a list of four")
    texts = tuple(checked_text(option, name) for option in options)
    seen: dict[str, str] = {}
    for mark, text in zip(LETTERS, texts, strict=True):
        other = seen.setdefault(" ".join(text.split()), mark)
        if other != mark:
            raise ValueError(f"field {name!r}: the options {other} and {mark} are identical")
    return texts


_HTML = re.compile(r"</?(?:html|body|div|p|br|pre|span|h[1-6]|i|em|b|strong|a|blockquote|table)(?:\s[^<>]*)?/?>", re.I)
_UNREAD = re.compile(r"<(script|style|title)\b.*?</\1\s*>|<!.*?>", re.I | re.DOTALL)
_BLOCK = re.compile(r"(?:p|div|pre|blockquote|h[1-6]|[uo]l|li|table|tr|hr|section|article|header|body)")


@lru_cache(maxsize=4)
def plain_text(page: str) -> str:
    """The text of an article, a blank line between paragraphs where it was HTML."""
    if not _HTML.search(page):
        return page
    shown, preformatted = "", False
    for part in re.split(r"(</?[a-z][^<>]*>)", _UNREAD.sub("", page), flags=re.I):
        tag = re.match(r"</?([a-z]\w*)", part.lower())
        if tag is None:
            shown += unescape(part) if preformatted else re.sub(r"\s+", " ", unescape(part))
            continue
        shown += "\n\n" if _BLOCK.fullmatch(tag[1]) else {"br": "\n", "td": " ", "th": " "}.get(tag[1], "")
        if tag[1] == "pre":
            preformatted = not part.startswith("</")
    blocks = re.split(r"\n[ \t]*\n\s*", shown)
    plain = ("\n".join(line.strip() for line in block.strip().splitlines()) for block in blocks)
    if text := "\n\n".join(block for block in plain if block):
        return text
    raise ValueError("field 'article' is empty once its tags are stripped")


def ranked(questions: Iterable[Question], seed: int) -> tuple[Question, ...]:
    """The questions in an order of which any first n places are spread over the categories in proportion.

    Within each category they are sorted by sha256 of "seed:id" (places j = 0, 1, ... of n), then all of them by (j +
    1/2) / n and that hash, whatever the file's order. Each carries its `place`.
    """

    drawn = sorted(((short_hash(seed, each.id, digits=64), each) for each in questions), key=itemgetter(0))
    sizes, ranks = Counter(each.category for _, each in drawn), defaultdict[str, Iterator[int]](count)
    shares = [((next(ranks[each.category]) + 0.5) / sizes[each.category], key, each) for key, each in drawn]
    order = sorted(shares, key=itemgetter(0, 1))
    return tuple(replace(question, place=place) for place, (_, _, question) in enumerate(order))


def merge_near_duplicates(texts: Mapping[str, str]) -> dict[str, str]:
    """Which questions are near-copies of one another: for each id the first id, as given, of those with its text.

    Texts are compared by letters and digits alone (NFKC, any case); a copy of a copy is of the same group. A blank text
    has no copy. Over MOST_COMPARED different texts only those that are then equal are merged.
    """
    plain = {
        id: _WRITTEN.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip() or text.strip()
        for id, text in texts.items()
    }
    different = [*dict.fromkeys(filter(None, plain.values()))]
    groups = dict(zip(different, _near(different) if len(different) <= MOST_COMPARED else count(), strict=False))
    lead: dict[Any, str] = {}
    return {id: lead.setdefault(groups.get(text, id), id) for id, text in plain.items()}


def _near(texts: Sequence[str]) -> Iterable[int]:
    """The group of each text: near-duplicates, of those whose sketches share a quarter, are linked.

    A sketch is the 64 least hashes of a text's five-letter windows (Broder 1997): of near texts about half are shared.
    """
    import numpy as np
    from rapidfuzz import fuzz, process
    from scipy.sparse import coo_array, triu
    from scipy.sparse.csgraph import connected_components

    sketches = []
    for text in texts:
        codes = np.frombuffer(f"  {text}  ".encode("utf-32-le"), np.uint32).astype(np.uint64)
        hashes: Any = sum(codes[at : len(codes) - 4 + at] * np.uint64(4099**at) for at in range(5))
        hashes ^= hashes >> np.uint64(29)
        sketches.append(np.unique(hashes * np.uint64(0x9E3779B97F4A7C15))[:64])
    sizes = np.array([len(each) for each in sketches], dtype=int)
    hashes, column = np.unique(np.concatenate([np.zeros(0, np.uint64), *sketches]), return_inverse=True)
    cells = (np.ones(len(column), np.int16), (np.repeat(np.arange(len(texts)), sizes), column))
    table = coo_array(cells, shape=(len(texts), len(hashes))).tocsr()
    shared = triu(table @ table.T, 1).tocoo()
    kept = 4 * shared.data >= np.minimum(sizes[shared.row], sizes[shared.col])
    pairs = [side[kept] for side in (shared.row, shared.col)]
    both = ([texts[number] for number in side] for side in pairs)
    near = process.cpdist(*both, scorer=fuzz.ratio, score_cutoff=NEAR, dtype=np.uint8) > 0
    links = coo_array((near[near], (pairs[0][near], pairs[1][near])), shape=shared.shape)
    return connected_components(links, directed=False)[1]


def near_duplicate_words(clusters: Mapping[str, str]) -> str:
    """Which questions count as one, in one sentence; "" where each stands for itself."""
    groups: dict[str, list[str]] = {}
    for id, cluster in clusters.items():
        groups.setdefault(cluster, []).append(id)
    several = [ids for ids in groups.values() if len(ids) > 1]
    listed = ", ".join(f"{ids[0]} with {' and '.join(ids[1:4])}{' ...' * (len(ids) > 4)}" for ids in several[:5])
    more = f" and {len(several) - 5} more" if len(several) > 5 else ""
    many = f"{len(several)} group{'s' * (len(several) > 1)} of near-duplicate texts ({sum(map(len, several))} texts)"
    return f"{many} count as one question each: {listed}{more}." if several else ""
