"""Which files a source means, on this machine or on the hub: there fetched once, recorded with commit and hash."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from multiprocessing import TimeoutError as PoolTimeout
from multiprocessing.pool import ThreadPool
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from ..paths import DOWNLOADS, load_table

NAMES = load_table("datasets/names.toml")
QUESTION_FILES, ANSWER_FILES = tuple(NAMES["files"]["questions"]), tuple(NAMES["files"]["answers"])
JUDGMENT_FILES: dict[str, str] = NAMES["files"]["judgments"]
ERROR_FILES: dict[str, str] = NAMES["files"]["errors"]
HINTS, FILE_ENDS = tuple(NAMES["hints"]["names"]), tuple(NAMES["files"]["ends"])
#: Seconds that the hub has to give a first sign of life; its own client would try for 23.
PROBE_SECONDS = 5.0

_T = TypeVar("_T")
#: Where data lie: a path, or "hub" for what the experiment's `hub` names, as {repo, revision, questions: path}.
Source = str | Path
Entry = Mapping[str, Any] | None


def find_files(
    source: Source, hub: Entry, what: str, names: tuple[str, ...], others: str = "", several: bool = False
) -> list[Path]:
    """The files that `source` means: itself, `names` (else the pattern `others`) in a folder, or the hub's `what`.

    Of names that begin with a dot: all files below the folder that end so. More than one is a ValueError unless
    `several` of `names` may be meant.
    """
    path, ends = Path(source).expanduser(), tuple(name for name in names if name.startswith("."))
    wanted = f"files that end with {', '.join(ends)}" if ends else " or ".join(names)
    if source == "hub":
        found = fetch_files(hub, what, names)
    elif path.is_dir():
        found = below(path, ends) if ends else [path / name for name in names if (path / name).is_file()]
        found = found or (sorted(path.glob(others)) if others else [])
    elif not path.is_file():
        raise FileNotFoundError(f"{path}: no such file or folder; a folder would have to hold {wanted}")
    elif ends and path.suffix not in ends:
        raise ValueError(f"{path}: ends with {path.suffix or 'nothing'}; it must be one of {', '.join(ends)}")
    else:
        return [path]
    if not found:
        there = ", ".join(sorted(entry.name for entry in path.iterdir())) or "nothing"
        raise FileNotFoundError(f"{path}: expected {wanted} in this folder, found {there}")
    rivals = [each.name for each in found if not others or each.name in names]
    if len(rivals) > 1 and not several:
        raise ValueError(f"{source}: holds {' and '.join(rivals)}; name the one file that is meant")
    return found


def below(folder: Path, ends: tuple[str, ...]) -> list[Path]:
    """The files anywhere in a folder that end so, in order; hidden ones are copies that editors keep."""
    found = (each for each in sorted(folder.rglob("*")) if each.suffix in ends and each.is_file())
    return [each for each in found if not any(part.startswith(".") for part in each.relative_to(folder).parts)]


def fetch(repo: str, filename: str, revision: str = "main") -> Path:
    """The local copy under DOWNLOADS of one file of a dataset repository, the same content as at the first load.

    The first load writes commit and sha256 to `source.json`; another commit or content later is a ValueError. A hub not
    reached within PROBE_SECONDS is a ConnectionError, a repository that may not be read a PermissionError, a revision
    or file that is not there a FileNotFoundError. What is pinned by a full commit hash and was loaded needs no network.
    """
    from huggingface_hub import hf_hub_download, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.file_download import get_hf_file_metadata
    from huggingface_hub.utils import silent_tqdm

    where = {"repo": repo, "file": filename, "revision": revision}
    pinned = re.fullmatch("[0-9a-f]{40}", revision)
    if not (pinned and try_to_load_from_cache(repo, filename, DOWNLOADS, revision, "dataset")):
        url = hf_hub_url(repo, filename, repo_type="dataset", revision=revision)
        _ask(lambda: get_hf_file_metadata(url, timeout=PROBE_SECONDS), where, PROBE_SECONDS)
    where_to = {"repo_type": "dataset", "revision": revision, "cache_dir": DOWNLOADS, "tqdm_class": silent_tqdm}
    path = Path(_ask(partial(hf_hub_download, repo, filename, **where_to), where))
    _unchanged(path, where)
    return path


def fetch_files(entry: Entry, what: str, wanted: tuple[str, ...]) -> list[Path]:
    """The files that the hub entry of an experiment names as `what`, by one path or a list of them, fetched.

    A path that ends like no file (FILE_ENDS) is a folder of the repository ("." its top): of it come the files called
    as one of `wanted`, or, where these begin with a dot, those that end so. In place of a path a mapping {repo,
    revision, path} names another repository. An entry without `what` is a ValueError.
    """
    entry = entry or {}
    ends = tuple(each for each in wanted if each.startswith("."))
    found: list[Path] = []
    for each in entry.get(what) or [None] if isinstance(entry.get(what), list) else [entry.get(what)]:
        named = each if isinstance(each, Mapping) else {**entry, "path": each}
        if not named.get("repo") or not isinstance(named["path"], str):
            there = [name for name in ("questions", "answers", "judgments") if entry.get(name)]
            owner = f"the data set {entry['repo']} on the hub has" if entry.get("repo") else "the hub has"
            only = f", only {', '.join(there)}" if there else ""
            instead = f"to a file or folder (or `hub: {what}` in its config.yaml to a path there)"
            raise ValueError(f"{owner} no {what} for this experiment{only}: set the parameter `{what}` {instead}")
        repo, revision, path = named["repo"], named.get("revision") or "main", named["path"].strip("/")
        names = [path]
        if not path.endswith(ends or FILE_ENDS):
            where = {"repo": repo, "file": path, "revision": revision}
            there = _ask(partial(_files, repo, revision), where, PROBE_SECONDS)
            start = "" if path == "." else f"{path}/"
            names = [f"{start}{each}" for each in wanted if f"{start}{each}" in there]
            lacks = f"none of {', '.join(wanted)}"
            if ends:
                names = sorted(name for name in there if name.startswith(start) and name.endswith(ends))
                lacks = f"no file that ends with {', '.join(ends)}"
            if not names:
                has = ", ".join(there) or "no file"
                raise FileNotFoundError(f"{repo} at {revision} has {lacks} in {path}/; it has {has}")
        fetched = [fetch(repo, name, revision) for name in names]
        if not ends and len({file.parent for file in fetched}) > 1:
            raise ValueError(f"{repo} got a new commit while it was loaded; load it again")
        found += fetched
    return found


def _files(repo: str, revision: str) -> list[str]:
    from huggingface_hub import list_repo_files

    return list_repo_files(repo, revision=revision, repo_type="dataset")


def recorded() -> list[dict[str, str]]:
    """What `source.json` says of each file loaded so far: repo, file, revision, commit, sha256; empty before that."""
    path = DOWNLOADS / "source.json"
    if not path.exists():
        return []
    try:
        return [dict(entry) for entry in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: not readable ({error}); delete it, and the next load writes it anew") from None


def _unchanged(path: Path, where: dict[str, str]) -> None:
    """Compare a fetched file with its record, or write the record if it is the first."""
    from filelock import FileLock

    # The cache keeps each commit in a folder named after it; that name belongs to these very bytes.
    commit = path.parents[len(PurePosixPath(where["file"]).parts) - 1].name
    now = where | {"commit": commit, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    with FileLock(DOWNLOADS / "source.json.lock"):
        record = recorded()
        then = next((entry for entry in record if where.items() <= entry.items()), None)
        if then is None:
            replace_file(DOWNLOADS / "source.json", [json.dumps([*record, now], indent=1)])
    if then in (None, now):
        return
    both = "; ".join(f"{name} {then[name]} then, {now[name]} now" for name in ("commit", "sha256"))
    todo = (
        f"set `revision: {then['commit']}` in the experiment's config to stay with the first data, or delete the "
        f"entry from {DOWNLOADS / 'source.json'} to go on with the new"
    )
    if then["commit"] == now["commit"]:
        todo = f"the local copy was altered: delete {path.resolve()} and load it again"
    raise ValueError(f"{where['repo']}, {where['file']} at {where['revision']} is not what it was: {both}; {todo}")


def replace_file(path: Path, lines: Iterable[str]) -> None:
    """The lines as the whole of a file, in place at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with new.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _ask(call: Callable[[], _T], where: dict[str, str], seconds: float | None = None) -> _T:
    """The result of a call to the hub, its failures in our words; at most `seconds`, name resolution included."""
    import httpx2
    from huggingface_hub import constants, errors

    offline = (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, errors.FileMetadataError)
    try:
        return call() if seconds is None else _within(seconds, call)
    except errors.HfHubHTTPError as error:
        raise _refused(error, where) from error
    except (TimeoutError, httpx2.RequestError, *offline) as error:
        instead = "set the parameter `questions`, `answers` or `judgments` to a file or folder on this machine"
        for entry in recorded():
            if where.items() <= entry.items():
                name = "datasets--" + where["repo"].replace("/", "--")
                instead += f" (an earlier load: {DOWNLOADS / name / 'snapshots' / entry['commit'] / where['file']})"
        unreached = f"{constants.ENDPOINT} cannot be reached for {where['repo']}, {where['file']}"
        raise ConnectionError(f"{unreached}: {error}; {instead}") from error


def _within(seconds: float, call: Callable[[], _T]) -> _T:
    # A thread that nothing waits for, because no timeout of a client covers the look-up of the host's name.
    with ThreadPool(1) as pool:
        try:
            return pool.apply_async(call).get(seconds)
        except PoolTimeout:
            raise TimeoutError(f"no answer within {seconds:g} s") from None


def _refused(error: Any, where: dict[str, str]) -> OSError:
    from huggingface_hub import constants, errors

    repo, file, revision = where["repo"], where["file"], where["revision"]
    status = error.response.status_code
    if isinstance(error, errors.GatedRepoError):
        todo = f"ask for access on its page at {constants.ENDPOINT}, then log in (hf auth login)"
        return PermissionError(f"{repo} is gated: {todo}")
    if isinstance(error, errors.RepositoryNotFoundError) or status in (401, 403):
        why = "there is no such dataset repository, or it is private and needs a login that may read it (hf auth login)"
        return PermissionError(f"{repo} may not be read (status {status}): {why}")
    if isinstance(error, errors.RevisionNotFoundError):
        return FileNotFoundError(f"{repo} has no revision {revision!r}; give a branch, a tag or a full commit hash")
    if isinstance(error, errors.EntryNotFoundError):
        there = _within(PROBE_SECONDS, lambda: _files(repo, revision))
        return FileNotFoundError(f"{repo} at {revision} has no file {file}; it has {', '.join(there) or 'no file'}")
    return ConnectionError(f"{constants.ENDPOINT} answered {status} for {repo}, {file} at {revision}: {error}")
