"""Keys, pressed in a page of labels."""

#: Windows' codes of the keys.
CODES = {"Enter": 13, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Home": 36,
         "Tab": 9, "Backspace": 8}  # fmt: skip


def press(page, key, *, shift=False):
    """Press a key."""
    text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
    for kind in ("keyDown", "keyUp"):
        page.do("Input.dispatchKeyEvent", type=kind, key=key, code=key, modifiers=8 * shift,
                windowsVirtualKeyCode=CODES.get(key, ord(key[0].upper())),
                **(text if kind == "keyDown" else {}))  # fmt: skip


def go(page, token):
    """Go to a token by arrow keys; return how many it took."""
    place = "Number(document.querySelector('#text .at').dataset.n)"
    now = page.run(place)
    for _ in range(abs(token - now)):
        press(page, "ArrowRight" if token > now else "ArrowLeft")
    assert page.run(place) == token
    return abs(token - now)
