"""The judging path, all in, beside the same SDK's call in a bare loop and beside what others use."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.environments import PEERS, build, version_in
from benchmarks.material import write
from benchmarks.measuring import Cost, cost, goal, server, spread, table, versions

TITLE = "Judging"
SDKS = ("openai", "anthropic", "google")
#: What is compared of each SDK.
EACH = ("ours", "bare")
PACKAGES = {"openai": "openai", "anthropic": "anthropic", "google": "google-genai"}
#: How long a reply takes where rates are compared with those of bare loops (services take longer), and where CPU time
#: is, and peers are: there so short that it is what limits a program.
SLOW, FAST, AT_ONCE = 1000.0, 200.0, 64
#: What happens once is removed: what 2,200 calls cost less what 200 cost.
LITTLE, MUCH = 200, 2_200
#: How often ours and the bare loop take turns within a round: a machine's speed can change within one turn.
TURNS = 3
MANY = 20_000
#: The least that our rate is over a peer's, and its CPU time over ours.
FASTER = {"inspect_ai": 6.0, "litellm": 1.7}
CHEAPER = {"inspect_ai": 6.0, "a client per call": 12.0}
#: A program as a command line, for these numbers of calls, one after the other (a peer takes one number); the folder
#: is a new one each time.
Command = Callable[[Sequence[int], Path], list[str]]


@dataclass(frozen=True)
class PerCall:
    """What a call costs a program once it has started: calls a second, and milliseconds of CPU time."""

    rate: float
    cpu: float


def per_call(little: tuple[float, float], much: tuple[float, float], calls: int) -> PerCall:
    """What so many calls more have cost: seconds and CPU seconds of many, less those of few.

    >>> per_call((1.0, 0.5), (5.0, 2.5), 2000)
    PerCall(rate=500.0, cpu=1.0)
    """
    (few, spent), (many, more) = little, much
    return PerCall(calls / (many - few), 1000 * (more - spent) / calls)


def parse_costs(output: str, calls: int) -> PerCall:
    """What a program says of itself once it is warm, a line a number of calls: the first is not counted.

    >>> parse_costs("9.0 9.0\\n1.0 0.5\\n5.0 2.5\\n", 2000)
    PerCall(rate=500.0, cpu=1.0)
    """
    _, little, much = (tuple(map(float, line.split())) for line in output.splitlines())
    return per_call(little, much, calls)


def programs(port: int, prompts: Path) -> dict[str, Command]:
    """All programs by name, in the order in which they take turns."""
    here = [sys.executable, "-m"]
    asked = ["--port", str(port), "--at-once", str(AT_ONCE)]

    def ours(sdk: str) -> Command:
        return lambda calls, folder: [
            *[*here, "benchmarks.programs.ours", sdk, *asked, "--calls", *map(str, calls), "--store", str(folder)]
        ]

    def bare(sdk: str) -> Command:
        return lambda calls, folder: [
            *[*here, "benchmarks.programs.bare", sdk, *asked, "--calls", *map(str, calls), "--prompts", str(prompts)]
        ]

    def peer(name: str) -> Command:
        start = [str(PEERS[name].python), "-m", f"benchmarks.programs.{PEERS[name].program}", *asked]
        keeps = name == "inspect_ai"
        return lambda calls, folder: [
            *[*start, "--calls", *map(str, calls), "--prompts", str(prompts)],
            *(["--store", str(folder)] if keeps else []),
        ]

    found = {f"{whose.__name__} {sdk}": whose(sdk) for sdk in SDKS for whose in (ours, bare)}
    return found | {name: peer(name) for name in PEERS}


def rounds(commands: Mapping[str, Command], runs: int, little: int, much: int) -> dict[str, list[PerCall]]:
    """What each program's calls cost; all take part in each round, so that in the long run all are disturbed alike.

    Ours and the bare loops of an SDK, whose costs are close, take TURNS there, of which the round has the medians; each
    other turn goes the other way round: what comes first is no better off than what comes after it. In a turn one
    process makes few calls, as many again and many, and says itself what the latter two have cost: to import an SDK
    takes more than hundreds of calls, and never the same. Of peers, measured once a round, whole processes are read.
    """
    found: dict[str, list[PerCall]] = {name: [] for name in commands}
    alike = [names for sdk in SDKS if (names := [f"{whose} {sdk}" for whose in EACH])[0] in commands]
    for number in range(runs):
        for names in [*alike, *([name] for name in PEERS if name in commands)]:
            print(f"judging, round {number + 1} of {runs}: {', '.join(names)}", file=sys.stderr)
            if len(names) == 1:
                few, many = (_cost(commands[names[0]], [calls]) for calls in (little, much))
                found[names[0]].append(per_call((few.seconds, few.cpu), (many.seconds, many.cpu), much - little))
                continue
            turns: dict[str, list[PerCall]] = {name: [] for name in names}
            for turn in range(TURNS):
                for name in names if (number + turn) % 2 == 0 else reversed(names):
                    turns[name].append(parse_costs(_cost(commands[name], [little, little, much]).output, much - little))
            for name, each in turns.items():
                found[name].append(PerCall(median(one.rate for one in each), median(one.cpu for one in each)))
    return found


def _cost(command: Command, calls: Sequence[int]) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        return cost(command(calls, Path(folder)))


def many(command: Command, runs: int, calls: int) -> list[tuple[Cost, Cost]]:
    """So many judgments asked, and then the same again when all of them are stored."""
    found = []
    for number in range(runs):
        print(f"judging, {calls:,} at once, round {number + 1} of {runs}", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            found.append((cost(command([calls], Path(folder))), cost(command([calls], Path(folder)))))
    return found


def beside_bare(slow: Mapping[str, Sequence[PerCall]], fast: Mapping[str, Sequence[PerCall]]) -> str:
    """Our path and the bare loops, SDK by SDK, as a table: rates at a slow server, CPU time at a fast one."""
    rows = []
    for sdk in SDKS:
        ours, bare = (slow[f"{whose} {sdk}"] for whose in EACH)
        rates = [our.rate / its.rate for our, its in zip(ours, bare, strict=True)]
        idle = [our.cpu / its.cpu for our, its in zip(ours, bare, strict=True)]
        busy = [fast[f"{whose} {sdk}"] for whose in EACH]
        cpus = [our.cpu / its.cpu for our, its in zip(*busy, strict=True)]
        rows.append(
            [
                sdk,
                spread([each.rate for each in ours], 0),
                spread([each.rate for each in bare], 0),
                f"{spread(rates)} ({goal(rates, 0.95, most=False)})",
                *(spread([each.cpu for each in one]) for one in busy),
                f"{spread(cpus)} ({goal(cpus, 2, most=True)})",
                spread(idle),
            ]
        )
    head = ["SDK", "ours, calls/s", "bare, calls/s", "rate over bare"]
    head += ["ours, CPU ms", "bare, CPU ms", "CPU over bare", "the same at the slow server"]
    return table(head, rows)


def beside_peers(found: Mapping[str, Sequence[PerCall]], absent: Mapping[str, str]) -> str:
    """Our path through the openai SDK and the peers, as a table; of those that are absent it says why."""
    rows = []
    for name in PEERS:
        if name in absent:
            rows.append([f"{name}: not installed: {absent[name]}", *[""] * 4])
            continue
        pairs = [*zip(found["ours openai"], found[name], strict=True)]
        faster = [our.rate / its.rate for our, its in pairs]
        cheaper = [its.cpu / our.cpu for our, its in pairs]
        shown = [spread(faster, 1), spread(cheaper, 1)]
        shown[0] += f" ({goal(faster, FASTER[name], False, 1)})" if name in FASTER else ""
        shown[1] += f" ({goal(cheaper, CHEAPER[name], False, 1)})" if name in CHEAPER else ""
        rows.append([name, spread([its.rate for _, its in pairs], 0), spread([its.cpu for _, its in pairs], 1), *shown])
    return table(["peer", "calls/s", "CPU ms a call", "our rate over its", "its CPU over ours"], rows)


def of_many(found: Sequence[tuple[Cost, Cost]], calls: int) -> str:
    """Memory and the second run of many judgments, as a table."""
    memory, again = [first.memory for first, _ in found], [second.memory for _, second in found]
    starts, processes = [float(second.output.split()[1]) for _, second in found], [second.cpu for _, second in found]
    rows = [
        [f"{calls:,} asked: largest resident memory, MB", spread(memory, 0), goal(memory, 200, True, 0)],
        [f"{calls:,} stored: from the first trial to all judgments, CPU s", spread(starts), goal(starts, 2, True, 0)],
        [f"{calls:,} stored: the whole process, with start and imports, CPU s", spread(processes), ""],
        [f"{calls:,} stored: largest resident memory, MB", spread(again, 0), ""],
    ]
    return table(["openai", "median", "goal"], rows)


def section(runs: int, little: int = LITTLE, much: int = MUCH, calls: int = MANY) -> str:
    """Measure all programs in turn; the section of the results as Markdown."""
    absent = {name: reason for name, peer in PEERS.items() if (reason := build(peer))}
    with tempfile.TemporaryDirectory() as folder:
        prompts = Path(folder) / "prompts.jsonl"
        write(prompts, much)
        size = prompts.stat().st_size / much
        with server(SLOW) as port:
            every = programs(port, prompts)
            slow = rounds({name: every[name] for name in every if name not in PEERS}, runs, little, much)
        with server(FAST) as port:
            every = programs(port, prompts)
            fast = rounds({name: every[name] for name in every if name not in absent}, runs, little, much)
            stored = many(every["ours openai"], runs, calls)
    peers = "; ".join(version_in(peer) for name, peer in PEERS.items() if name not in absent) or "none"
    return f"""
A local server answers after {SLOW:.0f} ms (rates) or {FAST:.0f} ms (CPU time), {AT_ONCE} calls at once,
{size / 1000:.1f} KB of prompt and schema a call. Ours: build, call, parse, durable append, progress, a budget by the
table of prices, a key that is looked for in each reply. Bare: the same public method of the SDK on the same transport
in a loop, called as its documentation does, prompts read from a file.
Each number is what {much - little:,} calls more cost ({much:,} less {little:,}), in user and system time of the
process. Ours and the bare loops make both in one process that has made {little:,} before; a round takes the medians of
{TURNS} turns.
{versions([*PACKAGES.values(), "aiohttp", "httpx2"])}.

{beside_bare(slow, fast)}

Peers at the fast server, each in an environment of its own ({peers}); inspect_ai with its default settings.

{beside_peers(fast, absent)}

{of_many(stored, calls)}
"""
