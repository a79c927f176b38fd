"""A small hub of dataset repositories on 127.0.0.1, answering what the hub's own client asks."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import unquote

from aiohttp import web


@dataclass
class Repo:
    """A dataset repository: files of each commit, and the commit that each branch or tag names.

    `access` is "open", "gated" (403 as for a login without consent) or "private" (401 as for no login).
    """

    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    access: str = "open"

    def commit(self, files: dict[str, bytes], ref: str = "main") -> str:
        """Add a commit with these files in place of the ref's former ones; its id depends on the number and content."""
        content = repr((len(self.commits), sorted(files.items()))).encode()
        name = hashlib.sha1(content).hexdigest()
        self.commits[name] = dict(files)
        self.refs[ref] = name
        return name


@dataclass
class Hub:
    """A running server: its address, its repositories (change them at will) and the requests it got.

    `behaviour` is "normal", "silent" (accepts and never answers), "down" (503) or "stranger" (a web page for
    everything, as the sign-in page of a network gives). Files whose name is in `large` are served by a redirect, as the
    hub does for big ones.
    """

    repos: dict[str, Repo] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)
    behaviour: str = "normal"
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""

    def asked(self, method: str, part: str) -> int:
        """How many requests of this method had `part` in their path."""
        return sum(one == method and part in path for one, path in self.requests)


@contextmanager
def running_hub(hub: Hub) -> Iterator[Hub]:
    """`hub` served on a free port by a thread of its own, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    runner = asyncio.run_coroutine_threadsafe(_start(hub), loop).result(timeout=10)
    try:
        yield hub
    finally:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(timeout=10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)
        loop.close()


async def _start(hub: Hub) -> web.AppRunner:
    async def answer(request: web.Request) -> web.Response:
        hub.requests.append((request.method, unquote(request.raw_path)))
        if hub.behaviour == "silent":
            await asyncio.Event().wait()
        if hub.behaviour == "down":
            return web.Response(status=503)
        if hub.behaviour == "stranger":
            return web.Response(text="<html>Sign in to use this network</html>", content_type="text/html")
        return _answer(hub, request)

    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", answer)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    hub.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    return runner


def _answer(hub: Hub, request: web.Request) -> web.Response:
    # A revision such as refs/pr/1 stays one part of the path because it comes quoted.
    parts = [unquote(part) for part in request.raw_path.partition("?")[0].strip("/").split("/")]
    if parts[0] == "storage":
        return _content(next(data for data in _every_file(hub) if hashlib.sha256(data).hexdigest() == parts[1]))
    api = parts[0] == "api"
    owner, name, verb, revision, *rest = [*parts[2 if api else 1 :], "", "", ""]
    path = "/".join(part for part in rest if part)
    repo = hub.repos.get(f"{owner}/{name}")
    if repo is None or repo.access == "private":
        return _error(401 if repo else 404, "RepoNotFound")
    if repo.access == "gated" and not api:
        return _error(403, "GatedRepo")
    commit = repo.refs.get(revision, revision)
    if commit not in repo.commits:
        return _error(404, "RevisionNotFound")
    files = repo.commits[commit]
    if api and verb == "revision":
        siblings = [{"rfilename": file} for file in files]
        return web.json_response({"id": f"{owner}/{name}", "sha": commit, "siblings": siblings, "tags": []})
    if api and verb == "tree":
        return web.json_response([_entry(file, data) for file, data in files.items()])
    if path not in files:
        return _error(404, "EntryNotFound", {"X-Repo-Commit": commit})
    return _file(hub, path, files[path], commit)


def _file(hub: Hub, path: str, data: bytes, commit: str) -> web.Response:
    if path not in hub.large:
        return _content(data, {"X-Repo-Commit": commit, "ETag": f'"{_oid(data)}"'})
    digest = hashlib.sha256(data).hexdigest()
    headers = {
        "X-Repo-Commit": commit,
        "X-Linked-Size": str(len(data)),
        "X-Linked-Etag": f'"{digest}"',
        # Another name of this machine: like the hub's storage, it is not the host that was asked.
        "Location": f"{hub.url.replace('127.0.0.1', 'localhost')}/storage/{digest}",
    }
    return web.Response(status=302, headers=headers)


def _content(data: bytes, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(body=data, headers=headers, content_type="application/octet-stream")


def _every_file(hub: Hub) -> Iterator[bytes]:
    for repo in hub.repos.values():
        for files in repo.commits.values():
            yield from files.values()


def _entry(file: str, data: bytes) -> dict[str, object]:
    return {"type": "file", "path": file, "size": len(data), "oid": _oid(data)}


def _oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _error(status: int, code: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, headers={"X-Error-Code": code, "X-Error-Message": code, **(headers or {})})
