"""The page on which users say who they are."""

from __future__ import annotations

from html import escape


def login_page(target: str, complaint: str = "") -> bytes:
    """Return the page; `target` is where it leads to."""
    said = f'<p role="alert">{escape(complaint)}</p>' if complaint else ""
    return _PAGE.format(target=escape(target, quote=True), said=said).encode()


_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Log in - Headwater</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; --line: #9aa5b1; }}
body {{ font: 15px/1.5 system-ui, sans-serif; display: grid; place-items: center;
  min-height: 100vh; margin: 0; }}
form {{ width: 18rem; display: grid; gap: .6rem; }}
h1 {{ font-size: 1.2rem; margin: 0 0 .4rem; }}
input, button {{ font: inherit; padding: .45rem .6rem; border-radius: 4px;
  border: 1px solid var(--line); }}
button {{ background: #17627d; color: #fff; border-color: #17627d; cursor: pointer; }}
p {{ color: #b3261e; margin: 0; }}
</style>
</head>
<body>
<form method="post" action="/login">
<h1>Headwater</h1>
{said}
<label for="name">User</label>
<input id="name" name="name" autocomplete="username" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<input type="hidden" name="to" value="{target}">
<button>Log in</button>
</form>
</body>
</html>
"""
