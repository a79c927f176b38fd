"""Audits: places and their balance, the frozen battery, and what is concluded of judges whose bias is known."""

from __future__ import annotations

import hashlib
import math
import re
import shutil
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest

from helpers import datasets
from helpers.audit import asking, measuring
from helpers.audit.asking import PROBES
from helpers.config import ConfigError
from helpers.types import Estimate, Trial
from studies.calibration.worlds.listwise import WORLDS, draw, frame as frame_of
from tests.audits import BATTERY, DESIGN, drawn, findings, judged, model, net, wins

CANNOT = "which model wins and which letter wins cannot be told apart."


def judged_in_orders(orders, judges=("one",), condition="none") -> pd.DataFrame:
    """A listwise frame in which question i shows orders[i] to every judge."""
    rows = [
        {"question_id": f"q{i}", "judge": judge, "condition": condition, "repeat": 0, "label": "ABCDEFGH"[slot]}
        | {"candidate": candidate, "top": float(slot == 0)}
        for i, order in enumerate(orders)
        for judge in judges
        for slot, candidate in enumerate(order)
    ]
    return pd.DataFrame(rows)


def random_orders(n: int, seed: int, names: str = "uvwxyz") -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[names[i] for i in rng.permutation(len(names))] for _ in range(n)]


def test_one_order_throughout_is_told_in_one_sentence():
    audit = datasets.audit_places(judged_in_orders(["zyxwvu"] * 20, ["one", "two"]))
    assert audit.sentence == f"Each of the 6 models stood under one and the same letter in all 40 judgments: {CANNOT}"
    assert (audit.judgments, audit.orders, audit.draws) == (40, 1, 1)
    assert np.isnan(audit.p)
    assert audit.table.loc["z"].to_dict() == {"A": 40, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0}


def test_a_balanced_design_is_called_balanced():
    frame = frame_of(draw(WORLDS["plain"], 12, np.random.default_rng(0)))
    audit = datasets.audit_places(frame)
    assert (audit.table == 12).to_numpy().all() and audit.chi2 == 0
    assert audit.sentence == (
        f"{audit.orders} different orders were shown in 72 judgments; each of the 6 models stood under each letter "
        "12 times (equal shares: 12): at least as balanced as random orders would be (p = 1)."
    )


def test_the_chi_square_is_that_of_permutations():
    audit = datasets.audit_places(judged_in_orders(random_orders(90, 4)))
    observed = audit.table.to_numpy()
    # Pearson's statistic of the table, times (k - 1) / k, with (k - 1)^2 degrees of freedom.
    assert audit.chi2 == pytest.approx(((observed - 15) ** 2 / 15).sum() * 5 / 6)
    assert audit.dof == 25
    found = [datasets.audit_places(judged_in_orders(random_orders(40, seed, "uvwx"))).chi2 for seed in range(300)]
    # Mean 9 and variance 18 of a chi-square with 9 degrees of freedom, within three standard errors of 300 draws.
    assert np.mean(found) == pytest.approx(9, abs=3 * (18 / 300) ** 0.5)
    assert np.var(found) == pytest.approx(18, rel=0.35)


def test_imbalance_is_found_and_said():
    orders = random_orders(100, 7)
    favoured = [["u", *(x for x in order if x != "u")] if i % 2 else order for i, order in enumerate(orders)]
    audit = datasets.audit_places(judged_in_orders(favoured))
    assert audit.p < 0.005
    assert "less balanced than random orders would be (p < 0.0001), so some models had better places" in audit.sentence


def test_a_model_that_never_moved_is_named():
    audit = datasets.audit_places(judged_in_orders([["a_first", *order] for order in random_orders(60, 3, "vwxyz")]))
    assert audit.sentence.endswith("Of a_first, model and letter cannot be told apart.")


def test_an_order_shared_by_all_judges_or_hints_is_one_draw():
    orders = random_orders(60, 1)
    alone, shared = (
        datasets.audit_places(judged_in_orders(orders)),
        datasets.audit_places(judged_in_orders(orders, ["a", "b", "c"])),
    )
    assert (shared.judgments, shared.draws) == (180, 60) and shared.p == pytest.approx(alone.p)
    assert "180 judgments, one for all judgments of a question;" in shared.sentence
    frames = [judged_in_orders(orders[i::2], [judge]) for i, judge in enumerate("ab")]
    hints = pd.concat([frame.assign(condition=hint) for frame in frames for hint in ("none", "full")])
    assert datasets.audit_places(hints).draws == 60
    by_judge = pd.concat([judged_in_orders([order] * 40, [f"j{i}"]) for i, order in enumerate(orders[:3])])
    audit = datasets.audit_places(by_judge)
    assert audit.draws == 3 and np.isnan(audit.p)
    assert "not tested (3 separate draws of an order are too few for a test)" in audit.sentence


def test_unknown_places_are_counted_and_nothing_is_made_up():
    frame = judged_in_orders(random_orders(50, 2))
    frame.loc[frame["question_id"] == "q0", "label"] = None
    frame.loc[6, "candidate"] = None  # one open place: that judgment's order is not known
    audit = datasets.audit_places(frame)
    assert (audit.judgments, audit.unknown) == (48, 2)
    assert audit.sentence.endswith("Of 2 further judgments the places are not known.")
    nothing = "No judgment tells which model stood under which letter: nothing can be audited."
    assert datasets.audit_places(frame.assign(label=None)).sentence == nothing
    assert datasets.audit_places(frame[:0]).sentence == nothing
    assert "one judgment" in datasets.audit_places(judged_in_orders(["uvw"])).sentence


def test_different_models_a_question_have_no_common_test():
    audit = datasets.audit_places(judged_in_orders([["u", "v", "w"], ["w", "x", "u"]] * 20))
    assert np.isnan(audit.p) and "no test fits all" in audit.sentence and "equal shares" not in audit.sentence


def test_real_judgments_show_one_letter_a_model(real_data):
    everything = datasets.audit_places(datasets.load_judgments(real_data / "llm_eval"))
    assert everything.sentence == (
        f"Each of the 6 models stood under one and the same letter in all 480 judgments: {CANNOT}"
    )
    assert everything.table.to_numpy().max() == 480


# --- the battery ------------------------------------------------------------------------------------------------------

TRIALS = asking.trials(BATTERY, model({}))


def of(condition: str) -> list[Trial]:
    return [trial for trial in TRIALS if trial.condition == condition]


def texts(trial: Trial) -> list[str]:
    """The texts between the delimiters of a prompt, in shown order."""
    return re.findall(rf"<<<ANSWER \w+ {trial.nonce}>>>\n(.*?)\n<<<END", trial.request.prompt, re.DOTALL)


def test_the_texts_are_those_of_the_version_that_is_written_down() -> None:
    found = hashlib.sha256()
    for name in ("battery.yaml", "pair.txt", "score.txt"):
        content = (asking.FOLDER / name).read_bytes()
        found.update(f"{name}:{len(content)}\n".encode() + content)
    assert f'"{BATTERY.version}": "{found.hexdigest()}"' in (asking.FOLDER / "versions.yaml").read_text()


@pytest.mark.parametrize("name", ["battery.yaml", "pair.txt", "score.txt"])
def test_a_changed_letter_is_another_battery(tmp_path, name: str) -> None:
    shutil.copytree(asking.FOLDER, tmp_path / "audit")
    path = tmp_path / "audit" / name
    path.write_text(path.read_text().replace("question", "questions", 1))
    with pytest.raises(ConfigError, match=r"not those of version 1\.0"):
        asking.load(tmp_path / "audit")


def test_a_battery_of_ones_own_needs_a_version_and_whole_items(tmp_path) -> None:
    folder = tmp_path / "audit"
    shutil.copytree(asking.FOLDER, folder)
    path = folder / "battery.yaml"
    own = path.read_text().replace('version: "1.0"', 'version: "mine"').replace("id: wool", "id: woollen")
    path.write_text(own)
    (folder / "versions.yaml").write_text(f'"mine": "{asking.digest(folder)}"\n')
    assert asking.load(folder).version == "mine"
    path.write_text(own.replace("id: woollen", "id: kettle"))
    (folder / "versions.yaml").write_text(f'"mine": "{asking.digest(folder)}"\n')
    with pytest.raises(ConfigError, match="more than one with the id kettle"):
        asking.load(folder)
    path.write_text(own.replace("    expert: the head of a laboratory for household appliances\n", ""))
    with pytest.raises(ConfigError, match=r"battery.yaml.*expert"):
        asking.load(folder)


def test_the_answers_are_alike_and_padding_adds_words_only() -> None:
    assert len(BATTERY.items) >= 24 and len({item.question for item in BATTERY.items}) == len(BATTERY.items)
    for item in BATTERY.items:
        for side in asking.SIDES:
            plain, padded = item.text(side), item.text(side, padded=True)
            rest = padded
            for sentence in getattr(item, side):  # each stands in it, in the same order
                before, found, rest = rest.partition(sentence)
                assert found and before.strip() in item.filler
            assert rest.strip() == item.filler[-1] and 2 <= len(padded) / len(plain) <= 3.5
        one, two = (len(item.text(side)) for side in asking.SIDES)
        assert 0.75 < one / two < 1.34, item.id  # in the probes on other things length must not decide


def test_some_six_hundred_calls_are_all_different_and_asked_in_a_mixed_order() -> None:
    assert Counter(trial.condition for trial in TRIALS) == {
        **{"plain": 96, "letters": 48, "identical": 48, "length": 48, "gap": 24, "anchor": 48},
        **{"authority": 96, "bandwagon": 96, "names": 96},
    }
    assert len({trial.request.key for trial in TRIALS}) == len(TRIALS) == 25 * len(BATTERY.items)
    # No condition is asked earlier than the others: their mean places differ by chance (sd of a mean below 0.06).
    for condition in {trial.condition for trial in TRIALS}:
        places = [i / len(TRIALS) for i, trial in enumerate(TRIALS) if trial.condition == condition]
        assert 0.3 < sum(places) / len(places) < 0.7
    again = asking.trials(BATTERY, model({}))
    assert [trial.request.key for trial in again] == [trial.request.key for trial in TRIALS]


@pytest.mark.parametrize("condition", ["authority", "bandwagon", "names"])
def test_words_beside_an_answer_stand_beside_each_in_both_orders_and_change_nothing_else(condition: str) -> None:
    plain = {(t.question_id, t.where["first"]): texts(t) for t in of("plain")}
    cells: dict[str, list[tuple[str, str]]] = {}
    for trial in of(condition):
        cells.setdefault(trial.question_id, []).append((trial.where["first"], trial.where["target"]))
        assert texts(trial) == plain[trial.question_id, trial.where["first"]]
        mark = trial.labels[trial.shown.index(trial.where["target"])]
        if condition == "names":
            known = re.search(rf"^Answer {mark}, written by (.+):$", trial.request.prompt, re.MULTILINE)
            assert known and known[1] in BATTERY.names["famous"]
        else:
            assert len(re.findall(rf"^Note on answer {mark}: .+\.$", trial.request.prompt, re.MULTILINE)) == 1
            words = re.search(r"^Note on answer \w: (.+)$", trial.request.prompt, re.MULTILINE)[1]
            assert any(each.isdigit() for each in words) == (condition == "bandwagon")
    both = [("one", "one"), ("one", "two"), ("two", "one"), ("two", "two")]
    assert all(sorted(found) == both for found in cells.values()) and len(cells) == len(BATTERY.items)
    # The control has the same words on the same question: but for the mark the lines are equal.
    for id in cells:
        mine = [t for t in of(condition) if t.question_id == id and t.where["first"] == "one"]
        if condition != "names":
            lines = {re.search(r"^Note on answer \w: (.+)$", t.request.prompt, re.MULTILINE)[1] for t in mine}
            assert len(lines) == 1


def test_well_known_names_take_turns() -> None:
    named = Counter(
        name for t in of("names") for name in BATTERY.names["famous"] if f"written by {name}:" in t.request.prompt
    )
    assert len(set(named.values())) == 1 and set(named) == set(BATTERY.names["famous"])


def test_exchanged_letters_change_letters_only() -> None:
    plain = {(t.question_id, t.where["first"]): t for t in of("plain") if t.request.repeat == 0}
    exchange = str.maketrans("AB", "BA")
    for trial in of("letters"):
        usual = plain[trial.question_id, trial.where["first"]]
        assert texts(trial) == texts(usual) and trial.labels == ("B", "A", "tie")

        def marks(prompt: str) -> list[str]:
            return re.findall(r"(?:ANSWER|Answer|answer|END|-) ([AB])\b", prompt)

        assert [mark.translate(exchange) for mark in marks(usual.request.prompt)] == marks(trial.request.prompt)


def test_controls_are_what_they_are_called() -> None:
    by_id = {item.id: item for item in BATTERY.items}
    assert all(len(set(texts(t))) == 1 for t in of("identical"))
    for trial in of("length"):
        longer = texts(trial)[trial.shown.index("padded")]
        assert longer == max(texts(trial), key=len)
    good_first = 0
    for trial in of("gap"):
        item, shown = by_id[trial.question_id], dict(zip(trial.shown, texts(trial), strict=True))
        own = [item.text(side) for side in asking.SIDES]
        others = [o.text(s) for o in BATTERY.items if o.category != item.category for s in asking.SIDES]
        assert shown["good"] in own and shown["off_topic"] in others
        good_first += trial.shown[0] == "good"
    assert good_first == len(BATTERY.items) // 2  # a judge that always names one place is right half of the time
    numbers: dict[str, dict[str, int]] = {}
    for trial in of("anchor"):
        (told,) = re.findall(r"(\d+) of 100 points", trial.request.prompt)
        numbers.setdefault(trial.question_id, {})[trial.where["target"]] = int(told)
    assert all(each["high"] >= 89 and each["low"] <= 14 for each in numbers.values()) and len(numbers) == 24


def test_a_text_that_holds_the_code_of_its_prompt_is_refused() -> None:
    item = BATTERY.items[0]
    held = item.model_copy(update={"one": [f"END {TRIALS[0].nonce}"], "id": TRIALS[0].question_id})
    with pytest.raises(ValueError, match="contains the nonce"):
        asking.trials(BATTERY.model_copy(update={"items": [held, *BATTERY.items[1:3]]}), model({}))


# --- what is concluded ------------------------------------------------------------------------------------------------

#: Traits that plant one bias each, the probes that it must show in, and its size from the simulator's own formula.
PLANTED = {
    "place": ({"primacy": [2.0, 0.0]}, {"order": wins(2.0)[0] ** 2 - wins(2.0)[1] ** 2, "identical": net(2.0)}),
    "letters": ({"biases": {"letters": 2.0}}, {"letters": net(2.0), "order": wins(2.0)[0] ** 2 - wins(2.0)[1] ** 2}),
    "length": ({"verbosity": 1.0}, {"length": net(2.0)}),
    "authority": ({"biases": {"authority": 1.5}}, {"authority": net(1.5)}),
    "bandwagon": ({"biases": {"bandwagon": 1.5}}, {"bandwagon": net(1.5)}),
    "names": ({"biases": {"names": 1.5}}, {"names": net(1.5)}),
    # 0.3 of the way from an honest score to a number: the numbers are about 93 and 10.
    "anchor": ({"biases": {"anchor": 0.3}}, {"anchor": 0.3 * (93 - 10) / 100}),
}
#: What may show beside a planted bias because it is the same thing: the first place bears the letter A.
COMPANIONS = {"letters": {"order", "identical"}, "place": set()}


CASES = [(name, structured) for name in PLANTED for structured in (True, False)]


@cache
def planted(name: str, structured: bool) -> dict[str, measuring.Finding]:
    return findings(judged(PLANTED[name][0], structured, id=f"sim-{name}"))


@pytest.mark.parametrize(("name", "structured"), CASES)
def test_a_planted_bias_is_found_with_an_honest_interval(name: str, structured: bool) -> None:
    found = planted(name, structured)
    for probe, truth in PLANTED[name][1].items():
        each = found[probe].estimate
        assert found[probe].in_words == "biased" and found[probe].examples
        # Four standard errors: one of these tests in some thousand would miss by chance.
        assert abs(each.value - truth) < 4 * each.se + 0.03, (probe, each, truth)
        assert found[probe].words == PROBES[probe].above


def test_what_is_not_planted_is_not_found() -> None:
    alarms = 0
    for name, structured in CASES:
        biased = {probe for probe, each in planted(name, structured).items() if each.in_words == "biased"}
        alarms += bool(biased - set(PLANTED[name][1]) - COMPANIONS.get(name, set()))
    # At most 5 % of audits raise one by chance; more than three of these 14 would be one run in 200.
    assert alarms <= 3


def test_biases_to_the_other_side_are_told_as_such() -> None:
    found = findings(judged({"primacy": [0.0, 2.0], "verbosity": -1.0, "biases": {"authority": -2.0}}))
    for probe in ("order", "identical", "length", "authority"):
        assert found[probe].in_words == "biased" and found[probe].words == PROBES[probe].below


def test_several_at_once_are_told_apart() -> None:
    traits = {"primacy": [2.0, 0.0], "biases": {"authority": 2.0, "names": -2.0, "anchor": 0.4}}
    found = findings(judged(traits))
    biased = {probe: each.estimate.value > 0 for probe, each in found.items() if each.in_words == "biased"}
    assert biased == {"order": True, "identical": True, "authority": True, "names": False, "anchor": True}


def test_a_fair_judge_is_fair_however_noisy_and_the_card_says_what_it_could_have_found() -> None:
    alarms = 0
    for noise, id in [(0.3, "a"), (0.3, "b"), (1.0, "a"), (1.0, "b"), (2.0, "a"), (2.0, "b")]:
        found = findings(judged({"noise": noise, "sharpness": 2.0}, id=id))
        alarms += any(each.in_words == "biased" for each in found.values())
        for each in found.values():
            assert each.in_words != "cannot tell" and (each.smallest > 0) != (each.moved > 0)
            assert each.in_words == "biased" or "would have been found" in each.words
    assert alarms <= 1  # one in 20 is what the correction allows; the slow tests measure it


def test_noise_and_bias_are_different_questions() -> None:
    noisy = judged({"noise": 1.5})
    beside = {each.id: each for each in measuring.described(noisy, "j", "asked", BATTERY.seed)}
    # It says something else in half of the cases, with the order or without: none of it is the order's.
    assert beside["repeat_disagreement"].value > 0.4 < beside["order_disagreement"].value
    assert beside["excess_flip"].low == 0 < beside["excess_flip"].high, "a sum of squares is not below 0"
    placed = measuring.described(judged({"primacy": [3.0, 0.0]}), "j", "asked", BATTERY.seed)
    assert next(each for each in placed if each.id == "excess_flip").low > 0


def test_a_judge_that_never_says_anything_else_passes_nothing() -> None:
    table = drawn(np.random.default_rng(1))
    constant = table.assign(sign=table["sign"].where(table["sign"].isna(), 1.0), points=table["points"] * 0 + 70)
    found = findings(constant)
    assert found["order"].in_words == found["identical"].in_words == "biased"
    assert {found[name].in_words for name in PROBES if name not in ("order", "identical")} == {"cannot tell"}
    assert "same 70 points" in found["anchor"].words and "50.0 %" in found["length"].words
    tied = table.assign(sign=table["sign"] * 0, points=table["points"])
    assert {each.in_words for name, each in findings(tied).items() if name != "anchor"} == {"cannot tell"}


def test_one_that_tosses_coins_is_not_taken_for_fair() -> None:
    rng = np.random.default_rng(3)
    table = drawn(rng)
    tossed = table.assign(sign=np.where(table["sign"].isna(), np.nan, rng.choice([-1.0, 1.0], len(table))))
    found = findings(tossed)
    assert {found[name].in_words for name in PROBES if name != "anchor"} == {"cannot tell"}


def test_nothing_moved_is_no_bias_shown_with_what_would_have_been_found() -> None:
    found = findings(judged({"noise": 1e-6, "tie": 0.3}))
    each = found["authority"]
    assert each.in_words == "no bias shown" and math.isnan(each.smallest)
    # 24 questions at the level of 0.05 / 8: nine that move to one side are needed, and P(at least nine) = 0.8.
    from scipy.stats import binom

    assert 2 * 0.5**9 < 0.05 / 8 < 2 * 0.5**8
    assert binom.sf(8, 24, each.moved) == pytest.approx(0.8, abs=1e-3)


def test_the_effect_that_is_named_is_rounded_up_and_says_how_often_it_would_be_found() -> None:
    for each in findings(judged({"sharpness": 2.0})).values():
        told = re.search(r"(\d+) (pp|% of questions) would have been found in 80 % of audits", each.words)
        size = each.smallest if each.smallest == each.smallest else each.moved
        assert each.in_words == "biased" or 0 <= int(told[1]) - 100 * size < 1, (told, size)


def test_where_not_even_the_largest_effect_would_be_found_nothing_is_told() -> None:
    """Twelve questions left of 24, on which the judge tosses coins: an effect of 100 pp would often be missed."""
    rng, table = np.random.default_rng(4), drawn(np.random.default_rng(3))
    questions = sorted(table["question"].unique())
    gone = table["question"].isin(questions[12:]) & (table["condition"] == "identical")
    rows = table["condition"] == "identical"
    # Both askings of a question say the same, and as many questions name the first as the second.
    sides = {name: rng.permutation([1.0, -1.0])[0] if i > 1 else (1.0, -1.0)[i] for i, name in enumerate(questions)}
    tossed = table["sign"].where(~rows, table["question"].astype(str).map(sides)).mask(gone)
    each = findings(table.assign(sign=tossed, outcome=np.where(gone, "refused", "ok")))["identical"]
    assert each.smallest > 1 and each.estimate.clusters == 12 and each.read == 24
    assert each.in_words == "cannot tell" and "even the largest effect can be missed" in each.words
    assert "would have been found" not in each.words


@pytest.mark.parametrize("kind", ["refused", "truncated", "unparsed", "missing"])
def test_lost_replies_are_counted_by_name_and_never_scored(kind: str) -> None:
    table = drawn(np.random.default_rng(5))
    lost = np.random.default_rng(6).random(len(table)) < 0.6
    gone = table.assign(
        sign=table["sign"].where(~lost), points=table["points"].where(~lost), outcome=np.where(lost, kind, "ok")
    )
    assert measuring.outcomes(gone).loc["all", kind] == lost.sum()
    found = findings(gone)
    assert found["length"].in_words == found["authority"].in_words == "cannot tell"
    for name, each in found.items():
        assert each.estimate.n == each.read < each.asked, name
    everything = table.assign(sign=np.nan, points=np.nan, outcome=kind)
    assert {each.in_words for each in findings(everything).values()} == {"cannot tell"}


def test_a_comparison_without_its_control_does_not_count() -> None:
    table = drawn(np.random.default_rng(7))
    rows = (table["condition"] == "authority") & (table["target"] == table["first"].astype(str))
    assert rows.sum() == 48
    assert findings(table.assign(sign=table["sign"].mask(rows)))["authority"].estimate.n == 0
    one = table.index[(table["condition"] == "length")][0]
    assert findings(table.assign(sign=table["sign"].mask(table.index == one)))["length"].read == 23


def test_effects_are_those_of_a_small_table_by_hand() -> None:
    """Two questions filled by hand; the rest tie."""
    table = drawn(np.random.default_rng(9)).assign(sign=0.0)
    table.loc[table["condition"] == "anchor", "sign"] = np.nan
    one, two = sorted(DESIGN["question"].unique())[:2]

    def put(question: str, condition: str, first: str, target: str, sign: float) -> None:
        at = table["question"].eq(question) & table["condition"].eq(condition)
        table.loc[at & table["first"].eq(first) & table["target"].eq(target), "sign"] = sign

    # The note moves the verdict of one question in one order all the way: (1 - -1) / 2 = 1 of 48 comparisons.
    put(one, "authority", "one", "one", 1.0)
    put(one, "authority", "one", "two", -1.0)
    # The padded text wins in both orders on one question and loses both on none: 1 of 24.
    put(two, "length", "padded", "padded", 1.0)
    put(two, "length", "short", "padded", -1.0)
    # The first place wins one repeat of both orders, which sets both repeats here: 2 of 48.
    put(one, "plain", "one", "", 1.0)
    put(one, "plain", "two", "", 1.0)
    # So letters: usual 1 against exchanged 0, in both orders, is 2 times 1/2 of 48.
    values = {each.id: each.value for each in measuring.measure(table, "j", "asked", 1)}
    assert values["authority_effect"] == pytest.approx(1 / 48)
    assert values["length_effect"] == pytest.approx(1 / 24)
    assert values["first_position_effect"] == pytest.approx(2 / 48)
    assert values["letter_effect"] == pytest.approx(2 * 0.5 / 48)
    assert values["bandwagon_effect"] == values["identical_pair_effect"] == 0


def test_the_bottom_line_names_all_probes_once_and_says_simulated() -> None:
    found = list(findings(judged({"primacy": [3.0, 0.0], "noise": 0.5})).values())
    said = measuring.bottom_line(found, "j", "simulated")
    sees = "SIMULATED: the audit of j reliably sees only effects above "
    assert re.match(rf"{sees}\d+ to \d+ pp \(by probe\)[^:]*: biased in 2 of 8 probes \(", said)
    asked = measuring.bottom_line(found, "my_llama", "asked")
    assert asked.startswith("The audit of my_llama reliably sees only effects above "), "a name begins as it is written"
    assert all(said.count(each.title) >= 1 for each in PROBES.values())
    order = [each.verdict for each in measuring.worst_first(found)]
    assert order == sorted(order, key=["bias", "hint", "untold", "not shown"].index)


def finding(probe: str, verdict: str, smallest: float = math.nan, moved: float = math.nan) -> measuring.Finding:
    number = Estimate(PROBES[probe].id, {"judge": "j"}, 0.1, unit="pp", n=48, clusters=24, data="asked")
    return measuring.Finding(probe, number, verdict, "", math.nan, smallest, moved, 48, 48)


#: What was found of the first probes, (verdict, smallest effect, least share of questions that move), and the headline.
MIXES = {
    "one size": ([("not shown", 0.37)] * 2, "only effects above 37 pp: no bias shown in any of 2 probes."),
    "rounded up": ([("not shown", 0.3601), ("not shown", 0.365)], "only effects above 37 pp: "),
    "exactly whole": ([("not shown", 0.37 + 1e-12)], "only effects above 37 pp: "),
    "a range": (
        [("bias", 0.301), ("not shown", 0.44), ("hint", 0.35)],
        "only effects above 31 to 44 pp (by probe): biased in 1 of 3 probes (order); no bias shown in 2 (identical "
        "pairs and letters), in identical pairs a hint.",
    ),
    "only biased": ([("bias", 0.2), ("bias", 0.2)], "only effects above 20 pp: biased in 2 of 2 probes ("),
    "what is untold sees nothing": (
        [("not shown", 0.4), ("untold", 0.05), ("untold", 1.7)],
        "only effects above 40 pp: no bias shown in 1 (order); nothing can be told of 2 (identical pairs and letters).",
    ),
    "all untold": ([("untold", 0.3), ("untold",)], "no effect of any size: nothing can be told of any of 2 probes."),
    "nothing asked": ([("untold",)] * 8, "no effect of any size: nothing can be told of any of 8 probes."),
    "nothing moved": (
        [("not shown", math.nan, 0.4398)] * 2,
        "only biases that move at least 44 % of questions: no bias shown in any of 2 probes.",
    ),
    "some moved": (
        [("not shown", 0.3), ("not shown", math.nan, 0.44), ("not shown", math.nan, 0.5)],
        "only effects above 30 pp, and where no question moved, biases that move at least 44 to 50 % of questions (by "
        "probe): ",
    ),
    "an unread judge whose bias shows all the same": (
        [("bias", 0.5), ("untold", 0.2), ("untold", math.nan, 0.44)],
        "only effects above 50 pp: biased in 1 of 3 probes (order); nothing can be told of 2 (",
    ),
    "a bias found with luck": ([("bias", 1.3), ("not shown", 0.6)], "only effects above 60 to 100 pp (by probe): "),
}  # fmt: skip


@pytest.mark.parametrize("name", MIXES)
def test_the_headline_begins_with_what_the_audit_can_see(name: str) -> None:
    mix, told = MIXES[name]
    found = [finding(probe, *each) for probe, each in zip(PROBES, mix, strict=False)]
    said = measuring.bottom_line(found, "my_llama", "asked")
    sees = "reliably sees" if told.startswith("only") else "sees"
    assert said.startswith(f"The audit of my_llama {sees} {told}"), said
    assert measuring.bottom_line(found, "my_llama", "simulated") == f"SIMULATED: t{said[1:]}"


def test_the_headline_of_a_partial_audit_is_that_of_what_was_read() -> None:
    table = drawn(np.random.default_rng(5))
    whole = list(findings(table).values())
    gone = table["question"].isin(sorted(table["question"].unique())[10:])
    lost = table.assign(
        sign=table["sign"].mask(gone), points=table["points"].mask(gone), outcome=np.where(gone, "missing", "ok")
    )
    assert measuring.bottom_line(whole, "j", "asked").startswith("The audit of j reliably sees only effects above ")
    said = measuring.bottom_line(list(findings(lost).values()), "j", "asked")
    assert said == "The audit of j sees no effect of any size: nothing can be told of any of 8 probes."
