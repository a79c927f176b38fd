"""Replies on their way out: whole, late, or broken in one of the ways in which lines break."""

from __future__ import annotations

import asyncio
import socket
import struct

from aiohttp import web

from tests.servers.behaviours import Fault


async def send(
    request: web.BaseRequest, fault: Fault | None, text: bytes, headers: dict[str, str]
) -> web.StreamResponse:
    """Send a whole reply, or as much of it as the fault leaves."""
    kind = fault.kind if fault else None
    if kind == "slow":
        await asyncio.sleep(fault.seconds)
    if kind == "broken_json":
        text = text[: len(text) // 2]
    if kind not in ("dropped", "reset_early", "reset", "truncated"):
        return web.Response(body=text, headers=headers)
    response = web.StreamResponse(headers={**headers, "Content-Length": str(len(text))})
    line = request.transport
    if kind in ("reset", "truncated"):
        await response.prepare(request)
        await response.write(text[: len(text) // 2])
    if kind in ("reset", "reset_early"):
        linger_not_at_all = struct.pack("ii", 1, 0)
        line.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger_not_at_all)
        line.abort()
    line.close()
    return response
