"""Errors that a client is told, with a status, a code and a message; and those of a start."""

from __future__ import annotations


class HttpError(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, status: int, code: int, message: str, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers


class StartError(Exception):
    """A service cannot start; the message says which setting, file, port or peer is at fault."""


class ClientDisconnectedError(Exception):
    """The client went away before its request was whole; there is nobody left to answer."""


def bad_request(message: str) -> HttpError:
    """The request itself is malformed."""
    return HttpError(400, 400, message)


def unauthorized(challenge: str) -> HttpError:
    """Nobody knows who is asking."""
    header = (b"www-authenticate", challenge.encode("latin-1"))
    ways = {"Basic": "a user and a password", "Bearer": "a token that has not expired"}
    wanted = " or ".join(way for scheme, way in ways.items() if f"{scheme} realm" in challenge)
    return HttpError(401, 401, f"Unauthorized: give {wanted or 'credentials'}", (header,))


def forbidden(message: str) -> HttpError:
    """It is known who is asking, and they may not."""
    return HttpError(403, 40301, f"Forbidden: {message}")


def not_found() -> HttpError:
    """No route has this path."""
    return HttpError(404, 404, "HTTP 404 Not Found")


def method_not_allowed(method: str) -> HttpError:
    """The path has routes, but none for this method."""
    return HttpError(405, 405, f"HTTP 405 Method Not Allowed: {method}")


def not_acceptable() -> HttpError:
    """The client takes none of the content types that there are."""
    return HttpError(406, 406, "HTTP 406 Not Acceptable: JSON is all there is")


def request_timeout() -> HttpError:
    """The body did not come in time; there is no telling where the next request begins."""
    message = "HTTP 408 Request Timeout: the request's body did not come in time"
    return HttpError(408, 408, message, ((b"connection", b"close"),))


def too_large(limit: int) -> HttpError:
    """The body is larger than a service takes."""
    return HttpError(413, 413, f"The request is larger than {limit} bytes")


def unsupported_media_type() -> HttpError:
    """The body is of a type that a service does not take."""
    return HttpError(415, 415, "HTTP 415 Unsupported Media Type: send JSON")
