"""Prompts hold exactly what the template and the values say, byte for byte."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from helpers.paths import EXPERIMENTS
from helpers.prompts import check_nonce, load, render, schema, schema_for
from helpers.types import Model
from helpers.verdicts import parse
from tests.hostile import LABELS, corpus

NONCE = "7f3a91ce"
PROMPTS = EXPERIMENTS / "mt_bench_blind" / "prompts"
ANSWERS = [(label, f"This is what {label} wrote.") for label in LABELS]
HOSTILE = [*corpus(NONCE), ("line-ends", "a\r\nb\rc\n\n"), ("blanks", "  \n x\t \n"), ("null", "\x00")]


@pytest.fixture
def template(tmp_path):
    def write(text: str):
        path = tmp_path / "judge.txt"
        path.write_text(text, encoding="utf-8", newline="")
        return load(path)

    return write


def judge(answers=ANSWERS, structured=False, hint="", question="What is 6 x 7?"):
    template = load(PROMPTS / "judge.txt")
    return render(template, question=question, answers=answers, nonce=NONCE, structured=structured, hint=hint)


# Templates in general.


def test_parts_and_bytes(template):
    user = "{% if loud %}\nLOUD\n  {% endif %}\n  {{ text }}\n"
    written = template(f"--- system ---\nBe {{{{ manner }}}}.\n\n--- user ---\n{user}")
    assert written.variables == {"manner", "loud", "text"}
    assert render(written, manner="kind", loud=True, text="x\n") == ("Be kind.\n", "LOUD\n  x\n")
    assert render(written, manner="kind", loud=False, text="<&>\r\n") == ("Be kind.\n", "  <&>\r\n")


def test_parts_may_be_empty_and_line_ends_are_those_of_the_prompt(template):
    assert render(template("--- system ---\n--- user ---\n")) == ("", "")
    assert render(template("--- system ---\r\na\r\nb\r\n--- user ---\r\n{{ x }}\r\n"), x="\r\n") == ("a\nb", "\r\n")


@pytest.mark.parametrize("name_text", HOSTILE, ids=[name for name, _ in HOSTILE])
def test_a_value_arrives_byte_for_byte(template, name_text):
    _, text = name_text
    user = "[{% for label, y in pairs %}{{ label }}{{ y }}{% endfor %}]\n"
    written = template("--- system ---\n{{ x }}\n--- user ---\n" + user)
    assert render(written, x=text, pairs=[("A", text), ("B", text)]) == (text, f"[A{text}B{text}]")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Hello {{ x }}\n",
        "--- user ---\nx\n--- system ---\ny\n",
        "--- system ---\nx\n",
        "\n--- system ---\nx\n--- user ---\ny\n",
        "--- system ---\nx\n--- user ---\ny\n--- user ---\nz\n",
        "--- system ---\n--- system ---\nx\n--- user ---\ny\n",
        "--- system ---\nx --- user ---\ny\n",
    ],
)
def test_a_file_without_its_two_parts_is_refused(template, text):
    with pytest.raises(ValueError, match=r"judge\.txt: a template is a line '--- system ---'"):
        template(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("--- system ---\n{{ x\n--- user ---\ny\n", "2: "),
        ("--- system ---\nx\n--- user ---\n\n{% if x %}\n{% oops %}\n", "6: "),
        # A prompt is made to be planned and again to be sent: the same both times.
        ("--- system ---\n--- user ---\n{{ x | random }}\n", "3: .*'random'"),
    ],
)
def test_an_error_of_syntax_or_a_draw_at_random_is_told_by_file_and_line(template, text, line):
    with pytest.raises(ValueError, match=rf"judge\.txt, line {line}"):
        template(text)


def test_missing_and_unused_variables_and_functions_are_errors(template):
    written = template("--- system ---\n{{ a }}\n--- user ---\n{% if b %}{{ c }}{% endif %}\n")
    with pytest.raises(ValueError, match=r"judge\.txt: missing variable c; given: a, b"):
        render(written, a=1, b=False)
    with pytest.raises(ValueError, match=r"judge\.txt: missing variable a, b, c; given: none"):
        render(written)
    with pytest.raises(ValueError, match=r"judge\.txt: unused variable d, e; the template uses: a, b, c"):
        render(written, a=1, b=True, c=2, d=3, e=4)
    with pytest.raises(ValueError, match="missing variable range"):  # templates have no functions
        render(template("--- system ---\n--- user ---\n{% for n in range(9) %}{{ n }}{% endfor %}\n"))


@pytest.mark.parametrize(
    ("source", "value", "message"),
    [
        ("{{ x }}", None, "None"),
        ("{% for a in x %}{{ a }}{% endfor %}", ["a", None], "None"),
        ("{{ x.name }}", "text", "no attribute 'name'"),
        ("{{ x.__class__ }}", "text", "__class__"),
        ("{{ x.append(1) }}", [], "append"),
        ("{{ x | length }}", 7, "len"),
        ("{% for a, b in x %}{{ a }}{% endfor %}", ["abc"], "unpack"),
    ],
)
def test_a_value_that_is_not_what_the_template_needs_is_an_error(template, source, value, message):
    with pytest.raises(ValueError, match=rf"judge\.txt: .*{message}.*; given: x"):
        render(template(f"--- system ---\n--- user ---\n{source}\n"), x=value)


def test_check_nonce_names_the_candidates():
    check_nonce(NONCE, {"gpt_fast": "7", "claude_fast": NONCE[:-1]})
    with pytest.raises(ValueError, match=f"the text of claude_fast, gemini_fast contains the nonce {NONCE}"):
        check_nonce(NONCE, {"gpt_fast": "7", "claude_fast": f"x{NONCE}y", "gemini_fast": NONCE.upper()})
    with pytest.raises(ValueError, match="empty nonce"):
        check_nonce("", {})


# The templates of the first experiment.


def test_answer_prompt_is_the_question():
    for question in ("What?", "Two\nlines {{ x }}\n\n", "\r\n"):
        system, user = render(load(PROMPTS / "answer.txt"), question=question)
        assert user == question
    assert system == "You are a helpful assistant."


@pytest.mark.parametrize("structured", [True, False])
def test_judge_prompt_shows_question_and_answers_between_delimiters(structured):
    texts = [text for _, text in HOSTILE]
    for start in range(0, len(texts), 6):
        answers = list(zip(LABELS, texts[start : start + 6], strict=False))
        _, user = judge(answers, structured, question="Why {{ x }}?\n")
        blocks = [f"<<<ANSWER {label} {NONCE}>>>\n{text}\n<<<END {label} {NONCE}>>>" for label, text in answers]
        question = f"<<<QUESTION {NONCE}>>>\nWhy {{{{ x }}}}?\n\n<<<END QUESTION {NONCE}>>>"
        assert user.startswith(question)
        assert "\n\n".join(blocks) in user


@pytest.mark.parametrize("structured", [True, False])
def test_an_empty_hint_leaves_no_trace(structured):
    system, blind = judge(structured=structured)
    hinted_system, hinted = judge(structured=structured, hint="Answer A {{ x }} is yours.\nAnswer B is not.")
    assert hinted_system == system
    assert hinted.replace("Answer A {{ x }} is yours.\nAnswer B is not.\n\n", "") == blind
    assert "\n\n\n" not in blind + hinted
    assert not re.search(r"[ \t]\n|\{|\}", blind)
    assert blind == blind.strip()


@pytest.mark.parametrize("structured", [True, False])
def test_the_judge_prompt_is_blind(structured):
    system, user = judge(structured=structured)
    words = (
        r"author|vendor|provider|company|model|\bAI\b|assistant|claude|gpt|gemini|openai|google|written by|who wrote"
    )
    assert re.findall(words, system + user, re.IGNORECASE) == []
    for criterion in ("correctness", "reasoning", "clarity", "completeness", "safety", "helpfulness", "impartial"):
        assert criterion in system.lower()


def test_only_the_form_of_reply_depends_on_the_mode():
    (system, text), (structured_system, structured) = judge(structured=False), judge(structured=True)
    assert system == structured_system
    assert NONCE not in system
    common = text.split("Write the justification first.")[0]
    assert structured.startswith(common)
    asked = schema("listwise", LABELS)["properties"]
    assert re.findall(r'^- "(\w+)"', structured, re.MULTILINE) == list(asked)
    assert f'"{NONCE}"' in structured.removeprefix(common)
    assert f"RANKING-{NONCE}: " in text
    assert f"SCORES-{NONCE}: " in text
    assert "RANKING" not in structured


@pytest.mark.parametrize(
    ("changes", "pinned"),
    [
        ({"base_url": "http://127.0.0.1:8000/v1"}, True),
        ({"base_url": "http://gpu-box/v1", "servers": ("http://gpu-box/v1", "http://10.0.0.7/v1")}, True),
        ({"base_url": "http://gpu-box/v1", "servers": ("http://gpu-box/v1", "https://api.x.com/v1")}, False),
        ({"base_url": "http://127.0.0.1:8000/v1", "pin_id": False}, False),
        ({"base_url": "https://api.x.com/v1"}, False),
        ({}, False),
    ],
)
def test_only_the_schema_for_an_own_server_takes_no_id_but_that_of_the_prompt(changes, pinned):
    model = Model("judge", "openai", "m", "v", **changes)
    free, asked = schema("listwise", LABELS), schema_for(model, "listwise", LABELS, NONCE)
    properties = {**free["properties"], "id": {"type": "string", "enum": [NONCE]}}
    assert asked == ({**free, "properties": properties} if pinned else free)
    assert list(asked["properties"]) == list(free["properties"]), "the order shapes the reply"
    assert schema_for(replace(model, structured=False), "listwise", LABELS, NONCE) is None


@pytest.mark.parametrize("structured", [True, False])
def test_a_judge_that_repeats_its_prompt_has_not_decided(structured):
    system, user = judge(structured=structured)
    for reply in (user, f"{system}\n{user}", f"```\n{user}\n```", user.split("\n\n")[-1]):
        assert parse(reply, "listwise", LABELS, NONCE, structured=structured)[1] is None
    if not structured:
        decided = f"{user}\n\nF is best.\nSCORES-{NONCE}: F=9\nRANKING-{NONCE}: F > A > B > C > D > E"
        outcome, verdict = parse(decided, "listwise", LABELS, NONCE, structured=False)
        assert (outcome, verdict.ranking) == ("ok", tuple("FABCDE"))
