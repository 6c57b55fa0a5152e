"""Answers that come over HTTP on the loopback: POST /judge, GET /health.

Any web page that your browser shows may send requests to the loopback. So each has to bring the token, names no other
host, and comes from no page. Knows HTTP and JSON; never processes. Long, since a request may end in a dozen ways.
"""

import json
import secrets
import select
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kfuzz.campaign.answers import Judgement
from kfuzz.common.errors import DeviceError
from kfuzz.ui.reports.judgements import line_of_error, line_of_judgement
from kfuzz.ui.serving.bench import JudgingError
from kfuzz.ui.serving.pool import JudgingPool, QueueFullError
from kfuzz.ui.serving.requests import JudgingRequest, RequestError, read_request

HOST = "127.0.0.1"
MOST_BYTES = 64 << 20
"""Of a request: four of the largest answers, or thousands of the usual ones."""
MOST_ANSWERS = 10_000
MOST_CONNECTIONS = 64
AT_ONCE = 16
"""Answers of one client in the queue, or two for each process, so that others come in between."""
PATIENCE = 60.0
"""Seconds in which a client must go on to send or to read."""
BETWEEN_LOOKS = 0.25
"""Seconds between two looks whether a client is still there."""
DRAINED = 1 << 16
"""Bytes of a refused request that are read: a client that still sends may miss the reason."""
JSON_TYPE, LINES_TYPE = "application/json", "application/x-ndjson"


class RefusedRequestError(Exception):
    """A request is not taken, for this reason."""

    def __init__(self, status: HTTPStatus, words: str) -> None:
        super().__init__(words)
        self.status = status


class ClientGoneError(Exception):
    """The client has closed its connection."""


class VerdictServer(ThreadingHTTPServer):
    """Listens on the loopback; each connection has a thread, and there are only so many. Port 0 is any free one."""

    daemon_threads = True

    def __init__(self, port: int, pool: JudgingPool, patience: float = PATIENCE) -> None:
        self.pool, self.token, self.patience = pool, secrets.token_urlsafe(24), patience
        self._room, self._room_to_refuse = (threading.Semaphore(MOST_CONNECTIONS) for _ in range(2))
        super().__init__((HOST, port), VerdictHandler)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.server_port}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """What the header Host may say."""
        return f"{HOST}:{self.server_port}", f"localhost:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as the library has it
        """Give a connection a thread; if there are too many, refuse it in a line, or close it."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        elif self._room_to_refuse.acquire(blocking=False):
            threading.Thread(target=self._refuse, args=(request, client_address), daemon=True).start()
        else:
            self.shutdown_request(request)

    def _refuse(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as the library has it
        try:
            with suppress(OSError):
                RefusingHandler(request, client_address, self)
            self.shutdown_request(request)
        finally:
            self._room_to_refuse.release()

    def process_request_thread(self, request: Any, client_address: Any) -> None:  # noqa: ANN401  as the library has it
        """Serve a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def service_actions(self) -> None:
        """End the server if it can judge no more."""
        if self.pool.why_ended:
            raise DeviceError(self.pool.why_ended)

    def handle_error(self, request: object, client_address: object) -> None:
        """Print nothing: the connection is closed, and others go on."""

    def finish(self, seconds: float) -> None:
        """Let connections write what they have to, for so long."""
        for _ in range(MOST_CONNECTIONS):
            if not self._room.acquire(timeout=seconds):
                return


class VerdictHandler(BaseHTTPRequestHandler):
    """One request of one connection."""

    server: VerdictServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "kfuzz", ""

    def setup(self) -> None:
        """Wait for a client for so long."""
        super().setup()
        self.connection.settimeout(self._patience())

    def _patience(self) -> float:
        return self.server.patience

    def do_GET(self) -> None:
        """GET /health."""
        self._serve("/health", self._show_health)

    def do_POST(self) -> None:
        """POST /judge."""
        self._serve("/judge", self._judge)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _serve(self, path: str, serve: Callable[[], None]) -> None:
        self.close_connection = True
        try:
            self._check(path)
            serve()
        except RefusedRequestError as error:
            self._drain()
            self._send(error.status, line_of_error(str(error)))
        except RequestError as error:
            self._send(HTTPStatus.BAD_REQUEST, line_of_error(str(error)))
        except JudgingError as error:
            self._send(_status_of(error), line_of_error(str(error)))

    def _check(self, path: str) -> None:
        """RefusedRequestError unless the request may be served."""
        if self.headers.get("Host", "") not in self.server.hosts:
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, f"Host: {self.server.hosts[0]} is expected")
        if self.headers.get("Origin") is not None:
            raise RefusedRequestError(HTTPStatus.FORBIDDEN, "Origin: requests of web pages are not served")
        sent = self.headers.get("Authorization", "").encode(errors="replace")
        if not secrets.compare_digest(sent, f"Bearer {self.server.token}".encode()):
            raise RefusedRequestError(
                HTTPStatus.UNAUTHORIZED, "Authorization: Bearer TOKEN is expected, as printed at the start"
            )
        if self.path != path:
            raise RefusedRequestError(HTTPStatus.NOT_FOUND, "there are POST /judge and GET /health")

    def _drain(self) -> None:
        size = self.headers.get("Content-Length", "")
        if size.isdecimal():
            self.connection.settimeout(BETWEEN_LOOKS)
            with suppress(OSError):
                self.rfile.read(min(int(size[:9]), DRAINED))

    def _show_health(self) -> None:
        self._send(HTTPStatus.OK, json.dumps(asdict(self.server.pool.counts)))

    def _judge(self) -> None:
        body = self._read_body()
        answers = body.pop("answers", None)
        if answers is None:
            self._judge_one(read_request(body))
        elif not isinstance(answers, list) or len(answers) > MOST_ANSWERS:
            raise RefusedRequestError(
                HTTPStatus.BAD_REQUEST, f"answers: a list of at most {MOST_ANSWERS} requests is expected"
            )
        else:
            self._judge_all(answers, body)

    def _read_body(self) -> dict[str, object]:
        if self.headers.get_content_type() != JSON_TYPE:
            raise RefusedRequestError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Content-Type: {JSON_TYPE} is expected")
        size = self.headers.get("Content-Length", "")
        if not size.isdecimal() or len(size) > len(str(MOST_BYTES)):
            raise RefusedRequestError(
                HTTPStatus.LENGTH_REQUIRED, f"Content-Length: a number up to {MOST_BYTES} is expected"
            )
        if int(size) > MOST_BYTES:
            raise RefusedRequestError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{size} bytes; at most {MOST_BYTES}")
        try:
            raw = self.rfile.read(int(size))
        except TimeoutError:
            words = f"the request has not come within {self.server.patience:g} s"
            raise RefusedRequestError(HTTPStatus.REQUEST_TIMEOUT, words) from None
        if len(raw) < int(size):
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, f"{len(raw)} of {int(size)} bytes have come")
        try:
            body = json.loads(raw)
        except (ValueError, RecursionError) as error:
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, f"the request is no JSON: {error}") from None
        if not isinstance(body, dict):
            raise RefusedRequestError(HTTPStatus.BAD_REQUEST, "the request is no JSON object")
        return body

    def _judge_one(self, request: JudgingRequest) -> None:
        future = self.server.pool.submit(request)
        try:
            while not future.done():
                self._check_client()
                wait_for([future], BETWEEN_LOOKS)
        except ClientGoneError:
            future.cancel()
            return
        self._send(HTTPStatus.OK, line_of_judgement(request.answer, future.result()))

    def _judge_all(self, answers: list[object], usual: Mapping[str, object]) -> None:
        """Send a line for each answer, as soon as its verdict is there."""
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", LINES_TYPE)
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        asked = self._requests(answers, usual)
        pending: dict[Future[Judgement], tuple[object, JudgingRequest]] = {}
        kept: tuple[object, JudgingRequest] | None = None
        is_over, at_once = False, max(AT_ONCE, 2 * self.server.pool.jobs)
        try:
            while pending or kept or not is_over:
                while len(pending) < at_once and not is_over:
                    kept = kept or next(asked, None)
                    is_over = kept is None
                    if kept is None or (future := self._submit(*kept)) is None:
                        break
                    pending[future], kept = kept, None
                if kept and not pending:  # others have filled the queue
                    time.sleep(BETWEEN_LOOKS)
                done, _ = wait_for(pending, BETWEEN_LOOKS, FIRST_COMPLETED)
                for future in done:
                    self._send_verdict(future, *pending.pop(future))
                self._check_client()
            self._send_chunk("")
        except (OSError, ClientGoneError):
            for future in pending:
                future.cancel()

    def _requests(self, answers: list[object], usual: Mapping[str, object]) -> Iterator[tuple[object, JudgingRequest]]:
        """Each request with its id; a line says what is wrong with one that is none."""
        for number, one in enumerate(answers):
            name: object = number
            try:
                if not isinstance(one, dict):
                    raise RequestError("a request is an object")
                name = one.get("id", number)
                if not isinstance(name, str | int):
                    name = number
                    raise RequestError("id: a text or an integer is expected")
                yield name, read_request({**usual, **one})
            except RequestError as error:
                self._send_chunk(line_of_error(str(error), id=name) + "\n")

    def _submit(self, name: object, request: JudgingRequest) -> "Future[Judgement] | None":
        """The future of a request; None if the queue is full."""
        try:
            return self.server.pool.submit(request)
        except QueueFullError:
            return None
        except JudgingError as error:
            ended: Future[Judgement] = Future()
            ended.set_exception(error)
            return ended

    def _send_verdict(self, future: "Future[Judgement]", name: object, request: JudgingRequest) -> None:
        try:
            line = line_of_judgement(request.answer, future.result(), id=name)
        except JudgingError as error:
            line = line_of_error(str(error), id=name)
        self._send_chunk(f"{line}\n")

    def _send_chunk(self, text: str) -> None:
        raw = text.encode()
        self.wfile.write(b"%x\r\n%b\r\n" % (len(raw), raw))
        self.wfile.flush()

    def _send(self, status: HTTPStatus, line: str) -> None:
        raw = f"{line}\n".encode()
        with suppress(OSError):  # the client has gone
            self.send_response(status)
            self.send_header("Content-Type", JSON_TYPE)
            self.send_header("Content-Length", str(len(raw)))
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(raw)

    def _check_client(self) -> None:
        """ClientGoneError if the other end is closed: it has sent all that it had to send."""
        poll = select.poll()
        poll.register(self.connection, select.POLLRDHUP)
        if poll.poll(0):
            raise ClientGoneError


class RefusingHandler(VerdictHandler):
    """A request that comes while there are as many connections as may be."""

    def _patience(self) -> float:
        return BETWEEN_LOOKS

    def _check(self, path: str) -> None:
        words = f"{MOST_CONNECTIONS} connections are open already: try again later"
        raise RefusedRequestError(HTTPStatus.SERVICE_UNAVAILABLE, words)


def _status_of(error: JudgingError) -> HTTPStatus:
    if isinstance(error, QueueFullError):
        return HTTPStatus.SERVICE_UNAVAILABLE
    return HTTPStatus.BAD_REQUEST if error.is_request else HTTPStatus.INTERNAL_SERVER_ERROR
