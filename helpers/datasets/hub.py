"""Files of dataset repositories on the hub: fetched once, recorded with commit and hash, never changed unnoticed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from helpers.datasets.files import FILE_ENDS, KNOWN_FILES
from helpers.json_text import document
from helpers.paths import DOWNLOADS

#: Seconds that the hub has to give a first sign of life; its own client would try for 23.
PROBE_SECONDS = 5.0

_T = TypeVar("_T")


def fetch(repo: str, filename: str, revision: str = "main", *, folder: Path | None = None) -> Path:
    """The local copy of one file of a dataset repository, the same content as at the first load.

    Files land under `folder` (data/downloads). The first load of a (repo, file, revision) writes commit and sha256 to
    `source.json` there; a later one with another commit or content is a ValueError that names both and what to do. A
    hub that cannot be reached within PROBE_SECONDS is a ConnectionError, a repository that may not be read a
    PermissionError, a repository, revision or file that does not exist a FileNotFoundError listing what does. A file
    pinned by a full commit hash and loaded before needs no network.
    """
    from huggingface_hub import hf_hub_download, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.file_download import get_hf_file_metadata
    from huggingface_hub.utils import silent_tqdm

    folder = Path(folder or DOWNLOADS)
    where = {"repo": repo, "file": filename, "revision": revision}
    pinned = re.fullmatch("[0-9a-f]{40}", revision)
    if not (pinned and try_to_load_from_cache(repo, filename, folder, revision, "dataset")):
        url = hf_hub_url(repo, filename, repo_type="dataset", revision=revision)
        _asked(lambda: get_hf_file_metadata(url, timeout=PROBE_SECONDS), where, folder, PROBE_SECONDS)
    path = _asked(
        lambda: hf_hub_download(
            repo, filename, repo_type="dataset", revision=revision, cache_dir=folder, tqdm_class=silent_tqdm
        ),
        where,
        folder,
    )
    _unchanged(Path(path), where, folder)
    return Path(path)


def from_hub(entry: Mapping[str, Any] | None, what: str, folder: Path | None = None) -> Path:
    """What the hub entry of an experiment names as `what`: a fetched file, or a folder with the known files fetched.

    `entry` is the `hub` of a config: {repo, revision (default main), questions | answers | judgments: path}. A path
    that ends like no file (FILE_ENDS) is a folder of the repository, of which KNOWN_FILES[what] are fetched. An entry
    without `what` is a ValueError.
    """
    from huggingface_hub import list_repo_files

    if not entry or not entry.get("repo") or not entry.get(what):
        raise ValueError(
            f"no {what} on the hub for this experiment: its config needs hub: repo and {what}, found {entry}"
        )
    repo, revision, path = entry["repo"], entry.get("revision") or "main", entry[what].strip("/")
    if path.endswith(FILE_ENDS):
        return fetch(repo, path, revision, folder=folder)
    where = {"repo": repo, "file": path, "revision": revision}
    there = _asked(
        lambda: list_repo_files(repo, revision=revision, repo_type="dataset"),
        where,
        Path(folder or DOWNLOADS),
        PROBE_SECONDS,
    )
    wanted = [file for file in there if file in [f"{path}/{name}" for name in KNOWN_FILES[what]]]
    if not wanted:
        raise FileNotFoundError(
            f"{repo} at {revision} has none of {', '.join(KNOWN_FILES[what])} in {path}/; "
            f"it has {', '.join(there) or 'no file'}"
        )
    folders = {fetch(repo, file, revision, folder=folder).parent for file in wanted}
    if len(folders) > 1:
        raise ValueError(f"{repo} at {revision} got a new commit while it was loaded; load it again")
    return folders.pop()


def fetch_below(entry: Mapping[str, Any] | None, what: str, ends: tuple[str, ...]) -> list[Path]:
    """The files that the hub entry of an experiment names as `what`: one that ends like these, or all in a folder.

    "." is the top of the repository. An entry without `what` is a ValueError that says what to give instead, a folder
    without such a file a FileNotFoundError that lists what there is.
    """
    from huggingface_hub import list_repo_files

    if not entry or not entry.get("repo") or not isinstance(entry.get(what), str):
        held = [name for name in ("questions", "answers", "judgments") if (entry or {}).get(name)]
        repo = f"the data set {entry['repo']} on the hub has" if entry and entry.get("repo") else "the hub has"
        missing = "judgments (no decisions of models)" if what == "judgments" else what
        only = f", only {', '.join(held)}" if held else ""
        raise ValueError(
            f"{repo} no {missing} for this experiment{only}: "
            f"set the parameter `{what}` to a file or folder (or `hub: {what}` in its config.yaml to a path there)"
        )
    repo, revision, path = entry["repo"], entry.get("revision") or "main", entry[what].strip("/")
    if path.endswith(ends):
        return [fetch(repo, path, revision)]
    where = {"repo": repo, "file": path, "revision": revision}
    there = _asked(
        lambda: list_repo_files(repo, revision=revision, repo_type="dataset"), where, Path(DOWNLOADS), PROBE_SECONDS
    )
    wanted = sorted(file for file in there if file.endswith(ends) and (path == "." or file.startswith(f"{path}/")))
    if not wanted:
        raise FileNotFoundError(
            f"{repo} at {revision} has no file in {path} that ends with {', '.join(ends)}; "
            f"it has {', '.join(there) or 'no file'}"
        )
    return [fetch(repo, file, revision) for file in wanted]


def recorded(folder: Path | None = None) -> list[dict[str, str]]:
    """What `source.json` says of each file loaded so far: repo, file, revision, commit, sha256; empty before that."""
    path = Path(folder or DOWNLOADS) / "source.json"
    if not path.exists():
        return []
    try:
        return [dict(entry) for entry in document(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{path}: not readable ({error}); put it right or delete it, and the next load writes it anew"
        ) from None


def _unchanged(path: Path, where: dict[str, str], folder: Path) -> None:
    """Compare a fetched file with its record, or write the record if it is the first."""
    from filelock import FileLock

    # The cache keeps each commit in a folder named after it; that name belongs to these very bytes.
    commit = path.parents[len(PurePosixPath(where["file"]).parts) - 1].name
    now = where | {"commit": commit, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
    with FileLock(folder / "source.json.lock"):
        entries = recorded(folder)
        then = next((entry for entry in entries if where.items() <= entry.items()), None)
        if then is None:
            text = json.dumps([*entries, now], indent=1)
            (folder / "source.json.new").write_text(text + "\n", encoding="utf-8")
            os.replace(folder / "source.json.new", folder / "source.json")
            return
    if then == now:
        return
    both = "; ".join(f"{name} {then[name]} then, {now[name]} now" for name in ("commit", "sha256"))
    if then["commit"] == now["commit"]:
        todo = f"the local copy was altered: delete {path.resolve()} and load it again"
    else:
        todo = (
            f"set `revision: {then['commit']}` in the experiment's config to stay with the first data, or delete the "
            f"entry from {folder / 'source.json'} to go on with the new"
        )
    raise ValueError(f"{where['repo']}, {where['file']} at {where['revision']} is not what it was: {both}; {todo}")


def _asked(call: Callable[[], _T], where: dict[str, str], folder: Path, seconds: float | None = None) -> _T:
    """The result of a call to the hub, its failures said in our words; at most `seconds`, name resolution included."""
    import httpx2
    from huggingface_hub import errors

    try:
        return call() if seconds is None else _within(seconds, call)
    except errors.HfHubHTTPError as error:
        raise _refused(error, where) from error
    except (
        TimeoutError,
        httpx2.RequestError,
        errors.OfflineModeIsEnabled,
        errors.LocalEntryNotFoundError,
        errors.FileMetadataError,
    ) as error:
        raise _unreachable(error, where, folder) from error


def _within(seconds: float, call: Callable[[], _T]) -> _T:
    # A thread, because no timeout of a client covers the look-up of the host's name.
    results: list[_T] = []
    failures: list[Exception] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failures:
        raise failures[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:g} s")
    return results[0]


def _unreachable(error: Exception, where: dict[str, str], folder: Path) -> ConnectionError:
    from huggingface_hub import constants

    instead = "set the parameter `questions`, `answers` or `judgments` to a file or folder on this machine"
    for entry in recorded(folder):
        if where.items() <= entry.items():
            name = "datasets--" + where["repo"].replace("/", "--")
            instead += f" (an earlier load: {folder / name / 'snapshots' / entry['commit'] / where['file']})"
    return ConnectionError(
        f"{constants.ENDPOINT} cannot be reached for {where['repo']}, {where['file']}: {error}; {instead}"
    )


def _refused(error: Any, where: dict[str, str]) -> OSError:
    """The hub's refusal in our words, by what it says is wrong."""
    from huggingface_hub import constants, errors, list_repo_files

    repo, file, revision = where["repo"], where["file"], where["revision"]
    status = error.response.status_code
    if isinstance(error, errors.GatedRepoError):
        return PermissionError(
            f"{repo} is gated: ask for access on its page at {constants.ENDPOINT}, then log in (hf auth login)"
        )
    if isinstance(error, errors.RepositoryNotFoundError) or status in (401, 403):
        return PermissionError(
            f"{repo} may not be read (status {status}): there is no such dataset repository, or it is private and "
            "needs a login that may read it (hf auth login)"
        )
    if isinstance(error, errors.RevisionNotFoundError):
        return FileNotFoundError(f"{repo} has no revision {revision!r}; give a branch, a tag or a full commit hash")
    if isinstance(error, errors.EntryNotFoundError):
        there = _within(PROBE_SECONDS, lambda: list_repo_files(repo, revision=revision, repo_type="dataset"))
        return FileNotFoundError(f"{repo} at {revision} has no file {file}; it has {', '.join(there) or 'no file'}")
    return ConnectionError(f"{constants.ENDPOINT} answered {status} for {repo}, {file} at {revision}: {error}")
