"""Published Arena-Hard judgments, both layouts, as the games frame; whatever is broken is told and the rest kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helpers.datasets.arena_lines import EACH, Place, Problem, games_of, id_of, name_in, places, read_lines, score_of
from helpers.datasets.game_rows import ORDERS, Game, games_frame, normalised
from helpers.datasets.places import all_files
from helpers.datasets.questions import UNKNOWN
from helpers.types import Question

if TYPE_CHECKING:
    import pandas

#: The baseline of each benchmark whose records do not name it; other benchmarks' is called "baseline".
BASELINES = {"v0.1": "gpt-4-0314", "arena-hard-v0.1": "gpt-4-0314"}
#: Ids of duplicates that a problem names before it only counts them.
NAMED = 10


@dataclass(frozen=True)
class Arena:
    """What judgment files hold: the games frame, and what in them could not be read as it stands."""

    frame: pandas.DataFrame
    problems: tuple[Problem, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many problems of each kind there are."""
        return dict(Counter(problem.kind for problem in self.problems))


def load_arena(
    source: str | Path,
    hub: Mapping[str, Any] | None = None,
    *,
    questions: Iterable[Question] = (),
    baseline: str | None = None,
    experiment: str = "published",
) -> Arena:
    """Which verdicts do these Arena-Hard judgments hold: a file, a judge's folder, a tree of judges, or "hub"?

    Both layouts: v2.0 (uid, category, judge, model, baseline, games[].score) and v0.1 (question_id, games[].score). The
    frame (columns: game_rows.COLUMNS) has two rows a line: game 1 with the baseline first, game 2 with the candidate
    first; `games` is how many the line holds, a game that is null or not there is "missing", and only the first two of
    more are read. `source` is benchmark/judge/model as the folders say; judge and candidate are those of the record,
    where it has none those of the path; no two judges are ever pooled. A missing category is that of the question
    with this id, else "unknown"; a missing baseline is `baseline`, else what BASELINES says of the benchmark, else
    "baseline". A candidate that is the baseline itself makes the condition "identical". Of several lines on one
    question by one judge of one candidate the first counts, as the original tools skip what is there. `problems` tell
    every line that is broken and whatever was not read. A source without any judgment is a ValueError. The hub's entry
    lists the files to fetch, for the repository is large.
    """
    if source == "hub":
        files = all_files("hub", hub, "judgments", (f"<judge>/{EACH}",))
        found, problems = [place for file in files for place in places(file)[0]], []
    else:
        found, problems = places(Path(source).expanduser())
    categories = {question.id: question.category for question in questions}
    games: list[Game] = []
    for place in found:
        read, wrong = _read(place, categories, baseline)
        games += read
        problems += wrong
    if not games:
        raise ValueError(
            f"{source}: no judgment of Arena-Hard (uid or question_id, model, judge, games with their scores); "
            + "; ".join(map(str, problems[:3]))
        )
    return Arena(games_frame(games, experiment), tuple(problems))


def _read(place: Place, categories: Mapping[str, str], baseline: str | None) -> tuple[list[Game], list[Problem]]:
    """The games of one file, and its problems."""
    games: list[Game] = []
    problems: list[Problem] = []
    seen: dict[tuple[str, str, str], int] = {}
    twice: dict[str, list[int]] = {}
    instead = baseline or BASELINES.get(place.source.split("/")[0], "baseline")
    for number, record in read_lines(place):
        if isinstance(record, Problem):
            problems.append(record)
            continue
        try:
            blank, held = _compared(record, place, categories, instead), games_of(record)
        except ValueError as error:
            problems.append(Problem(place.file, number, "broken", str(error)))
            continue
        key = (blank.judge, blank.candidate, blank.question_id)
        if seen.setdefault(key, number) != number:
            twice.setdefault(blank.question_id, []).append(number)
            continue
        if len(held) > 2:
            told = f"question {blank.question_id} holds {len(held)} games; the first two are read"
            problems.append(Problem(place.file, number, "more_games", told))
        games += _both(blank, held)
    if not games:
        told = f"; {problems[0]}" if problems else ""
        what = f"no judgment in this file, {len(problems)} lines of something else{told}"
        return [], [Problem(place.file, None, "skipped", what)]
    return games, [*problems, *_duplicates(place, twice), *_mixed(place, seen)]


def _compared(record: Mapping[str, Any], place: Place, categories: Mapping[str, str], instead: str) -> Game:
    """What one line compares, as a game without a verdict."""
    record = dict(record)
    question = id_of(record)
    candidate, baseline = name_in(record, "model", place.path.stem), name_in(record, "baseline", instead)
    return Game(
        source=place.source,
        question_id=question,
        category=name_in(record, "category", categories.get(question, UNKNOWN)),
        judge=name_in(record, "judge", place.path.parent.name),
        candidate=candidate,
        baseline=baseline,
        first=ORDERS[0],
        score=None,
        verdict=None,
        condition="identical" if candidate == baseline else "none",
    )


def _both(blank: Game, held: list[dict[str, Any] | None]) -> Iterable[Game]:
    for first, game in zip(ORDERS, [*held, None, None], strict=False):
        score = score_of(game)
        yield blank._replace(first=first, score=score, verdict=normalised(score), games=len(held), missing=game is None)


def _duplicates(place: Place, twice: Mapping[str, list[int]]) -> list[Problem]:
    """One problem a file: which questions have later lines, that are not read."""
    if not twice:
        return []
    lines = [number for numbers in twice.values() for number in numbers]
    named = ", ".join(f"{id} (line {', '.join(map(str, numbers))})" for id, numbers in list(twice.items())[:NAMED])
    more = f" and {len(twice) - NAMED} more" if len(twice) > NAMED else ""
    told = f"{len(lines)} later lines on questions that were judged before are not read: {named}{more}"
    return [Problem(place.file, min(lines), "duplicate", told)]


def _mixed(place: Place, seen: Iterable[tuple[str, str, str]]) -> list[Problem]:
    """One problem where a file holds several comparisons; its rows are told apart by judge and candidate."""
    pairs = sorted({key[:2] for key in seen})
    if len(pairs) == 1:
        return []
    named = ", ".join(f"{judge} on {candidate}" for judge, candidate in pairs[:NAMED])
    return [Problem(place.file, None, "several", f"{len(pairs)} comparisons in one file, kept apart: {named}")]
