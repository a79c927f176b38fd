"""The built-in questions, passages and bias tests: their form, their answers, and every wording."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, count, pairwise, permutations, product

import pytest

from helpers import paths
from helpers.biases import cognitive
from helpers.biases.cognitive.asked import LETTERS
from helpers.biases.self_preference.edited import apply_edits
from helpers.config import load_config
from helpers.datasets.bias_tests import BiasTemplate, MetricLine, load_templates
from helpers.datasets.questions import load_passages
from helpers.paths import DATA
from helpers.providers.simulated import GROUPS, STYLE, SYNONYMS, style_shares, styled
from helpers.types import Question, Wording
from tests.arena import assert_blind, assert_distinct, assert_not_given_away, assert_well_formed, holds

CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
LINES = (DATA / "mt_bench_blind" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
QUESTIONS = {row["id"]: row for row in map(json.loads, LINES)}
each_question = pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)


def last(question_id: str) -> str:
    """The last point, which holds the result."""
    return QUESTIONS[question_id]["points"][-1]


def test_eighty_questions_in_order():
    """Eight categories of ten, numbered and in the order of MT-Bench."""
    expected = [f"{category}_{number:02d}" for category in CATEGORIES for number in range(1, 11)]
    assert [json.loads(line)["id"] for line in LINES] == expected
    assert all(question["category"] == name[:-3] for name, question in QUESTIONS.items())


def test_texts_and_points_are_distinct():
    assert_distinct(QUESTIONS.values())


@each_question
def test_a_question_is_well_formed_and_blind(question: dict):
    assert_well_formed(question)
    assert_not_given_away(question, [question])
    assert_blind(question)


def centres() -> list[str]:
    """Distance of the two centres by Euler: d^2 = R (R - 2r), with R = abc/4F and r = F/s."""
    area, sides = 20 * 21 / 2, (20, 21, math.hypot(20, 21))
    outer, inner = math.prod(sides) / (4 * area), 2 * area / sum(sides)
    square = outer * (outer - 2 * inner)
    return [f"sqrt({4 * square:.0f})/2", f"{math.sqrt(square):.2f}"]


def balloon() -> int:
    """Arrangements of BALLOON without equal neighbours, counted one by one."""
    return sum(all(x != y for x, y in pairwise(word)) for word in set(permutations("BALLOON")))


def two_colours() -> Fraction:
    """Share of all draws of three marbles that show exactly two colours."""
    draws = [len(set(draw)) for draw in combinations("R" * 5 + "B" * 4 + "G" * 3, 3)]
    return Fraction(draws.count(2), len(draws))


def solid() -> float:
    """Volume of the solid of revolution over pi, by the midpoint rule."""
    steps = 20_000
    mids = (-1 + 4 * (i + 0.5) / steps for i in range(steps))
    return sum((2 * x + 3) ** 2 - x**4 for x in mids) * 4 / steps


def matrix_power() -> list[int]:
    """The four entries of the sixth power, row by row, by multiplying out."""
    a, b, c, d = 1, 0, 0, 1
    for _ in range(6):
        a, b, c, d = 4 * a + 2 * b, a + 3 * b, 4 * c + 2 * d, c + 3 * d
    return [a, b, c, d]


def recurrence() -> int:
    """Sum of the first eight terms, one after the other."""
    terms = [1]
    while len(terms) < 8:
        terms.append(3 * terms[-1] + 2)
    return sum(terms)


def least_metal() -> list[str]:
    """Radius, height and area of the cheapest tank, searched in steps of a millimetre."""
    area, radius = min((math.pi * r**2 + 128 * math.pi / r, r) for r in (i / 1000 for i in range(1000, 10_000)))
    return [f"radius {radius:.0f} m", f"height {64 / radius**2:.0f} m", f"{area / math.pi:.0f} pi", f"{area:.1f}"]


def rolls() -> Fraction:
    """Expected maximum of three waiting times, by inclusion and exclusion over the faces missing."""
    return sum(((-1) ** (k + 1) * math.comb(3, k) * Fraction(6, k) for k in (1, 2, 3)), Fraction(0))


@pytest.mark.parametrize(
    ("question_id", "numbers"),
    [
        ("math_01", centres),
        ("math_02", lambda: [next(n for n in count(1) if (n % 7, n % 11, n % 13) == (3, 5, 4)), 7 * 11 * 13]),
        ("math_03", lambda: [two_colours(), f"{float(two_colours()):.3f}"]),
        ("math_04", lambda: [balloon()]),
        ("math_05", lambda: [f"{round(solid() * 15)} pi / 15", f"{solid() * math.pi:.1f}"]),
        ("math_06", lambda: [round((3 + 5**0.5) ** 5 + (3 - 5**0.5) ** 5)]),
        ("math_07", matrix_power),
        ("math_08", lambda: [recurrence()]),
        ("math_09", least_metal),
        ("math_10", lambda: [rolls()]),
    ],
)
def test_math_results(question_id: str, numbers):
    """The last point names the result, computed here by another way than in the points."""
    for number in numbers():
        assert holds(last(question_id), number), (number, last(question_id))


def test_islanders():
    """Of all sixteen casts one is consistent."""

    def consistent(petra, quill, rosa, sten):
        said = (quill != rosa, not sten, petra + quill + rosa + sten == 2, petra and quill)
        return said == (petra, quill, rosa, sten)

    assert [c for c in product((False, True), repeat=4) if consistent(*c)] == [(False, True, True, False)]
    assert last("reasoning_01").startswith("Quill and Rosa tell the truth")


def test_talks():
    """Of all 120 orders one is allowed."""

    def allowed(order):
        birds, clocks, dunes, eels, frost = map(order.index, ("birds", "clocks", "dunes", "eels", "frost"))
        return frost == birds + 2 and abs(clocks - eels) > 1 and clocks < dunes < 4 and eels in (1, 2, 3)

    (order,) = filter(allowed, permutations(["birds", "clocks", "dunes", "eels", "frost"]))
    assert ", ".join(order) in last("reasoning_02")


def test_die():
    """The four tips, followed face by face."""
    top, bottom, front, back, right, left = 1, 6, 2, 5, 3, 4
    for tip in ("right", "away", "right", "towards"):
        if tip == "right":
            top, right, bottom, left = left, top, right, bottom
        elif tip == "away":
            top, back, bottom, front = front, top, back, bottom
        else:
            top, front, bottom, back = back, top, front, bottom
    assert f"{top} is on top and {front} faces you" in last("reasoning_07")


def test_hooks():
    """What each remark leaves, down to one hook."""
    hooks = re.findall(r"\b[KLMN]\d", QUESTIONS["reasoning_09"]["text"])
    letters, numbers = (Counter(hook[i] for hook in hooks) for i in (0, 1))
    ben_unsure = [hook for hook in hooks if numbers[hook[1]] > 1]
    left = Counter(hook[0] for hook in ben_unsure)
    ana_sure = [hook for hook in ben_unsure if letters[hook[0]] > 1 and left[hook[0]] == 1]
    left = Counter(hook[1] for hook in ana_sure)
    (hook,) = (hook for hook in ana_sure if left[hook[1]] == 1)
    assert len(hooks) == 8 and f"hook {hook}," in last("reasoning_09")


def test_cook():
    """The shortest of all 24 orders of work."""
    dishes = {"bread": (15, 40, True), "pie": (25, 30, True), "soup": (10, 50, False), "salad": (20, 0, False)}

    def minutes(order):
        hands = oven = end = 0
        for hand, alone, baked in (dishes[name] for name in order):
            hands += hand
            start = max(hands, oven) if baked else hands
            oven = start + alone if baked else oven
            end = max(end, start + alone)
        return end

    assert f"so {min(map(minutes, permutations(dishes)))} minutes is the shortest" in last("reasoning_10")


# --- passages ---------------------------------------------------------------------------------------------------------

PASSAGE_LINES = (DATA / "quality_self_preference" / "passages.jsonl").read_text(encoding="utf-8").splitlines()
PASSAGES = {row["id"]: row for row in map(json.loads, PASSAGE_LINES)}
PASSAGE_QUESTIONS = {question["id"]: question for row in PASSAGES.values() for question in row["questions"]}
each_passage_question = pytest.mark.parametrize("question", PASSAGE_QUESTIONS.values(), ids=PASSAGE_QUESTIONS)
PLAIN = {group[0] for group in GROUPS}
PREFERRED = {word for group in GROUPS for word in group[1:]}
#: Words of which the first letter does not tell whether "a" or "an" stands before them.
SOUNDS_LIKE_YOU = ("use", "usu", "uti")
each_passage = pytest.mark.parametrize("row", PASSAGES.values(), ids=PASSAGES)


def words(text: str) -> list[str]:
    """The words of a text in lower case; a hyphen or an apostrophe joins."""
    return re.findall(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", text.lower())


def usable(question: dict, reason: str) -> list[str]:
    """The plain words that stand once in a reason and neither in the question nor in an option."""
    taken = {word for text in (question["text"], *question["options"]) for word in words(text)}
    return [word for word, n in Counter(words(reason)).items() if n == 1 and word in PLAIN - taken]


def test_at_least_forty_passages_of_twelve_kinds():
    """Articles are the clusters: of a judge that is seldom wrong a dozen tell too little for any interval."""
    assert len(PASSAGE_LINES) == len(PASSAGES) == len({row["title"] for row in PASSAGES.values()}) >= 40
    kinds = Counter(row["category"] for row in PASSAGES.values())
    assert len(kinds) == 12 and min(kinds.values()) >= 2


def test_no_passage_repeats_another():
    """No two share so much as eight words in a row."""
    seen: dict[tuple[str, ...], str] = {}
    for id, row in PASSAGES.items():
        text = words(row["passage"])
        for run in {tuple(text[i : i + 8]) for i in range(len(text) - 7)}:
            assert seen.setdefault(run, id) == id, f"{id} and {seen[run]}: {' '.join(run)}"


def test_the_loader_reads_them_all():
    loaded = load_passages(DATA / "quality_self_preference" / "passages.jsonl")
    assert [question.id for question in loaded] == list(PASSAGE_QUESTIONS)
    assert {question.article for question in loaded} == set(PASSAGES)
    assert all(list(question.points) == PASSAGE_QUESTIONS[question.id]["reasons"] for question in loaded)


@each_passage
def test_fields_of_a_passage(row: dict):
    assert list(row) == ["id", "title", "category", "passage", "questions"]
    assert re.fullmatch("[a-z]+(_[a-z]+)*", row["id"])
    size = len(row["questions"])
    assert [question["id"] for question in row["questions"]] == [f"{row['id']}_q{n}" for n in range(1, size + 1)]
    # Long ones have more that can be asked.
    least, most = {2: (100, 180), 5: (300, 600)}[size]
    assert least <= len(row["passage"].split()) <= most
    for text in (row["title"], row["category"], *row["passage"].split("\n\n")):
        assert text == " ".join(text.split()) != ""


@each_passage_question
def test_fields_of_a_question(question: dict):
    assert list(question) == ["id", "text", "options", "gold", "reasons"]
    assert question["gold"] in "ABCD" and question["text"].rstrip('"').endswith("?")
    assert len(set(question["options"])) == len(set(question["reasons"])) == 4
    for text in (question["text"], *question["options"], *question["reasons"]):
        assert text == " ".join(text.split()) != ""


def test_no_text_occurs_twice():
    texts = [text for q in PASSAGE_QUESTIONS.values() for text in (q["text"], *q["options"], *q["reasons"])]
    assert [text for text, n in Counter(texts).items() if n > 1] == []


def test_gold_letters_are_balanced():
    assert Counter(question["gold"] for question in PASSAGE_QUESTIONS.values()) == dict.fromkeys(
        "ABCD", len(PASSAGE_QUESTIONS) / 4
    )
    for row in PASSAGES.values():
        gold = {question["gold"] for question in row["questions"]}
        assert len(gold) == min(4, len(row["questions"])), row["id"]


@each_passage_question
def test_options_are_of_similar_length(question: dict):
    lengths = [len(option.split()) for option in question["options"]]
    assert max(lengths) <= 1.5 * min(lengths)


def test_neither_length_nor_wordiness_gives_the_right_one_away():
    """Always taking the longest (or shortest) option, or reason, is right for no more than 40 of 100 questions."""
    for texts in ("options", "reasons"):
        for choose in (max, min):
            right = 0.0
            for question in PASSAGE_QUESTIONS.values():
                lengths = [len(text) for text in question[texts]]
                best = [label for label, n in zip("ABCD", lengths, strict=True) if n == choose(lengths)]
                right += (question["gold"] in best) / len(best)
            assert right / len(PASSAGE_QUESTIONS) <= 0.4, (texts, choose.__name__)


@each_passage_question
def test_reasons_are_of_the_stated_length(question: dict):
    assert all(45 <= len(reason.split()) <= 80 for reason in question["reasons"])


@each_passage_question
def test_a_reason_names_no_letter_and_quotes_no_option(question: dict):
    for reason in question["reasons"]:
        # a lone letter: "A" may begin a sentence, anything else would point to an option
        assert not re.search(
            r"\b(?:option|answer|choice)s? [A-D]\b|\([A-Da-d]\)|\b[BCD]\b|(?<![.?!:] )\bA\b(?<!^A)", reason
        )
        for option in question["options"]:
            assert option.rstrip(".").lower() not in reason.lower()


@each_passage_question
def test_eight_words_of_a_reason_can_be_replaced_and_some_are_left(question: dict):
    for reason in question["reasons"]:
        assert len(usable(question, reason)) >= 12, reason


@each_passage_question
def test_the_largest_dose_can_be_given_to_every_reason_in_every_style(question: dict):
    """Eight words, by the rules of edits, which refuse inflections of the question's words as well."""
    for reason in question["reasons"]:
        for vendor in ("", *STYLE):
            text = styled(reason, vendor)
            pairs = tuple((word, SYNONYMS[word][-1]) for word in dict.fromkeys(words(text)) if word in SYNONYMS)
            edit = apply_edits(text, question["text"], question["options"], pairs, 8)
            assert edit.text is not None, edit.refused


@each_passage_question
def test_reasons_are_written_in_plain_words(question: dict):
    """A reason as it stands is in no vendor's style, and wholly in it once styled."""
    for reason in question["reasons"]:
        assert set(words(reason)) & PREFERRED == set()
        for vendor in STYLE:
            assert style_shares(reason)[STYLE[vendor]] == 0.0
            assert style_shares(styled(reason, vendor))[STYLE[vendor]] == 1.0


@each_passage_question
def test_articles_stay_right_in_every_style(question: dict):
    for reason in question["reasons"]:
        for vendor in ("", *STYLE):
            for article, word in re.findall(r"\b(an?) (\w+)", styled(reason, vendor), re.IGNORECASE):
                vowel = word[0].lower() in "aeiou" and not word.lower().startswith(SOUNDS_LIKE_YOU)
                hour = word.lower().startswith(("hour", "hono", "hone"))
                assert (article.lower() == "an") == (vowel or hour), f"{article} {word}"


# --- bias tests -------------------------------------------------------------------------------------------------------

FOLDER = paths.DATA / "cognitive_biases"
SEVEN = {"anchoring", "authority", "bandwagon", "confirmation", "halo", "judge_anchoring", "loss_aversion"}
SEEDS = (0, 7, 42)


@cache
def templates() -> dict[str, tuple[BiasTemplate, MetricLine]]:
    """All that lie in the built-in folder."""
    return load_templates(FOLDER, load_config("cognitive_biases").options["metrics"], "config.yaml")


@cache
def questions(seed: int) -> tuple[Question, ...]:
    return cognitive.questions(templates(), seed)


def wordings(*biases: str) -> Iterator[tuple[str, Question, Wording]]:
    """Every wording of every scenario of these biases (all of them where none is named) under every seed."""
    for seed in SEEDS:
        for question in questions(seed):
            for wording in question.wordings if not biases or question.category in biases else ():
                yield f"{question.id} {wording.name} (seed {seed})", question, wording


def inserted(control: str, treatment: str) -> str | None:
    """What the treatment has more than the control, in one piece; None where they differ otherwise."""
    start = next((n for n, (a, b) in enumerate(zip(control, treatment, strict=False)) if a != b), len(control))
    return treatment[start : len(treatment) - len(control) + start] if treatment.endswith(control[start:]) else None


def test_seven_biases_have_at_least_24_scenarios_in_3_wordings() -> None:
    assert set(templates()) >= SEVEN, "a reader may have put others beside them"
    for name in SEVEN:
        template, _ = templates()[name]
        assert len(template.scenarios) >= 24 and len(template.wordings) >= 3, name
    ids = [question.id for question in questions(42)]
    assert len(set(ids)) == len(ids) == sum(len(template.scenarios) for template, _ in templates().values())


def test_every_version_is_whole_and_ends_with_its_question() -> None:
    for where, _, wording in wordings():
        for condition, version in wording.versions.items():
            assert version.text.endswith("?"), (where, condition, version.text)
            assert not re.search(r"[{}]|\bNone\b|  +|\n\n\n| [,.;?]|\ba [aeio]\w", version.text), (where, version.text)
            assert version.text == version.text.strip() and version.text.replace("\n", "").isprintable(), where


def test_scenarios_of_one_bias_are_not_the_same_text_twice() -> None:
    texts = [version.text for question in questions(42) for w in question.wordings for version in w.versions.values()]
    assert len(set(texts)) == len(texts)


def test_options_are_one_line_each_and_cannot_be_taken_for_letters() -> None:
    assert len(set(LETTERS)) == len(LETTERS) == 22 and not set(LETTERS) & set("ABIO01")
    for where, _, wording in wordings():
        for version in wording.versions.values():
            assert len(set(version.options)) == len(version.options) == len(version.values) <= len(LETTERS), where
            assert len(set(version.values)) == len(version.values) or wording.kind == "selection", where
            for text in version.options:
                assert (
                    len(text.splitlines()) == 1 and text == text.strip() and not re.match(r"\W*[A-Za-z](\W*$|\))", text)
                ), where
            # No text names one of the letters under which options are shown.
            named = re.findall(rf"\b([{LETTERS}])\b(?![.'])", version.text)
            assert not named, (where, named)


def test_targets_are_among_the_options_and_the_numbers_shown() -> None:
    for where, question, wording in wordings():
        values = wording.versions["treatment_for" if wording.kind == "selection" else "treatment"].values
        if wording.kind == "selection":
            assert wording.target is None and wording.scale is None, where
            continue
        assert wording.target in values and values == tuple(sorted(values)), where
        if wording.anchor is None:
            assert wording.target in (values[0], values[-1]), where
        else:
            gaps = [abs(value - wording.anchor) for value in values]
            assert values.index(wording.target) == gaps.index(min(gaps)), where
            assert re.search(rf"\b{wording.anchor:g}\b", wording.versions["treatment"].text), where
            assert values[int(wording.scale.x1)] == values[int(wording.scale.x2)] == wording.target, where
        assert (wording.anchor is not None) == (question.category in ("anchoring", "judge_anchoring")), where


@pytest.mark.parametrize("bias", ["anchoring", "judge_anchoring", "authority", "bandwagon"])
def test_the_treatment_is_the_control_with_one_piece_more(bias: str) -> None:
    shown = 0
    for where, _, wording in wordings(bias):
        control, treatment = (wording.versions[name].text for name in ("control", "treatment"))
        piece = inserted(control, treatment)
        assert piece is not None and 10 < len(piece) < 200, (where, control, treatment)
        if bias in ("authority", "bandwagon"):
            side = wording.facts["pick" if bias == "authority" else "crowd"]
            # The end meant is the one of the answer named: options of A come first.
            assert wording.target == (0.0 if side == "A" else 6.0) and re.search(rf"answer {side}\b", piece, re.I), (
                where
            )
            assert not re.search(rf"answer {'B' if side == 'A' else 'A'}\b", piece, re.I), where
        if bias == "bandwagon":
            assert f"{wording.facts['share']} %" in piece and wording.facts["share"] > 50, where
        shown += 1
    assert shown >= 24 * 3 * len(SEEDS)


def test_of_the_halo_only_the_sentence_of_the_impression_is_another() -> None:
    template, _ = templates()["halo"]
    fields = {f"halo_{scenario['id']}": scenario for scenario in template.scenarios}
    for where, question, wording in wordings("halo"):
        control, treatment = (wording.versions[name].text for name in ("control", "treatment"))
        scenario, impression = fields[question.id], wording.facts["impression"]
        said, other = scenario[impression], scenario["bad" if impression == "good" else "good"]
        assert control.count(scenario["neutral"]) == 1 and treatment.count(said) == 1 and other not in treatment, where
        assert control.replace(scenario["neutral"], said) == treatment, where
        assert wording.target == (6.0 if impression == "good" else 0.0), where


def test_selections_tell_the_decision_and_its_two_treatments_differ_in_that_word() -> None:
    for where, _, wording in wordings("confirmation"):
        told = {side: wording.versions[f"treatment_{side}"] for side in ("for", "against")}
        words = [told[side].text.split() for side in ("for", "against")]
        differing = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
        assert differing == [("for", "against")], where
        control = wording.versions["control"]
        assert all(inserted(control.text, version.text) for version in told.values()), where
        assert control.options == told["for"].options == told["against"].options, where
        assert sum(control.values) == 0 and set(control.values) == {-1.0, 1.0} and len(control.values) in (6, 8, 10), (
            where
        )
        assert not any(argument in version.text for version in told.values() for argument in version.options), where


def test_arguments_for_and_against_are_about_equally_long() -> None:
    sides: dict[float, list[int]] = {1.0: [], -1.0: []}
    for question in questions(42):
        if question.category == "confirmation":
            version = question.wordings[0].versions["control"]
            for text, value in zip(version.options, version.values, strict=True):
                sides[value].append(len(text.split()))
    means = [sum(lengths) / len(lengths) for lengths in sides.values()]
    assert abs(means[0] - means[1]) < 1 and max(map(max, sides.values())) <= 14


def test_control_and_treatment_of_a_gamble_end_in_the_same_outcomes() -> None:
    """A loss of the stake out of nothing, and nothing gained where the stake was certain, are the same ends."""
    seen = set()
    for seed in range(40):
        for question in (q for q in questions(seed) if q.category == "loss_aversion"):
            for wording in question.wordings:
                stake, ratio = (wording.facts[name] for name in ("stake", "ratio"))
                control, treatment = (
                    sorted({int(n) for n in re.findall(r"\b\d+\b", wording.versions[name].text)})
                    for name in ("control", "treatment")
                )
                assert stake == control[0] and len(treatment) == len(control) == 2, question.id
                (gain,) = {*treatment} - {stake}
                # Keep what you have, win or lose against the stake for sure, stake and gain, or nothing.
                assert sorted({0 + stake, gain + stake, -stake + stake} - {0}) == control, (question.id, stake, ratio)
                assert gain * 20 == stake * round(20 * ratio), "the ratio of what is shown is the one drawn, exactly"
                assert wording.target == 0.0 and wording.versions["treatment"].values == (0.0, 1.0)
                seen.add((stake, ratio))
    draws = templates()["loss_aversion"][0].draws
    assert seen == {(s, r) for s in draws["stake"].choose for r in draws["ratio"].choose} and len(seen) == 25


def test_the_options_that_count_to_ten_count_what_they_show() -> None:
    for _, _, wording in wordings("judge_anchoring"):
        control = wording.versions["control"]
        assert control.options == tuple(f"{n}/10" for n in range(11)) and control.values == tuple(range(11))


def test_another_scenario_or_seed_moves_only_what_is_drawn_for_it() -> None:
    one, other = ({q.id: q for q in questions(seed)} for seed in (7, 42))
    assert one.keys() == other.keys()
    drawn = [(a.facts, b.facts) for id in one for a, b in zip(one[id].wordings, other[id].wordings, strict=True)]
    assert sum(a != b for a, b in drawn if a) > len([1 for a, _ in drawn if a]) / 3
    for id in one:
        for a, b in zip(one[id].wordings, other[id].wordings, strict=True):
            same = a.versions[next(iter(a.versions))].text == b.versions[next(iter(b.versions))].text
            assert same or one[id].category == "loss_aversion", "a control shows nothing that is drawn"
