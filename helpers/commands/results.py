"""Commands around results: audit, compare, keys, power, explain, list, analyze, demo, paper and report."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from ..config import STYLES, parse_yaml
from ..config.models import AUDITED
from ..judge import Budget
from ..providers.keys import refuse
from .printing import afforded, concurrency, echo, parameter, parameters, replies, timeout_seconds

_path = click.Path(path_type=Path)
_runs = "Results of a run, any number of times; NAME begins the names of its macros. Default: the default runs."
_folders = "A folder of results, or one that holds such folders; may be given again. Default: the default runs."
_pages = "The folder of the report: a new one, an empty one, or that of an earlier report."


@click.command()
@click.option("--model", required=True, help="A name of models.yaml; with --base-url the model's id at that server.")
@click.option("--base-url", help="A server that speaks OpenAI's chat API, such as http://127.0.0.1:8000/v1.")
@click.option("--revision", help="Which weights answer at --base-url (enters each reply's key); default: the address.")
@click.option("--api-key-env", metavar="VARIABLE", help="The variable that holds the key of --base-url, if it has one.")
@click.option("--price", nargs=2, type=float, metavar="IN OUT", help="US dollars a million tokens there; 0 0: none.")
@click.option("--max-tokens", type=click.IntRange(1), help="Limit of a reply at --base-url; default 2048.")
@click.option("--params", metavar="YAML", help="What is sent to --base-url besides; default '{temperature: 0}'.")
@click.option("--text", "structured", flag_value=False, default=None, help="It enforces no JSON schema: marked text.")
@click.option("--size", type=int, help="How many of the built-in questions: 24 (default), 60 or 200.")
@click.option("--items", type=click.Path(path_type=Path), help="Your own questions and answers: a JSON object a line.")
@click.option("--budget-usd", type=click.FloatRange(0), help="US dollars above which no call is sent; default 0.")
@click.option("--plan", "only_plan", is_flag=True, help="Show calls, tokens and the most they can cost; ask nothing.")
@click.option("--stored", is_flag=True, help="Ask nothing; the card of the stored questions that are whole.")
@concurrency
@timeout_seconds
@click.option("--keep-going", is_flag=True, help="Ask on where hardly any of the first 20 replies can be read.")
@click.option("--to", "folder", type=_path, help="Of the card; default: audit-<model> here.")
@click.option("--force", is_flag=True, help="Write into a folder that holds something else.")
@replies
@click.option("--figure-style", type=click.Choice(STYLES), default="paper", show_default=True)
def audit(
    model: str, base_url: str | None, budget_usd: float | None, only_plan: bool, stored: bool, concurrency: int | None,
    timeout_seconds: float | None, keep_going: bool, folder: Path | None, force: bool, store: Path, figure_style: str,
    size: int | None, items: Path | None, **more: Any,
) -> None:  # fmt: skip
    """Ask one judge a frozen battery of some 800 short calls, and say which of 11 manipulations move its verdicts.

    Of each: an interval, what would have been found, and one of: biased, no bias shown, cannot tell. First comes the
    plan with its most cost; a second run asks nothing. Exit code 1 with --plan where --budget-usd is less.
    """
    from .. import audit as room

    if only_plan and stored:
        raise click.UsageError("--plan says what asking would cost, --stored asks nothing; leave out one of them")
    if budget_usd is not None and not math.isfinite(budget_usd):
        raise click.BadParameter(f"{budget_usd} is not a finite number", param_hint="--budget-usd")
    if more["params"] is not None:
        refuse({"params": more["params"]})
        more["params"] = parse_yaml(more["params"], "--params")
    battery, judge = room.prepare(model, base_url, more, size, items, concurrency, timeout_seconds)
    target = folder.expanduser() if folder else Path.cwd() / f"audit-{judge.name.removeprefix(AUDITED)}"
    store = store.expanduser().resolve()
    if not only_plan:
        room.check(target, judge, force)
    if not stored:
        judge = asyncio.run(room.as_it_is_served(judge))
        planned, stated = room.plan(battery, judge, store), budget_usd is not None
        echo(planned)
        fits = afforded(planned, Budget(budget_usd or 0.0), stated, f"An audit of {judge.name}", "--budget-usd")
        if only_plan:
            sys.exit(0 if fits else 1)
    done = asyncio.run(room.audit(battery, judge, store, budget_usd or 0.0, not stored, keep_going=keep_going))
    written = room.save(done, target, figure_style)
    echo(f"\n{room.terminal_card(done)}\n\n{len(written)} files in {target}")


@click.command()
@click.argument("a", type=_path)
@click.argument("b", type=_path)
@click.option("--store", "stores", multiple=True, type=_path, help="Replies of A; again: of B.")
@click.option("--independent", is_flag=True, help="Read no stored verdicts: at once, but with wider intervals.")
@click.option("--to", "target", type=click.Path(dir_okay=False, path_type=Path), help="A .csv file for all numbers.")
def compare(a: Path, b: Path, stores: tuple[Path, ...], independent: bool, target: Path | None) -> None:
    """Say which numbers moved from A to B, how far, and how sure that is; and whether another model answered.

    A and B: cards of an audit (card.json), or folders of results of a run, a matrix or an analysis.
    """
    from .. import compare as room, export, tables, words

    found = room.compare(a, b, *stores, paired=not independent)
    echo(words.differences(found))
    if target:
        export.write({target.name: tables.csv_text(found).encode()}, target.parent)


@click.command("list")
@click.argument("kind", type=click.Choice(["notebooks", "models", "numbers", "formats"]))
def list_of(kind: str) -> None:
    """List the notebooks, models, numbers or formats of verdicts that there are, a line each."""
    from ..listing import listing

    found = listing(kind).astype(str)
    wide = [max(map(len, [name, *found[name]])) for name in found]
    echo("\n".join("  ".join(map(str.ljust, row, wide)).rstrip() for row in [[*found], *found.to_numpy()]))


@click.command()
@click.argument("places", nargs=-1, type=_path)
def check(places: tuple[Path, ...]) -> None:
    """Look for your keys in everything that runs produced (or in PLACES) before you publish it.

    Looked for are the values of the secret variables of this environment, in any form, and what looks like a key. Told
    are file, line and variable, never the value. Exit code 1 where anything was found or a file could not be read.
    """
    from .. import check as room

    checked = room.check(places or room.usual())
    for hit in checked.hits:
        what = "what looks like a key" if hit.what == "key" else f"the value of {hit.what}"
        echo(f"{_short(hit.path)}:{hit.place}: {what}")
    for path, why in checked.closed:
        echo(f"{_short(path)}: not looked into: {why}", err=True)
    names, absent = room.list_variables()
    found = f"{len(checked.hits)} places hold a key" if checked.hits else "no key found"
    looked = f"Looked for: {', '.join(names) or 'no variable of this environment'}, and what looks like a key."
    echo(f"{checked.files} files ({checked.size / 1e6:.1f} MB): {found}. {looked}")
    if absent:
        echo(f"Not set here, so their values could not be looked for: {', '.join(absent)}.")
    if checked.hits:
        echo("Renew these keys with their providers if anybody may have seen the files, then delete the places.")
    sys.exit(1 if checked.hits or checked.closed else 0)


def _short(path: Path) -> str:
    return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path)


@click.command()
@click.argument("name")
@parameter
@click.option("--questions", type=int, help="As the numbers count them (articles, scenarios of a bias); default: all.")
@click.option("--judges", help="Names in models.yaml, with commas between; default: as in config.yaml.")
@click.option("--repeats", type=int, help="How often each trial is asked; default: as in config.yaml.")
@click.option("--effect", "effects", multiple=True, help="A wanted effect, in pp or with its unit: 5, 0.4logit.")
@click.option("--pilot", type=click.Path(exists=True, dir_okay=False), help="numbers.json of a run that was made.")
@click.option("--draws", type=int, default=100, show_default=True, help="Simulated runs, where there is no pilot.")
@click.option("--to", "--out", "out", type=click.Path(file_okay=False), help="A folder for the figure of the curve.")
def power(name: str, pairs: tuple[tuple[str, str], ...], **options: Any) -> None:
    """Show what so many questions can find, how many a wanted effect takes, and what they cost."""
    from ..power import planned

    echo(planned(name, parameters(pairs), **options))


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--write", is_flag=True, help="Make the page figures/overview/estimands.md anew.")
def explain(ids: tuple[str, ...], write: bool) -> None:
    """Say what a number means, how it is counted and where it fails; without IDS list all numbers."""
    from .. import explain as room

    texts = [f"written: {room.write()}"] if write else []
    echo("\n\n".join([*texts, *map(room.explain, ids)]) or room.listed())


@click.command()
@click.argument("file", type=click.Path())
@click.option("--format", help="tidy, arena-hard, fastchat-pair, ...: where the fields of the file do not tell it.")
@click.option("--to", "--out", "out", type=click.Path(), help="Folder for the results; default: <FILE>-recuse here.")
@click.option("--force", is_flag=True, help="Write into a folder that holds something else.")
@click.option("--ignore-extra", is_flag=True, help="Leave columns unread that are not known.")
@click.option("--map", "names", multiple=True, help="What FILE calls a column: --map verdict=winner --map judge=model.")
@click.option("--positive", type=click.Choice(["first", "second"]), help="Verdicts are grades: for whom above 0.")
@click.option("--random-gold", is_flag=True, help="Rows with a gold were drawn at random: correct win rates by them.")
@click.option("--seed", type=int, default=42, show_default=True, help="Resampling and sign flips.")
@click.option("--margin-pp", type=float, default=5.0, show_default=True, help="A hint that changes less is no matter.")
@click.option("--fail-on", default="", metavar="BIAS,...", help="Exit code 3 if shown: position, own_vendor, names.")
@click.option("--figure-style", type=click.Choice(STYLES), help="Also write all that a paper takes, in this style.")
def analyze(file: str, out: str | None, force: bool, fail_on: str, figure_style: str | None, **options: Any) -> None:
    """Compute every number that the verdicts in FILE can carry, and say of each other one what is missing.

    FILE: one row a verdict with columns judge, question, candidates, verdict (.csv, .tsv, .jsonl, .json, .parquet), or
    a file or folder of Arena-Hard, FastChat, AlpacaEval, Inspect, LLM-Eval and others. No keys, no config.
    """
    from ..analyze import analyze as analyze_file, saying

    folder = Path(out).expanduser() if out else Path.cwd() / saying.name_of(file)
    saying.check(folder, force, fail_on)
    options["names"] = dict(each.partition("=")[::2] for each in options["names"])
    found = analyze_file(file, **options | {"positive": options["positive"] or ""})
    echo(f"{saying.summary(found)}\n")
    echo(saying.write(found, folder, force, figure_style))
    if saying.shown(found, fail_on):
        sys.exit(3)


@click.command()
def demo() -> None:
    """Analyse built-in verdicts of SIMULATED judges: no key, no network, nothing to prepare."""
    from ..analyze import EXAMPLE

    click.get_current_context().invoke(analyze, file=str(EXAMPLE), out="recuse-demo")
    echo("\nNext: your own verdicts, recuse analyze FILE; a judge, recuse audit --model sim_gpt_fast")


@click.command()
@click.option("--style", required=True, help="Whose columns and sizes of letters: neurips, icml or acl.")
@click.option("--to", "folder", required=True, type=_path, help="The folder to write.")
@click.option("--results", "places", multiple=True, metavar="[NAME=]FOLDER", help=_runs)
@click.option("--only", multiple=True, metavar="ID", help="Of figures and tables this one, as in RESULTS-NAME; again.")
@click.option("--force", is_flag=True, help="Replace files of the folder that were changed by hand.")
def paper(style: str, folder: Path, places: tuple[str, ...], only: tuple[str, ...], force: bool) -> None:
    """Write figures, tables, numbers, methods, sources and the judge-bias checklist of results as LaTeX.

    Figures that were drawn in another style are drawn again by running their notebook on stored replies; nobody but
    simulated judges is asked. example.tex there is a small paper that uses all of it.
    """
    from .. import paper as room

    done = room.write(style, folder.expanduser(), places, force, lambda text: echo(text, err=True), only)
    for note in done.notes:
        echo(f"note: {note}", err=True)
    echo(f"{len(done.files)} files in {done.folder}: \\input{{recuse}} in your preamble; example.tex shows how")


@click.command()
@click.option("--to", "folder", type=_path, default=Path("recuse-report"), show_default=True, help=_pages)
@click.option("--results", "places", multiple=True, type=_path, help=_folders)
@click.option("--one-file", is_flag=True, help="Write one page that holds all of it, without files to download.")
def report(folder: Path, places: tuple[Path, ...], one_file: bool) -> None:
    """Make one folder of pages from the executed notebooks, to be read offline in a browser and handed on.

    It holds findings with their figures, a page for each notebook, judge cards, marked verdicts, what each number means
    and a glossary. Nobody is asked anything. A missing or failed run is skipped, with the command that makes it.
    """
    from ..report import pages

    echo(pages.report(folder.expanduser(), places, partial(echo, err=True), one_file))
