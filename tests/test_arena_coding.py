"""The results of the built-in coding questions: their programs are run, their queries asked, their puzzles solved."""

from __future__ import annotations

import asyncio
import contextlib
import io
import re
import shutil
import sqlite3
import subprocess
import zoneinfo
from collections import Counter, deque
from itertools import combinations, permutations, product

import pytest

from tests.arena import QUESTIONS, holds, last


def program(question_id: str) -> str:
    """The code of a question, which is all that follows its first paragraph."""
    return QUESTIONS[question_id]["text"].split("\n\n", 1)[1]


def printed(code: str) -> list[str]:
    """What a Python program prints, line by line."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(code, {"__name__": "__main__"})
    return out.getvalue().splitlines()


def asked(tables: dict[str, list], query: str) -> list[tuple]:
    """What a query finds in tables, given as their head and their rows."""
    connection = sqlite3.connect(":memory:")
    for head, rows in tables.items():
        name, columns = head.rstrip(")").split("(")
        connection.execute(f"CREATE TABLE {name} ({columns})")
        marks = ", ".join("?" * len(columns.split(",")))
        connection.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


@pytest.mark.parametrize(
    ("question_id", "between"),
    [("coding_01", ""), ("coding_16", ""), ("coding_21", " and "), ("coding_22", ", "), ("coding_27", "")],
)
def test_what_python_prints(question_id: str, between: str):
    assert between.join(printed(program(question_id))) in last(question_id)


def test_the_repaired_closures_give_the_expected_list():
    assert "lambda x, k=k, n=n," in QUESTIONS["coding_01"]["points"][4]
    (line,) = printed(program("coding_01").replace("k=k:", "k=k, n=n:"))
    assert f"not {line}," in QUESTIONS["coding_01"]["text"]


def test_numbers():
    lines = printed(program("coding_02"))
    points = QUESTIONS["coding_02"]["points"]
    assert lines == ["False True", "0 2 2", "-4 -3 2", "False 0.0"]
    assert lines[0] in points[0] and lines[1] in points[1] and "-4 -3" in points[2] and "ends with 2" in points[3]
    assert lines[3] in points[5]


@pytest.mark.parametrize(("function", "streak"), [("DENSE_RANK", 3), ("ROW_NUMBER", 4)])
def test_streaks(function: str, streak: int):
    query = f"""
        SELECT MAX(days) FROM (
            SELECT user_id, COUNT(DISTINCT day) AS days FROM (
                SELECT user_id, day, day - {function}() OVER (PARTITION BY user_id ORDER BY day) AS island FROM logins)
            GROUP BY user_id, island)"""
    assert asked({"logins(user_id, day)": [(1, day) for day in (1, 2, 2, 3, 5, 6)]}, query) == [(streak,)]
    assert holds(last("coding_03"), streak)


def test_not_in_null():
    tables = {"orders(customer_id)": [(1,), (3,), (None,)], "customers(id)": [(1,), (2,), (3,), (4,)]}
    (given,) = re.findall(r"SELECT id .*?orders\)", QUESTIONS["coding_04"]["text"])
    (condition,) = re.findall(r"NOT EXISTS \(.*?\)", " ".join(QUESTIONS["coding_04"]["points"]))
    assert asked(tables, given) == []
    assert asked(tables, f"SELECT id FROM customers WHERE {condition}") == [(2,), (4,)]


def test_clubs():
    tables = {
        "clubs(id, name)": [(1, "Chess"), (2, "Rowing"), (3, "Choir")],
        "members(club_id, age)": [(1, 15), (1, 40), (2, 60)],
    }

    def counts(counted: str, condition: str) -> list[tuple]:
        join = "FROM clubs LEFT JOIN members ON members.club_id = clubs.id"
        return asked(tables, f"SELECT name, COUNT({counted}) {join} {condition} GROUP BY clubs.id ORDER BY clubs.id")

    assert counts("*", "WHERE age < 18") == [("Chess", 1)]
    assert counts("*", "AND age < 18") == [("Chess", 1), ("Rowing", 1), ("Choir", 1)]
    repaired = counts("members.club_id", "AND age < 18")
    assert re.findall(r"(\w+) (\d)", last("coding_05")) == [(name, str(n)) for name, n in repaired]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_what_javascript_prints():
    done = subprocess.run(["node", "-e", program("coding_08")], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    points = QUESTIONS["coding_08"]["points"]
    assert first.strip("[] ") in points[1] and second.strip("[] ") in points[4] and points[5].endswith(f"{third}.")


def test_sublists():
    numbers = [3, -3, 2, 1, -3, 3, 0]
    assert ", ".join(map(str, numbers)) in QUESTIONS["coding_11"]["text"]
    assert holds(last("coding_11"), sum(sum(numbers[i:j]) == 3 for i, j in combinations(range(8), 2)))


def test_shortest_ways():
    edges = re.findall(r"(\w) to (\w) (-?\d)", QUESTIONS["coding_12"]["text"])
    assert len(edges) == 4
    lengths = {(start, end): int(length) for start, end, length in edges}
    settled, seen = {}, {"S": 0}
    while seen:
        node = min(seen, key=seen.get)
        settled[node] = seen.pop(node)
        for (start, end), length in lengths.items():
            if start == node and end not in settled:
                seen[end] = min(seen.get(end, 99), settled[node] + length)
    ways = {end: [] for end in "PQR"}
    for n in (1, 2, 3):
        for middle in permutations("PQR", n):
            steps = list(zip(("S", *middle), middle, strict=False))
            if all(step in lengths for step in steps):
                ways[middle[-1]].append(sum(lengths[step] for step in steps))
    points = QUESTIONS["coding_12"]["points"]
    assert "P {P}, Q {Q} and R {R}".format(**settled) in points[2]
    assert "P {P}, Q {Q} and R {R}".format(**{node: min(found) for node, found in ways.items()}) in points[-1]


def test_queue_with_maximum():
    queue, candidates = deque(), deque()
    for value in (5, 3, 4, None, 4, 2):
        if value is None:
            if queue.popleft() == candidates[0]:
                candidates.popleft()
        else:
            queue.append(value)
            while candidates and candidates[-1] < value:
                candidates.pop()
            candidates.append(value)
        assert candidates[0] == max(queue)
    told = "holds {} and the candidates are {}.".format(*(", ".join(map(str, held)) for held in (queue, candidates)))
    assert last("coding_13").endswith(told)


def test_build_orders():
    needs = {"app": ("log", "net"), "net": ("cfg",), "log": ("cfg",), "ui": ("app",), "doc": ("log",), "cfg": ()}
    orders = [
        order
        for order in permutations(sorted(needs))
        if all(order.index(need) < order.index(name) for name in needs for need in needs[name])
    ]
    assert ", ".join(orders[0]) in last("coding_14") and holds(last("coding_14"), len(orders))


def test_edits_with_swaps():
    def aligned(x: str, y: str) -> int:
        table = {(i, j): i + j for i in range(len(x) + 1) for j in range(len(y) + 1)}
        for i, j in product(range(1, len(x) + 1), range(1, len(y) + 1)):
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (x[i - 1] != y[j - 1]))
            if i > 1 and j > 1 and x[i - 2 : i] == y[j - 2 : j][::-1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
        return table[len(x), len(y)]

    def neighbours(word: str):
        for i in range(len(word) + 1):
            yield from (word[:i] + letter + word[i:] for letter in "abc")
        for i in range(len(word)):
            yield word[:i] + word[i + 1 :]
            yield from (word[:i] + letter + word[i + 1 :] for letter in "abc")
            yield word[:i] + word[i : i + 2][::-1] + word[i + 2 :]

    reached, steps = {"ca"}, 0
    while "abc" not in reached:
        reached, steps = {other for word in reached for other in neighbours(word)}, steps + 1
    assert aligned("ca", "abc") == 3 > steps == 2 and aligned("ca", "ac") == aligned("ac", "abc") == 1
    assert "gives 3" in last("coding_15") and "minimum is 2" in last("coding_15")


def test_jobs_left_behind(monkeypatch):
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds: sleep(seconds / 10))
    assert " and then ".join(printed(program("coding_17"))) in last("coding_17")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_silent_script():
    script = program("coding_19")
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "") and "exit status 1" in QUESTIONS["coding_19"]["points"][2]
    local = script.replace("hits=$(", "count() { local hits=$(") + "; }; count"
    done = subprocess.run(["bash", "-c", local], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "hits: 0\n") and "prints hits: 0" in last("coding_19")
    safe = script.replace("-c three)", "-c three || true)")
    done = subprocess.run(["bash", "-c", safe], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "hits: 0\n")


def test_the_two_patterns_accept_the_same_texts():
    slow, fast = (re.findall(r"\^\S*\$", text)[0] for text in (QUESTIONS["coding_20"]["text"], last("coding_20")))
    texts = ["".join(text) for n in range(7) for text in product("ab -\n", repeat=n)]
    accepted = [text for text in texts if re.search(slow, text)]
    assert accepted == [text for text in texts if re.search(fast, text)] and "" in accepted and len(accepted) > 1000
    assert re.search(fast, "x" * 5000 + "!") is None


def test_calls():
    calls, code = [], compile(program("coding_25"), "coding_25", "exec")
    for n in range(1, 1001):
        calls.clear()
        exec(code, {"n": n, "work": lambda: calls.append(None)})
        assert len(calls) == 2 * n - bin(n).count("1")
    assert holds(last("coding_25"), len(calls)) and bin(1000)[2:] in last("coding_25")


def test_moved_keys():
    moved = Counter(h % 4 != h % 5 for h in range(20))
    assert f"so {100 * moved[True] // 20} percent of the keys move" in last("coding_28")


@pytest.mark.skipif("Europe/Paris" not in zoneinfo.available_timezones(), reason="needs the table of time zones")
def test_clock_change():
    moment, difference, hours = printed(program("coding_29"))
    assert f"{moment}, then {difference}, and then {hours}." in last("coding_29")
