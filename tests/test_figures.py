"""Figures: what they show is what was given, readable at print size, marked when simulated, the same bytes always."""

from __future__ import annotations

import ast
import hashlib
import io
import itertools
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from matplotlib.collections import LineCollection, PathCollection

from helpers import figures, paths
from helpers.figures import style as styles
from helpers.types import Estimate

STYLES = ("paper", "neurips", "icml", "acl", "talk")
#: The default and the narrowest always; the others, which take half a minute a file each, where there is time.
#: The narrowest is where things meet first; the others are drawn in the slow tests.
EACH_STYLE = [pytest.param(style, marks=() if style == "acl" else pytest.mark.slow) for style in STYLES]
NAN = float("nan")

# First places of each judge among 80 verdicts, as published.
TOP1 = {
    "claude_fast": {"claude": 22, "gpt": 44, "gemini": 14},
    "claude_thinking": {"claude": 26, "gpt": 40, "gemini": 14},
    "gpt_fast": {"claude": 17, "gpt": 47, "gemini": 16},
    "gpt_thinking": {"claude": 17, "gpt": 56, "gemini": 7},
    "gemini_fast": {"claude": 18, "gpt": 34, "gemini": 28},
    "gemini_thinking": {"claude": 21, "gpt": 34, "gemini": 25},
}
CATEGORIES = ("coding", "extraction", "humanities", "math", "reasoning", "roleplay", "stem", "writing")


def wilson(k: int, n: int) -> tuple[float, float]:
    z, p = 1.959963984540054, k / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def rate(id: str, where: dict[str, str], k: int, n: int, data: str) -> Estimate:
    return Estimate(id, where, k / n, *wilson(k, n), n=n, clusters=80, method="Wilson", data=data)


def pp(id: str, where: dict[str, str], value: float, half: float, data: str, unit="pp", **facts) -> Estimate:
    """An estimate with an interval of this half width."""
    facts = {"n": 160, "clusters": 80, "method": "t", "unit": unit, "data": data} | facts
    return Estimate(id, where, value, value - half, value + half, **facts)


def widths(axes) -> list[float]:
    """The widths of bars, row by row, in the order of parts."""
    bars = [each for each in axes.patches if each.get_width() > 0]
    return [bar.get_width() for bar in sorted(bars, key=lambda bar: (round(bar.get_y(), 6), bar.get_x()))]


def top1(data: str, prefix: str = "") -> list[Estimate]:
    return [
        rate("top1_rate", {"judge": prefix + judge, "vendor": vendor}, k, 80, data)
        for judge, row in TOP1.items()
        for vendor, k in row.items()
    ]


def many_judges() -> list[Estimate]:
    return [
        rate(
            "top1_rate", {"judge": f"{own}_{i}", "vendor": vendor}, 30 + 7 * i if vendor == own else 20 - i, 80, "asked"
        )
        for own in ("claude", "gpt", "gemini")
        for i in range(5)
        for vendor in ("claude", "gpt", "gemini")
    ]


def categories(data: str) -> list[Estimate]:
    return [
        rate("category_self_bias", {"vendor": vendor, "category": category}, (7 * i + 5 * j) % 21, 20, data)
        for i, vendor in enumerate(("claude", "gpt", "gemini"))
        for j, category in enumerate(CATEGORIES)
    ]


def positions(data: str) -> list[Estimate]:
    return [
        pp("position_effect", {"slot": str(i)}, x, 0.04, data)
        for i, x in enumerate((0.06, 0.02, -0.01, -0.02, 0.0, -0.03), start=1)
    ]


def preferences(data: str, logit: bool) -> tuple[list[Estimate], list[Estimate], list[Estimate]]:
    naive = []
    for vendor, k in {"claude": 48, "gpt": 103, "gemini": 53}.items():
        each = rate("naive_self_preference", {"vendor": vendor}, k, 160, data)
        naive.append(replace(each, unit="pp", **{n: getattr(each, n) - 1 / 3 for n in ("value", "low", "high")}))
    excess = [
        pp("excess_self_preference", {"vendor": v}, x, 0.08, data)
        for v, x in {"claude": 0.0719, "gpt": 0.1688, "gemini": 0.1719}.items()
    ]
    effects = [
        pp("logit_effect", {"vendor": v}, x, 0.05, data)
        for v, x in {"claude": 0.06, "gpt": 0.12, "gemini": 0.11}.items()
    ]
    return naive, excess, effects if logit else []


def tiers(data: str) -> list[Estimate]:
    counts = {"claude": (13, 21), "gpt": (25, 34), "gemini": (13, 25)}
    where = {"judge": "gemini_thinking"} if data == "published" else {}
    return [
        rate("tier_preference", {**where, "vendor": v, "tier": tier}, k if tier == "thinking" else n - k, n, data)
        for v, (k, n) in counts.items()
        for tier in ("fast", "thinking")
    ]


def all_figures(style: str = "paper") -> list[figures.Figure]:
    """Every figure in every shape: one data source, two, few judges, many."""
    unreadable = [rate("unreadable_share", {"judge": f"sim_{judge}"}, 2, 80, "simulated") for judge in TOP1]
    published, asked = preferences("published", False), preferences("simulated", True)
    both = tuple(map(list, map(itertools.chain, published, asked)))
    return [
        figures.show_judge_vendor_heatmap(top1("published"), style=style, name="heatmap"),
        figures.show_judge_vendor_heatmap(
            top1("published") + top1("simulated", "sim_") + unreadable, style=style, name="heatmaps"
        ),
        figures.show_judge_vendor_heatmap(many_judges(), style=style, name="forest"),
        figures.show_self_preference(*published, style=style, name="preference"),
        figures.show_self_preference(*both, style=style, name="preferences"),
        figures.show_categories(categories("published"), style=style, name="category"),
        figures.show_categories(categories("published") + categories("simulated"), style=style, name="categories"),
        figures.show_positions(positions("simulated"), style=style, name="position"),
        figures.show_positions(positions("asked") + positions("simulated"), style=style, name="positions"),
        figures.show_tiers(tiers("published"), style=style, name="tier"),
        figures.show_tiers(tiers("published") + tiers("simulated"), style=style, name="tiers"),
    ]


@cache
def narrow(all_figures: Callable[[str], list[figures.Figure]]) -> list[figures.Figure]:
    """All figures of a module in the narrowest columns."""
    return all_figures("acl")


@pytest.fixture(scope="module")
def paper() -> dict[str, figures.Figure]:
    return {figure.name: figure for figure in all_figures()}


def texts(figure: figures.Figure) -> list:
    """The texts that are drawn; a figure also holds tick labels of other panels and of places outside the axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    drawn = []
    draw = Text.draw

    def record(self, renderer):
        if self.get_visible() and self.get_text().strip():
            drawn.append(self)
        return draw(self, renderer)

    with pytest.MonkeyPatch.context() as patch, styles.settings(figure.rc):
        patch.setattr(Text, "draw", record)
        FigureCanvasAgg(figure.figure).draw()  # once, and no file: all that is asked is what stands where
    return list({id(each): each for each in drawn}.values())


def intervals(axes) -> list[tuple[float, float, float]]:
    """(place, low, high) of each interval drawn along x."""
    lines = [each for each in axes.collections if isinstance(each, LineCollection)]
    ends = [segment for line in lines for segment in line.get_segments() if len(segment) == 2]
    return sorted((float(y), float(low), float(high)) for (low, y), (high, _) in ends if low == low)


def points(axes) -> list[tuple[float, float]]:
    """(x, y) of each point, from above."""
    marks = [each for each in axes.collections if isinstance(each, PathCollection)]
    found = [(float(x), float(y)) for mark in marks for x, y in mark.get_offsets() if x == x]
    return sorted(found, key=lambda point: (point[1], point[0]))


def assert_readable(figure: figures.Figure, look: styles.Style, strict: bool = False) -> list[str]:
    """No text leaves the figure or touches another at the resolution of the file (strictly: by a pixel); its texts."""
    drawn = texts(figure)
    boxes = [(each.get_text(), each.get_window_extent()) for each in drawn]
    assert len(boxes) > 6, figure.name
    edge = figure.figure.bbox
    for words, box in boxes:
        inside = edge.x0 - 1 <= box.x0 and box.x1 <= edge.x1 + 1 and edge.y0 - 1 <= box.y0 and box.y1 <= edge.y1 + 1
        assert inside, f"{look.name} {figure.name}: '{words}' leaves the figure"
    for (one, a), (two, b) in itertools.combinations(boxes, 2):
        across, down = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        # Boxes hold the room above and below letters, and empty first lines of lowered ticks.
        blank = not strict and (one.startswith("\n") or two.startswith("\n"))
        assert min(across, down) <= (1 if strict else 2) or blank, f"{look.name} {figure.name}: '{one}' on '{two}'"
    assert min(each.get_fontsize() for each in drawn) >= 6, figure.name
    lines = [each.get_zorder() for each in figure.figure.findobj(LineCollection)]
    assert all(dots.get_zorder() > max(lines, default=0) for dots in figure.figure.findobj(PathCollection))
    return [each.get_text() for each in drawn]


def test_the_palette_is_seaborns_colorblind():
    import seaborn

    allowed = set(seaborn.color_palette("colorblind").as_hex())
    assert {colour.lower() for colour in (*styles.COLOURS, styles.GREY)} == {each.lower() for each in allowed}


def test_a_vendor_looks_the_same_in_every_figure():
    paper = styles.style("paper")
    alone = {vendor: paper.looks([vendor])[vendor] for vendor in ("claude", "gpt", "gemini")}
    assert len({look.colour for look in alone.values()}) == len({look.marker for look in alone.values()}) == 3
    for name, others in itertools.product(STYLES, (["acme", "aaa"], ["llama", "mistral"], ["zeta", "claude"])):
        looks = styles.style(name).looks([*others, "gpt", "gemini", "claude"])
        assert {vendor: looks[vendor] for vendor in alone} == alone


def test_further_vendors_get_the_next_looks_and_keep_them_where_named():
    named = styles.style("paper", vendors=["zeta", "acme"])
    assert named.looks(["acme"])["acme"] == named.looks(["acme", "zeta", "aaa"])["acme"]
    crowd = named.looks([f"vendor{i}" for i in range(40)])
    assert len(set(crowd.values())) == 40
    assert list(named.looks(["b", "acme", "a", "gpt"])) == ["gpt", "acme", "a", "b"]


def test_an_unknown_style_names_the_known_ones():
    with pytest.raises(ValueError, match=r"'poster'.*paper, neurips, icml, acl, talk"):
        figures.show_positions(positions("asked"), style="poster")


def rows_of(figure: figures.Figure, panel: int = 0) -> list[str]:
    """The names of rows and headings, from above."""
    return [each.get_text() for each in figure.figure.axes[0].get_yticklabels()]


def by_row(figure: figures.Figure, panel: int = 0) -> list[tuple[str, float, tuple[float, float] | None]]:
    """Each point from above: the row it stands nearest to, its value and its interval."""
    first, axes = figure.figure.axes[0], figure.figure.axes[panel]
    ticks = dict(zip(map(float, first.get_yticks()), rows_of(figure), strict=True))
    # A dot and its interval stand at one height, whatever else is in the row.
    spans = {}
    for y, low, high in intervals(axes):
        spans.setdefault(round(y, 6), []).append((low, high))
    found = []
    for x, y in points(axes):
        mine = [span for span in spans.get(round(y, 6), []) if span[0] - 1e-9 <= x <= span[1] + 1e-9]
        found.append((ticks[min(ticks, key=lambda tick: abs(tick - y))], x, mine[-1] if mine else None))
    return found


def test_a_heatmap_cell_says_percent_and_interval_and_own_cells_are_outlined(paper):
    axes = paper["heatmap"].figure.axes[0]
    cells = [each.get_text() for each in axes.texts]
    # 44 of 80: 55.0 %, Wilson by hand [44.12, 65.43].
    assert cells[1] == "55.0\n[44, 65]" and len(cells) == 18
    outlined = [each.get_xy() for each in axes.patches if not each.get_fill()]
    assert [(int(x), int(y)) for x, y in outlined] == [(0, 0), (0, 1), (1, 2), (1, 3), (2, 4), (2, 5)]
    assert rows_of(paper["heatmap"]) == list(TOP1)
    shuffled = figures.show_judge_vendor_heatmap(sorted(top1("asked"), key=lambda each: each.where["vendor"][::-1]))
    columns = [each.get_text() for each in shuffled.figure.axes[0].get_xticklabels()]
    assert columns == ["Claude", "GPT", "Gemini"], "in the order of vendors, however they are given"
    assert "n = 80 judgments a point" in paper["heatmap"].caption


def test_a_judges_vendor_may_be_given_and_is_never_guessed_between_two():
    odd = [replace(each, where={**each.where, "judge": "gpt_gemini_mix"}) for each in top1("asked")[:3]]
    outlines = lambda figure: [p for p in figure.figure.axes[0].patches if not p.get_fill()]  # noqa: E731
    assert outlines(figures.show_judge_vendor_heatmap(odd)) == []
    given = figures.show_judge_vendor_heatmap(odd, judge_vendors={"gpt_gemini_mix": "gemini"})
    assert [int(patch.get_xy()[0]) for patch in outlines(given)] == [2]


def test_self_preference_shows_every_number_with_its_interval(paper):
    found = by_row(paper["preferences"])
    kinds = ["naive: own \N{MINUS SIGN} expected", "excess over others", "logit, marginal"]
    # Simulated judges stand last, and of published margins no logit can be estimated.
    assert [row for row, _, _ in found] == kinds[:2] * 3 + kinds * 3
    heads = [row for row in rows_of(paper["preferences"]) if row not in kinds]
    assert heads == ["published counts", "Claude", "GPT", "Gemini", "SIMULATED models", "Claude", "GPT", "Gemini"]
    # 48 of 160 less a third: -3.333 pp.
    low, high = wilson(48, 160)
    ends = pytest.approx((100 * (low - 1 / 3), 100 * (high - 1 / 3)))
    assert found[0][1] == pytest.approx(100 * (0.3 - 1 / 3)) and found[0][2] == ends
    assert found[-1][1:] == (pytest.approx(11), pytest.approx((6, 16)))
    assert [each.get_text() for each in paper["preferences"].figure.axes[0].texts] == ["not estimable"] * 3


def test_what_is_no_difference_in_pp_is_refused():
    _, excess, _ = preferences("asked", True)
    for unit in ("rate", "logit"):
        with pytest.raises(ValueError, match=rf"has unit '{unit}'; this figure shows pp"):
            figures.show_self_preference([], excess, [replace(each, unit=unit) for each in excess])
    with pytest.raises(ValueError, match="all three lists"):
        figures.show_self_preference([], [], [])


def test_a_category_is_a_row_with_a_point_for_each_vendor(paper):
    rows = rows_of(paper["category"])
    means = {c: sum((7 * i + 5 * j) % 21 for i in range(3)) for j, c in enumerate(CATEGORIES)}
    assert [means[category] for category in rows] == sorted(means.values(), reverse=True)
    found = by_row(paper["category"])
    assert len(found) == 24 and all(span for _, _, span in found)
    given = {c: sorted(5.0 * ((7 * i + 5 * j) % 21) for i in range(3)) for j, c in enumerate(CATEGORIES)}
    for category in rows:
        assert sorted(x for row, x, _ in found if row == category) == pytest.approx(given[category])


def test_positions_are_in_pp_around_a_line_at_zero(paper):
    assert [x for _, x, _ in by_row(paper["position"])] == pytest.approx([6, 2, -1, -2, 0, -3])
    assert rows_of(paper["position"])[1:3] == ["shown first", "place 2"]
    axes = paper["position"].figure.axes[0]
    assert [list(line.get_xdata()) for line in axes.lines] == [[0, 0]]
    assert "(pp)" in axes.get_xlabel()
    with pytest.raises(ValueError, match="several units"):
        figures.show_positions([*positions("asked"), replace(positions("asked")[0], unit="logit", data="hub")])
    with pytest.raises(ValueError, match=r"slot 1 \(A\); slots are counted '1', '2'"):
        figures.show_positions([replace(positions("asked")[0], where={"slot": "1 (A)"})])


def test_tiers_show_the_wanted_tier_only(paper):
    assert [x for _, x, _ in by_row(paper["tier"])] == pytest.approx([100 * 13 / 21, 100 * 25 / 34, 100 * 13 / 25])
    assert "gemini_thinking" in rows_of(paper["tier"]), "whose verdicts they are"
    fast = figures.show_tiers(tiers("asked"), tier="fast")
    assert by_row(fast)[0][1] == pytest.approx(100 * 8 / 21)
    with pytest.raises(ValueError, match=r"'slow'.*fast.*thinking"):
        figures.show_tiers(tiers("asked"), tier="slow")


def test_no_interval_is_an_open_marker_and_no_number_is_words():
    bare = replace(tiers("asked")[1], low=NAN, high=NAN, method="8 questions are too few")
    lost = replace(tiers("asked")[3], value=NAN, low=NAN, high=NAN)
    figure = figures.show_tiers([bare, lost, tiers("asked")[5]])
    axes = figure.figure.axes[0]
    marks = [each for each in axes.collections if isinstance(each, PathCollection)]
    filled = {round(float(y), 6): face[3] > 0.5 for mark in marks
              for (_, y), face in zip(mark.get_offsets(), mark.get_facecolors(), strict=False)}  # fmt: skip
    assert [filled[y] for y in sorted(filled)] == [False, True]
    assert [each.get_text() for each in axes.texts] == ["not estimable"]
    assert "Open markers: no interval (8 questions are too few)." in figure.caption
    assert "not estimable" in figure.alt


def test_captions_say_n_questions_unreadable_share_and_method(paper):
    assert "published counts (n = 80 judgments a point, unreadable share not published)" in paper["heatmap"].caption
    assert "SIMULATED models (n = 80 judgments a point, 80 questions, unreadable" in paper["heatmaps"].caption
    # 6 judges x 2 of 80.
    assert "unreadable 2.5 % (12 of 480 judgments)" in paper["heatmaps"].caption
    assert "n = 21 to 34 judgments a point" in paper["tier"].caption
    assert "95 % (Wilson)" in paper["heatmap"].caption
    assert "claude_fast, vendor GPT: 55.0 % [44.1, 65.4]" in paper["heatmap"].alt


def test_captions_say_each_method_once_and_take_the_unreadable_share_from_beside():
    naive, excess, logit = preferences("asked", True)
    naive = [replace(each, method="Wilson; counts") for each in naive]
    excess = [replace(each, method="Newcombe; counts") for each in excess]
    lost = [rate("unreadable_share", {"judge": "gpt_fast"}, 1, 80, "asked")]
    caption = figures.show_self_preference(naive, excess, logit, unreadable=lost).caption
    assert "95 % (Wilson; counts; Newcombe; t)." in caption
    # 1 of 80 is 1.25 %.
    assert "unreadable 1.2 % (1 of 80 judgments)" in caption


def test_wrong_estimates_are_named():
    with pytest.raises(ValueError, match=r"given: position_effect\[slot\]"):
        figures.show_judge_vendor_heatmap(positions("asked"))
    with pytest.raises(ValueError, match="given: none"):
        figures.show_positions([])
    with pytest.raises(ValueError, match=r"more than one estimate for \{'slot': '1'\} \(asked\)"):
        figures.show_positions([*positions("asked"), positions("asked")[0]])


def digests(files: list[figures.Figure]) -> str:
    seen = hashlib.sha256()
    for figure, kind in itertools.product(files, ("png", "pdf", "svg")):
        seen.update(figure.render(kind))
    return seen.hexdigest()


def two_figures() -> list[figures.Figure]:
    return [
        figures.show_positions(positions("asked") + positions("simulated")),
        figures.show_judge_vendor_heatmap(top1("published")),
    ]


SUBPROCESS = """
import sys
from tests.test_figures import digests, two_figures
from matplotlib import pyplot
print(digests(two_figures()), pyplot.get_fignums())
"""


@pytest.mark.slow
def test_bytes_are_the_same_in_every_process_and_no_figure_stays_open():
    root = Path(__file__).resolve().parent.parent
    environment = {**os.environ, "PYTHONPATH": str(root)}
    outputs = set()
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo")):
        result = subprocess.run(
            [sys.executable, "-c", SUBPROCESS],
            env={**environment, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
            cwd=root,
        )
        outputs.add(result.stdout.strip())
    assert outputs == {f"{digests(two_figures())} []"}


def test_all_formats_show_one_layout():
    figure = two_figures()[1]
    places = set()
    for kind in ("png", "pdf", "svg", "png"):
        figure.render(kind)
        places.add(figure.figure.axes[0].get_position().bounds)
    assert len(places) == 1


def test_each_file_is_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    figure, drawn = two_figures()[1], []
    plain = type(figure.figure).draw
    monkeypatch.setattr(type(figure.figure), "draw", lambda self, renderer: drawn.append(1) or plain(self, renderer))
    for number, kind in enumerate(("png", "pdf", "svg"), 1):
        figure.render(kind)
        assert len(drawn) == number


def test_the_users_settings_change_nothing_and_are_kept():
    import matplotlib

    before = digests(two_figures()[:1])
    own = {"figure.facecolor": "black", "font.size": 20, "lines.linewidth": 9, "pdf.fonttype": 3}
    with matplotlib.rc_context({**own, "figure.autolayout": True}):
        figures = two_figures()[:1]
        for _ in range(2):
            figures[0].figure.savefig(io.BytesIO())  # by the user's own hand
            assert digests(figures) == before
        figures[0].figure.savefig(io.BytesIO())
        figures[0].figure.savefig(io.BytesIO())
        assert digests(figures) == before
        assert matplotlib.rcParams["figure.facecolor"] == "black" and matplotlib.rcParams["pdf.fonttype"] == 3


def test_files_embed_fonts_hold_no_date_and_are_opaque_white(paper):
    from matplotlib.image import imread

    figure = paper["heatmaps"]
    pdf, svg, png = (figure.render(kind) for kind in ("pdf", "svg", "png"))
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf and b"CreationDate" not in pdf
    assert b"dc:date" not in svg and str(paths.ROOT).encode() not in svg
    assert b"Software" not in png
    pixels = imread(io.BytesIO(png))
    assert (pixels[0, 0] == 1).all() and (pixels[..., 3] == 1).all()
    assert pixels.shape[1] == 880  # 4.4 inches at 200 dots
    with pytest.raises(ValueError, match="no format 'jpg'; there are: png, pdf, svg"):
        figure.render("jpg")


def test_a_notebook_shows_the_png(paper):
    from IPython.core.formatters import DisplayFormatter

    data, _ = DisplayFormatter().format(paper["tier"])
    assert data["image/png"] == paper["tier"].render("png")
    assert paper["tier"].pixels == 440  # 4.4 inches


FORBIDDEN = {"errorbar", "scatter", "bar", "barh", "fill_between", "fill_betweenx"}


def test_seaborn_draws_every_mark():
    """`plot` is called on seaborn's plots alone, which take no argument there."""
    for path in sorted((paths.ROOT / "helpers" / "figures").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr not in FORBIDDEN, f"{path.name}, line {node.lineno}"
                assert node.func.attr != "plot" or not (node.args or node.keywords), f"{path.name}, line {node.lineno}"


def test_a_page_holds_the_first_rows_and_says_how_many_more_there_are():
    many = [rate("accuracy_share", {"judge": f"judge {i:03}"}, 90 - i, 100, "asked") for i in range(90)]
    figure = figures.show_sorted(many, "accuracy_share")
    assert figure.figure.get_figheight() <= styles.HIGHEST
    rows = rows_of(figure)
    assert (
        rows == [f"judge {i:03}" for i in range(len(rows))]
        and f" {90 - len(rows)} more in the table." in figure.caption
    )
    assert_readable(figure, styles.style())
