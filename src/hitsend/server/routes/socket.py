"""The WebSocket: a ticket for it, and the line itself."""

from starlette.responses import Response
from starlette.websockets import WebSocket

from hitsend.errors import Refused
from hitsend.server.calls import Access, Call, House, answer, endpoint, socket_endpoint
from hitsend.server.people import Person, check_origin
from hitsend.server.socket.rules import Hangup
from hitsend.server.socket.socket import Socket, hang_up
from hitsend.wire.socket import PROTOCOL

CONNECT = "/backend-api/celsius/ws/connect"


@endpoint("GET", "/backend-api/celsius/ws/user", Access.PERSON)
async def ticket(call: Call) -> Response:
    """The address of a WebSocket, with a ticket that holds once and for a minute."""
    issued = call.house.sockets.tickets.issue(call.person)
    url = call.request.url
    scheme = "wss" if url.scheme == "https" else "ws"
    address = f"{scheme}://{url.netloc}{CONNECT}?ticket={issued.token}"
    told = {"websocket_url": address, "expires_at": issued.expires_at}
    return answer(told, headers={"cache-control": "no-store"})


@socket_endpoint(CONNECT, Access.TICKET)
async def connect(line: WebSocket, house: House) -> None:
    """Follow any number of turns over one WebSocket, and hear of all others."""
    check_origin(line)
    if PROTOCOL not in line.scope["subprotocols"]:
        raise Refused(f"This socket speaks {PROTOCOL}: ask for it as the subprotocol.")
    house.sockets.check_room()
    person = await _redeemed(line.query_params.get("ticket", ""), house)
    await line.accept(PROTOCOL)
    if person is None or not await _held(Socket(line, house, person), house, person):
        # After the handshake: before it, a browser learns nothing but that there was a failure.
        await hang_up(line, Hangup(Hangup.BAD_TICKET, "Ask for a new ticket."))


async def _redeemed(ticket: str, house: House) -> Person | None:
    """Who it is, if the session or key they asked for it with still holds."""
    if (person := house.sockets.tickets.redeem(ticket)) is None:
        return None
    accounts, credential = house.services.store.accounts, {person.credential_id}
    is_session = person.session is not None
    live = await (accounts.live_sessions if is_session else accounts.live_keys)(credential)
    return person if live else None


async def _held(socket: Socket, house: House, person: Person) -> bool:
    """Whether it came to its own end, and not to that of the session or key it was opened with."""
    return await house.streams.until_revoked(person.credential_id, socket.run())
