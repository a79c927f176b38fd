"""Keys are struck out of texts in every spelling, and ordinary text stays as it is."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from helpers import paths
from helpers.providers import keys
from helpers.providers.keys import addresses, key_variables
from helpers.providers.meanings import classify
from helpers.types import Completion, Model
from tests.leaks import PLANTED, holds, leaks, spelled

OPENAI = PLANTED["OPENAI_API_KEY"]


@pytest.fixture(autouse=True)
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in PLANTED.items():
        monkeypatch.setenv(name, value)


# --- what is struck out -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PLANTED)
@pytest.mark.parametrize("way", spelled("x"))
def test_a_key_is_struck_out_in_every_spelling(name: str, way: str) -> None:
    form = spelled(PLANTED[name])[way].decode()
    assert keys.redact(f'{{"error": "wrong key {form}."}}') == f'{{"error": "wrong key [{name}]."}}'
    assert keys.found(f"x{form}y") == [name], "no sign beside it hides it"


@pytest.mark.parametrize("name", PLANTED)
@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sixteen_characters_of_a_key_are_struck_out_in_every_spelling(name: str, data: st.DataObject) -> None:
    value = PLANTED[name]
    begin = data.draw(st.integers(0, len(value) - keys.RUN))
    part = value[begin : begin + data.draw(st.integers(keys.RUN, len(value) - begin))]
    form = data.draw(st.sampled_from(sorted({each.decode() for each in spelled(part).values()})))
    told = keys.redact(f"(see {form}!)")
    assert told == f"(see [{name}]!)" or (begin == 0 and told == "(see [key]!)")
    assert keys.redact(f"(see {part[: keys.RUN - 1]}!)") in (f"(see {part[: keys.RUN - 1]}!)", "(see [key]!)")


ODD = "q\"u\\o/te<&>'%40 ü_$1\n2\tx"


@pytest.mark.parametrize("way", [way for way in spelled("x") if way != "JSON, ASCII escapes"])
def test_a_key_of_odd_signs_is_struck_out_too(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setenv("ODD_SECRET", f"{ODD}\r\n")
    told = keys.redact(f"see {spelled(ODD)[way].decode()} here")
    assert told == "see [ODD_SECRET] here"


def test_a_key_is_struck_out_of_a_body_whose_slashes_are_escaped_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODD_SECRET", 'q7"Zr/x9Kp')
    body = json.dumps({"text": 'it is q7"Zr/x9Kp, he said'}).replace("/", "\\/")
    assert keys.redact(body) == '{"text": "it is [ODD_SECRET], he said"}'


@given(st.binary(max_size=20), st.binary(max_size=20), st.booleans())
def test_a_key_anywhere_in_base64_is_struck_out(before: bytes, after: bytes, url: bool) -> None:
    coded = (base64.urlsafe_b64encode if url else base64.b64encode)(before + OPENAI.encode() + after).decode()
    assert holds(coded.encode(), OPENAI), "as the stage is set"
    assert not holds(keys.redact(coded).encode(), OPENAI)
    assert keys.found(coded) == ["OPENAI_API_KEY"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"Incorrect API key provided: {OPENAI[:8]}{'*' * 28}{OPENAI[-4:]}.", "Incorrect API key provided: {}."),
        (f"your api key: ****{OPENAI[-4:]} is invalid", "your api key: {} is invalid"),
        (f"the key ending in ...{OPENAI[-4:]}", "the key ending in {}"),
        (f"key sk-…{OPENAI[-5:]}", "key {}"),
        (f"{OPENAI[:6]}***", "{}"),
        ("Authorization: Bearer abc123def456ghi789", "Authorization: Bearer [key]"),
        ("{'authorization': 'Basic dXNlcjpwYXNzd29yZDE='}", "{'authorization': 'Basic [key]'}"),
        ("x-goog-api-key: 0123456789abcdef", "x-goog-api-key: [key]"),
        ('"x-api-key": "0123456789abcdef"', '"x-api-key": "[key]"'),
    ],
)
def test_the_ends_of_a_key_that_a_service_shows_and_headers_that_carry_one_are_struck_out(said: str, told: str) -> None:
    assert keys.redact(said) == told.replace("{}", "[OPENAI_API_KEY]")


@pytest.mark.parametrize(
    "key",
    [
        "sk-0123456789abcdef0123456789abcdef",
        "sk-proj-T3BlbkFJ0123456789abcdef_-XYZ",
        "sk-ant-api03-0123456789abcdefghij-AA",
        "sk-or-v1-0123456789abcdef0123456789abcdef",
        "AIzaSyA1234567890abcdefghijklmnopqrstu",
        "hf_0123456789abcdefghijABCDEFGHIJ",
        "gsk_0123456789abcdefghijABCDEFGHIJ",
        "xai-0123456789abcdefghijABCDEFGHIJ",
        "r8_0123456789abcdefghijABCDEFGHIJ",
        "sk-pr***************wxyz",
        "gsk_ab****************wxyz",
    ],
)
def test_what_begins_as_keys_do_is_struck_out_wherever_it_comes_from(key: str) -> None:
    for around in ("{}", "key={}&x", '"{}"', "b'{}\\n'", json.dumps("first line\n{}\n"), "Bearer {}"):
        assert keys.redact(around.format(key)) == around.format("[key]")


def test_a_variable_of_any_name_is_one_once_a_model_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_ROUTER", "abcd1234efgh5678")
    assert keys.redact("abcd1234efgh5678") == "abcd1234efgh5678"
    monkeypatch.setattr(keys, "_declared", set())
    key_variables(Model("m", "openai", "m", "x", base_url="http://x", revision={}, api_key_env="MY_ROUTER"))
    assert keys.redact("abcd1234efgh5678") == "[MY_ROUTER]"


SECRET = ("DB_PASSWORD", "GH_TOKEN", "SECRET_KEY_BASE", "APIKEY", "openaiApiKey2", "SMTP_PASS")
PUBLIC = ("GIT_AUTHOR_NAME", "SSH_AUTH_SOCK", "KEYBOARD_LAYOUT", "MAX_TOKENS", "TOKEN_FILE", "PWD")


@pytest.mark.parametrize("name", [*SECRET, *PUBLIC])
def test_a_variable_is_secret_whose_name_says_so_not_sounds_so(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "v4lue-of no-known-kind")
    assert keys.redact("v4lue-of no-known-kind") == (f"[{name}]" if name in SECRET else "v4lue-of no-known-kind")


def test_the_password_in_an_address_is_secret_whatever_the_variable_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://me:p%40ssw0rd-1@proxy.example/v1")
    for said in ("p%40ssw0rd-1", "p@ssw0rd-1"):
        assert keys.redact(f"of {said} nobody knows") == "of [OPENAI_BASE_URL] nobody knows"


@pytest.mark.parametrize("who", ["me:p%40ssw0rd-1@", "me:pw@", "me@", ""])
def test_an_address_is_shown_without_the_name_and_password_in_it(monkeypatch: pytest.MonkeyPatch, who: str) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"https://{who}proxy.example/v1")
    (told,) = addresses([Model("m", "openai", "m", "x")]).values()
    assert told == "https://proxy.example/v1"


def test_each_line_of_a_key_of_many_lines_is_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [base64.b64encode(bytes(range(n, n + 48))).decode() for n in (0, 60, 120)]
    pem = "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"])
    monkeypatch.setenv("SIGNING_KEY", pem)
    monkeypatch.setenv("CLOUD_CREDENTIALS", json.dumps({"type": "service_account", "private_key": pem.swapcase()}))
    for line in lines:
        assert keys.redact(f"  {line}\n") == "  [SIGNING_KEY]\n"
        assert keys.redact(line.swapcase()) == "[CLOUD_CREDENTIALS]"
    assert keys.redact("-----BEGIN PRIVATE KEY-----") == "-----BEGIN PRIVATE KEY-----"


# --- what is not ------------------------------------------------------------------------------------------------------


@given(st.text() | st.from_regex(r"(?:sk-|hf_|r8_)[a-z-]{0,40}|[a-z*.]{0,30}|bearer [a-z ]{0,30}", fullmatch=True))
@example("a task-oriented, risk-adjusted answer, sk-learn-contrib, sk-... and export OPENAI_API_KEY=sk-...")
@example("hf_hub_download_of_everything, xai-org, Bearer certificates, bearer of bad news, *** and ... and …")
@settings(max_examples=300)
def test_text_without_a_key_is_unchanged(text: str) -> None:
    assert keys.redact(text) == text and keys.found(text) == []


@given(st.text(max_size=40), st.text(max_size=40))
@example("key: ", "!")
def test_what_stands_beside_a_key_is_unchanged(before: str, after: str) -> None:
    assert keys.redact(f"{before} {OPENAI} {after}") == f"{before} [OPENAI_API_KEY] {after}"


def test_no_text_of_this_project_is_changed() -> None:
    listed = subprocess.run(["git", "-C", str(paths.ROOT), "ls-files"], capture_output=True, text=True, check=True)
    texts = [paths.ROOT / name for name in listed.stdout.splitlines() if name.endswith((".md", ".jsonl", ".ipynb"))]
    assert len(texts) > 20
    for path in texts:
        text = path.read_text(encoding="utf-8")
        assert keys.redact(text) == text, path


def test_no_text_of_published_data_is_changed_by_the_keys_of_an_environment(real_data: Path) -> None:
    few = sorted(real_data.rglob("*.json*"), key=lambda path: path.stat().st_size)[:40]
    for path in (path for path in few if path.stat().st_size < 5_000_000):
        assert keys.found(path.read_text(encoding="utf-8", errors="replace"), like=False) == [], path


PLAIN = [
    *("anything", "not-needed", "changeme", "PASSWORD", "Jane Roe", "public key auth"),
    *("12345678", "2026-11-22", "short1"),
]


@pytest.mark.parametrize("value", [*PLAIN, str(paths.ROOT), "~"])
def test_words_numbers_paths_and_short_values_are_no_secrets(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", value)
    monkeypatch.setenv("SOME_TOKEN", value)
    text = f"This holds {value}, as many texts do."
    assert keys.redact(text) == text


# --- errors and parameters --------------------------------------------------------------------------------------------


def test_an_error_that_tells_a_key_or_comes_from_one_that_does_is_said_anew() -> None:
    plain, above = ValueError("nothing to hide"), TypeError("a harmless word")
    above.__cause__ = KeyError(OPENAI)
    told = {plain: "nothing to hide", above: "TypeError: a harmless word"}
    for error, words in {**told, TypeError(f"bad {OPENAI}"): "TypeError: bad [OPENAI_API_KEY]"}.items():
        with pytest.raises((ValueError, RuntimeError)) as raised:
            classify(error, wall=0.0)
        assert str(raised.value) == words and raised.value.__cause__ is None


@pytest.mark.parametrize(
    "given_",
    [
        {"questions": OPENAI},
        {"judges": ["gpt_fast", OPENAI]},
        {"judges": "sk-0123456789abcdef0123456789abcdef"},
        {OPENAI: 1},
        {"openai_api_key": "x"},
    ],
)
def test_a_parameter_that_holds_a_key_is_refused_with_advice(given_: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="keys are read from environment variables only") as error:
        keys.refuse({"seed": 42, **given_})
    assert not leaks(str(error.value)) and "0123456789abcdef" not in str(error.value)
    keys.refuse({"judges": ["gpt_fast"], "budget_usd": 5.0, "questions": "hub"})


# --- replies ----------------------------------------------------------------------------------------------------------

#: What replies are put together of: keys whole and in parts, what stands around them, what JSON escapes, much text.
PARTS = [
    *(OPENAI, OPENAI[:9], OPENAI[9:], OPENAI[-4:], OPENAI.replace("-", "\\u002d")),
    *(json.dumps(json.dumps(OPENAI))[1:-1], base64.b64encode(OPENAI.encode()).decode()),
    *("sk-", "hf_", "AIza", "abcdefgh1jklmnopqrst", "***", "...", "•••", "Bearer ", "x-api-key: ", "AUTHORIZATION"),
    *('"', "\\", "\n", "/", "é", "\ud83d\ude00", "task-specific ", "word " * 60),
]
ODD_KEY = 'a"b]c{d}e'


@settings(deadline=None, max_examples=300)
@given(
    parts=st.lists(st.sampled_from(PARTS), max_size=8),
    deep=st.integers(0, 3),
    ascii=st.booleans(),
    sign=st.sampled_from(["", "/", "k"]),
    whole=st.booleans(),
)
@example(parts=["word " * 60, OPENAI], deep=3, ascii=False, sign="k", whole=False)
@example(parts=["AIza", "***", "sk-proj-Q", "***"], deep=0, ascii=False, sign="", whole=True)
def test_a_reply_is_clean_as_text_and_as_body(parts: list[str], deep: int, ascii: bool, sign: str, whole: bool) -> None:
    """`ODD_KEY` is another key, in JSON `deep` times over; a sign may be escaped in the body; the text may be lost."""
    odd, text = ODD_KEY, "".join(parts)
    for _ in range(deep):
        odd = json.dumps(odd)[1:-1]
    text += f" {odd}"
    raw = json.dumps({"choices": [{"text": text}]}, ensure_ascii=ascii)
    raw = raw.replace(sign, {"/": "\\/", "k": "\\u006b"}[sign]) if sign else raw
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**PLANTED, "ODD_SECRET": ODD_KEY}.items():
            patch.setenv(name, value)
        reply = keys.redact_all(Completion("key", "ok", text=text if whole else "", raw=raw))
        again = json.loads(reply.raw)["choices"][0]["text"]
        assert not any(leaks(each.encode("utf-8", "surrogatepass")) for each in (reply.raw, again, reply.text))
        assert keys.redact(reply.text) == reply.text and odd not in reply.text + again
        assert keys.found(reply.raw, like=False) == [], "and check finds nothing either"


@settings(deadline=None, max_examples=300)
@given(st.lists(st.lists(st.sampled_from([*PARTS, "%", "&", "\\u00"]), max_size=4).map("".join), max_size=4))
def test_texts_searched_together_lose_what_each_loses_alone(texts: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in PLANTED.items():
            patch.setenv(name, value)
        assert keys.redact_all(texts) == [keys.redact(text) for text in texts]


def test_a_reply_without_keys_is_the_very_same_object() -> None:
    text = json.dumps({"id": "5eed", "ranking": ["A", "B"], "justification": "word " * 60})
    reply = Completion("key", "ok", text=text, raw=json.dumps({"text": text}))
    assert keys.redact_all(reply) is reply
