"""Questions on passages: every format they come in, every known defect, and one real article."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from helpers import datasets
from helpers.types import Question
from tests.case_tables import load_cases
from tests.servers.hub import Hub, Repo, running_hub
from tests.test_datasets import changed, refused, write
from tests.test_hub import REPO, Client

CASES = load_cases("passages")
STORY = "The lamp went out.\n\nNobody in the tower noticed."


def asked(number: int, gold: Any = 1, **more: Any) -> dict[str, Any]:
    """One synthetic question in QuALITY's layout."""
    return {
        "question": f"What happened first ({number})?",
        "question_unique_id": f"70001_AB12_{number}",
        "options": ["The lamp went out.", "The tower fell.", "A ship came in.", "Nothing did."],
        "gold_label": gold,
    } | more


def article(writer: str = "AB12", **more: Any) -> dict[str, Any]:
    """One synthetic line: an article with the questions of one writer."""
    questions = [asked(n, gold, question_unique_id=f"70001_{writer}_{n}") for n, gold in ((1, 1), (2, 4))]
    return {
        "article_id": "70001",
        "set_unique_id": f"70001_{writer}",
        "source": "Gutenberg",
        "title": "The Lamp",
        "article": STORY,
        "questions": questions,
    } | more


OWN = {
    "id": "lighthouse",
    "title": "The Lamp",
    "category": "story",
    "passage": STORY,
    "questions": [
        {
            "id": "lighthouse_1",
            "text": "What went out?",
            "options": ["The lamp.", "The keeper.", "The tide.", "The boat."],
            "gold": "A",
            "reasons": ["It says so.", "He left.", "Tides do.", "Boats do."],
        }
    ],
}
FLAT = {
    "pid": "70001_AB12_1_1",
    "text": STORY,
    "questions": "What went out?\n (A) The lamp.\n (B) The keeper (at (C) last).\n (C) The tide.\n (D) The boat.",
    "output_label": "A",
    "output": "The lamp.",
}


def test_two_sets_of_one_article_are_questions_in_file_order(tmp_path):
    path = write(tmp_path / "mine.jsonl", [article(), article("CD34")])
    first, *others = datasets.load_passages(path)
    assert first == Question(
        "70001_AB12_1",
        "Gutenberg",
        "What happened first (1)?",
        article="70001",
        passage=STORY,
        options=("The lamp went out.", "The tower fell.", "A ship came in.", "Nothing did."),
        gold="A",
    )
    assert [(q.id, q.gold, q.hard, q.article) for q in others] == [
        ("70001_AB12_2", "D", None, "70001"),
        ("70001_CD34_1", "A", None, "70001"),
        ("70001_CD34_2", "D", None, "70001"),
    ]


def test_what_a_line_lacks_has_a_stand_in(tmp_path):
    bare = asked(1, question_unique_id=None)
    line = {name: value for name, value in article(questions=[bare, asked(2)]).items() if name != "source"}
    one, two = datasets.load_passages(write(tmp_path / "one.jsonl", [line]))
    assert (one.id, two.id, one.category) == ("70001_AB12_1", "70001_AB12_2", "unknown")


def test_the_names_of_the_published_files_are_known(tmp_path):
    lines = "\n".join(json.dumps(article(writer)) for writer in ("AB12", "CD34"))
    write(tmp_path / "QuALITY.v1.0.1.htmlstripped.dev", lines)
    assert len(datasets.load_passages(tmp_path)) == 4
    write(tmp_path / "QuALITY.v1.0.1.htmlstripped.train", lines)
    assert "htmlstripped.dev and QuALITY.v1.0.1.htmlstripped.train" in refused(datasets.load_passages, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"passages\.jsonl"):
        (tmp_path / "empty").mkdir()
        datasets.load_passages(tmp_path / "empty")


def test_tags_go_and_paragraphs_stay(tmp_path):
    page = (
        "<html><head><title>Not read</title><style>p { color: red }</style></head><body>\n<h2>The\n Lamp</h2>"
        "<p>The <i>lamp</i>\nwent out &amp; smoked;<br/>then rain.</p><p>Nobody &lt;there&gt; noticed&#8212;none.</p>"
        "<pre>two\nlines</pre><script>var x;</script></body></html>"
    )
    (question, _) = datasets.load_passages(write(tmp_path / "page.jsonl", [article(article=page)]))
    assert question.passage == (
        "The Lamp\n\nThe lamp went out & smoked;\nthen rain.\n\nNobody <there> noticed\N{EM DASH}none.\n\ntwo\nlines"
    )
    plain = "If a < b and b > c, then <so what>?\n  Indented."
    (question, _) = datasets.load_passages(write(tmp_path / "plain.jsonl", [article(article=plain)]))
    assert question.passage == plain, "a text without tags is kept to the letter"


def test_hard_questions_only_where_the_data_say_which_are_hard(tmp_path):
    lines = [article(questions=[asked(1, difficult=0), asked(2, difficult=1), asked(3)])]
    path = write(tmp_path / "dev.jsonl", lines)
    assert [q.hard for q in datasets.load_passages(path)] == [False, True, None]
    assert [q.id for q in datasets.load_passages(path, hard=True)] == ["70001_AB12_2"]
    message = refused(datasets.load_passages, write(tmp_path / "x.jsonl", [article()]), hard=True)
    assert "x.jsonl" in message and "'difficult'" in message
    easy = [article(questions=[asked(1, difficult=0)])]
    assert "none of 1" in refused(datasets.load_passages, write(tmp_path / "y.jsonl", easy), hard=True)


@pytest.mark.parametrize(
    ("question", "words"), [*CASES["question"], ({"question": "half \ud83d"}, ["lone surrogate", "U+D83D"])]
)
def test_a_defect_of_a_question_is_told_with_file_line_and_id(tmp_path, question, words):
    path = write(tmp_path / "dev.jsonl", [article("CD34"), article(questions=[asked(1), asked(2) | question])])
    message = refused(datasets.load_passages, path)
    assert message.startswith(f"{path}, line 2"), message
    assert "70001_AB12_2" in message and all(word in message for word in words), message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        *CASES["article"],
        ({"article": "half \udc00"}, ["lone surrogate", "U+DC00"]),
        ({"questions": {"1": asked(1)}}, ["'questions'", "list of objects"]),
        ({"questions": [asked(1, question_unique_id=7)]}, ["'question_unique_id' holds 7"]),
    ],
)
def test_a_defect_of_an_article_is_told_with_file_and_line(tmp_path, line, words):
    message = refused(datasets.load_passages, write(tmp_path / "dev.jsonl", [article("CD34"), article() | line]))
    assert "dev.jsonl, line 2" in message and all(word in message for word in words), message


def test_an_id_twice_and_an_article_with_two_texts_are_refused(tmp_path):
    message = refused(datasets.load_passages, write(tmp_path / "dev.jsonl", [article(), article()]))
    assert "question ids more than once" in message and "70001_AB12_1 (lines 1, 2)" in message
    other = article("CD34", article=STORY.replace("tower", "Tower"))
    message = refused(datasets.load_passages, write(tmp_path / "dev.jsonl", [article(), other]))
    assert all(word in message for word in ["lines 1 and 2", "70001", "two different texts", "character 35"]), message


def test_a_test_split_is_refused_by_name(tmp_path):
    lines = [article(questions=[{k: v for k, v in asked(1).items() if k != "gold_label"}])]
    path = write(tmp_path / "QuALITY.v1.0.1.htmlstripped.test", json.dumps(lines[0]))
    message = refused(datasets.load_passages, path)
    assert "70001_AB12_1" in message and "test split" in message


def test_own_articles_have_reasons_as_points(tmp_path):
    (question,) = datasets.load_passages(write(tmp_path / "passages.jsonl", [OWN]))
    assert question == Question(
        "lighthouse_1",
        "story",
        "What went out?",
        ("It says so.", "He left.", "Tides do.", "Boats do."),
        article="lighthouse",
        passage=STORY,
        options=("The lamp.", "The keeper.", "The tide.", "The boat."),
        gold="A",
    )


@pytest.mark.parametrize(("change", "words"), CASES["own_article"])
def test_defects_of_own_articles(tmp_path, change, words):
    bad = OWN | {"id": "mill", "questions": [OWN["questions"][0] | {"id": "mill_1"} | change]}
    message = refused(datasets.load_passages, write(tmp_path / "passages.jsonl", [OWN, bad]))
    assert "passages.jsonl, line 2" in message and "mill_1" in message, message
    assert all(word in message for word in words), message


def test_own_articles_occur_once(tmp_path):
    again = OWN | {"questions": [OWN["questions"][0] | {"id": "lighthouse_2"}]}
    message = refused(datasets.load_passages, write(tmp_path / "passages.jsonl", [OWN, again]))
    assert "article ids more than once: lighthouse (lines 1, 2)" in message
    message = refused(datasets.load_passages, write(tmp_path / "p.jsonl", changed([OWN, OWN], 1, passage=...)))
    assert "line 2" in message and "'passage' is missing" in message


def test_flat_records_hold_their_options_in_the_question(tmp_path):
    inline = FLAT | {"pid": "70001_AB12_1_2", "questions": "Which? (A) w (B) x (C) y (D) z", "output_label": 3}
    del inline["output"]
    first, second = datasets.load_passages(write(tmp_path / "quality_responses.json", [FLAT, inline]))
    assert (first.text, first.gold, first.article, first.category) == ("What went out?", "A", "70001", "unknown")
    assert first.options == ("The lamp.", "The keeper (at (C) last).", "The tide.", "The boat.")
    assert (second.text, second.options, second.gold) == ("Which?", ("w", "x", "y", "z"), "C")
    assert datasets.load_passages(tmp_path) == (first, second)


@pytest.mark.parametrize(
    ("asked", "last"),
    [
        ("(A) a\n(B) b\n(C) c\n(D) Vitamin (E) helps, (I) think", "Vitamin (E) helps, (I) think"),
        ("A. a\nB. b\nC. c\nD. E. coli", "E. coli"),
        ("(A) a\nE. Smith\n(B) b\n(C) c\n(D) d", "d"),
        ("(A) a (B) vitamin (E) b (C) c (D) (I) think", "(I) think"),
        ("(A) a\n(B) b\n(C) c\n(D) d\nI. that is, me", "d\nI. that is, me"),
    ],
)
def test_a_letter_that_is_no_fifth_mark_belongs_to_its_option(tmp_path, asked, last):
    row = FLAT | {"questions": f"What, in plan (E) of\nE. Smith?\n{asked}"}
    del row["output"]
    (question,) = datasets.load_passages(write(tmp_path / "flat.jsonl", [row]))
    assert question.options[3] == last


@pytest.mark.parametrize(
    ("change", "words"), [*CASES["flat_record"], ({"text": STORY + "!"}, ["two different texts", "lines 1 and 2"])]
)
def test_defects_of_flat_records(tmp_path, change, words):
    lines = [FLAT, FLAT | {"pid": "70001_AB12_1_2"} | change]
    message = refused(datasets.load_passages, write(tmp_path / "flat.jsonl", lines))
    assert "70001_AB12_1_2" in message and all(word in message for word in words), message


def test_an_unknown_format_is_told_by_its_fields(tmp_path):
    message = refused(datasets.load_passages, write(tmp_path / "x.jsonl", [{"a": 1, "b": 2}]))
    assert "line 1" in message and "found a, b" in message and "article_id" in message


@pytest.fixture
def hub():
    """A hub whose repository holds one file of each kind."""
    hub = Hub({REPO: Repo()})
    lines = "\n".join(json.dumps(article(writer)) for writer in ("AB12", "CD34"))
    hub.repos[REPO].commit(
        {
            "v1/QuALITY.v1.0.1.htmlstripped.dev": lines.encode(),
            "flat/quality_responses.json": json.dumps(
                [FLAT | {"Qwen2_output_label": "A", "Qwen2_reason": "It says so."}]
            ).encode(),
        }
    )
    with running_hub(hub):
        yield hub


@pytest.mark.parametrize("path", ["v1/QuALITY.v1.0.1.htmlstripped.dev", "v1"])
def test_passages_come_from_the_hub_and_are_recorded(hub, tmp_path, path):
    entry = {"repo": REPO, "questions": path, "answers": "flat"}
    result = Client(tmp_path, hub.url).run(f"""
hub.DOWNLOADS = folder
questions = datasets.load_passages("hub", {entry!r})
loaded = datasets.load_responses("hub", {entry!r})
result = [len(questions), len(loaded.questions), [each["file"] for each in recorded()]]
""")
    assert not isinstance(result, dict), result["text"]
    assert result == [4, 1, ["v1/QuALITY.v1.0.1.htmlstripped.dev", "flat/quality_responses.json"]]


def test_a_folder_of_the_hub_without_such_files_says_what_there_is(hub, tmp_path):
    entry = {"repo": REPO, "questions": "nowhere"}
    lines = f'hub.DOWNLOADS = folder\nresult = datasets.load_passages("hub", {entry!r})'
    error = Client(tmp_path, hub.url).run(lines)
    assert error["error"] == "FileNotFoundError" and "nowhere/" in error["text"] and "flat/" in error["text"]


def rows_of_quality() -> list[dict[str, Any]]:
    """QuALITY as the hub has it: a row a question, numbers where its own files have texts."""
    about = {
        "article_id": 70001,
        "source": "Gutenberg",
        "article": "<p>" + STORY.replace("\n\n", "</p><p>") + "</p>",
        "validation": [{"a": 1}],
    }
    return [about | asked(number, gold, difficult=number % 2) for number, gold in ((1, 1), (2, 4))]


def test_quality_as_a_data_set_of_another_repository_and_as_its_local_copy(hub, tmp_path):
    name = "data/validation-00000-of-00001-77.parquet"
    path = tmp_path / "copy" / name
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows_of_quality()).to_parquet(path)
    questions = datasets.load_passages(tmp_path / "copy")
    assert questions == datasets.load_passages(path)
    assert [(q.id, q.gold, q.hard, q.article, q.passage) for q in questions] == [
        ("70001_AB12_1", "A", True, "70001", STORY),
        ("70001_AB12_2", "D", False, "70001", STORY),
    ]
    hub.repos["someone/quality"] = Repo()
    commit = hub.repos["someone/quality"].commit({name: path.read_bytes()})
    entry = {
        "repo": REPO,
        "answers": "flat",
        "questions": {"repo": "someone/quality", "revision": commit, "path": name},
    }
    lines = f"""
import sys
hub.DOWNLOADS = folder
before = "datasets" in sys.modules
questions = datasets.load_passages("hub", {entry!r})
result = [before, [q.id for q in questions], [(each["repo"], each["commit"]) for each in recorded()]]
"""
    found = [False, ["70001_AB12_1", "70001_AB12_2"], [["someone/quality", commit]]]
    assert Client(tmp_path, hub.url).run(lines) == found
    hub.behaviour = "down"
    assert Client(tmp_path, hub.url).run(lines) == found, "what is pinned and was loaded needs no hub"


def test_a_table_that_is_none_is_refused_by_name(tmp_path):
    path = write(tmp_path / "x.parquet", b"PAR1 no table")
    assert "x.parquet: not readable as Parquet" in refused(datasets.load_passages, path)
    pd.DataFrame({"a": [1]}).to_parquet(path)
    assert "found a" in refused(datasets.load_passages, path)
    pd.DataFrame([row | {"gold_label": "one"} for row in rows_of_quality()]).to_parquet(path)
    assert "x.parquet" in refused(datasets.load_passages, path)


def test_the_real_article(real_data: Path) -> None:
    folder = real_data / "quality"
    expected = json.loads((folder / "expected_values.json").read_text(encoding="utf-8"))
    questions = datasets.load_passages(folder / "quality_example_52845.jsonl")
    assert len(questions) == expected["questions"]
    assert ["ABCD".index(question.gold) + 1 for question in questions] == expected["gold_labels"] == [2, 3, 4, 1, 4]
    assert {(q.article, q.category, q.hard, len(q.options)) for q in questions} == {("52845", "Gutenberg", None, 4)}
    assert len({question.passage for question in questions}) == expected["articles"]
    assert questions[0].id == "52845_YLZPNNYD_1" and "\n\n" in questions[0].passage
    with pytest.raises(ValueError, match="difficult"):
        datasets.load_passages(folder / "quality_example_52845.jsonl", hard=True)


def test_flat_records_without_gold_are_left_out_and_counted(tmp_path):
    rows = [
        FLAT | {"output_label": None},
        FLAT | {"pid": "70001_AB12_1_2"},
        FLAT | {"pid": "70001_AB12_1_3", "output_label": ""},
    ]
    path = write(tmp_path / "flat.jsonl", [row | {"Q_output_label": "A"} for row in rows])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        (question,) = datasets.load_passages(path)
        loaded = datasets.load_responses(path)
    outcomes = [each.outcome for each in loaded.answers]
    assert question.id == "70001_AB12_1_2" and outcomes == ["no_reason"] and len(loaded.without_gold) == 2
    assert [str(one.message) for one in told] == [
        "flat.jsonl: 2 of 3 records have no gold label (field 'output_label') and are left out, for instance record 1, "
        "line 1"
    ], "once, and without the folders of one machine"
    assert told[0].filename == __file__
    with pytest.raises(ValueError, match="none of 1 records has a gold label"):
        datasets.load_passages(write(tmp_path / "none.jsonl", rows[:1]))
