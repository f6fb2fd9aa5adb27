"""Finds what a web page says. A program of its own, because strangers write pages: `page_reader.py`
runs it with limits. It imports nothing of hitsend, so that it starts quickly.

It reads a line of JSON (`url`, `is_html`, `charset`) and the page, and prints `title`, `text`,
`links` (the words and the URL of each) and `is_cut`, as JSON.
"""

import json
import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any
from urllib.parse import urldefrag, urljoin

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.encoding import bytes_to_str, detect_encoding, map_encoding_to_html5
from resiliparse.parse.html import ElementNode, HTMLTree

MAX_CHARS = 200_000
"""Of the text."""
MIN_MAIN_CHARS = 200
"""With less text in its main part, a page is read whole."""
MIN_SHARE, MAX_SHARE = 0.7, 1.6
"""Of the text that the library finds."""
BESIDE = [
    *("nav", "footer", "aside", "form", "dialog", "button", "[hidden]"),
    *("[role=navigation]", "[role=complementary]", "[role=dialog]", "[role=banner]"),
    *("[role=contentinfo]", "[class*=cookie]", "[class*=share]", "[class*=social]"),
    *("[class*=related]", "[class*=comment]", "[id*=comment]", "[class*=newsletter]"),
    *("[class*=promo]", "[class*=sidebar]", "[class*=breadcrumb]"),
]
"""What stands in an article and is not its text."""
MAX_LINKS = 200
MAX_NODES = 200_000
"""Looked at for links."""
MAX_TITLE_CHARS = 200
MAX_WORDS_CHARS = 100
"""Of a link."""
MAX_URL_CHARS = 500
CPU_S = 8
MEMORY_BYTES = 2 * 1024**3


def read_page(url: str, is_html: bool, charset: str, content: bytes) -> dict[str, Any]:
    written = decode(content, charset, is_html)
    if not is_html:
        return {
            "title": "",
            "text": written[:MAX_CHARS].strip(),
            "links": [],
            "is_cut": len(written) > MAX_CHARS,
        }
    tree = HTMLTree.parse(written)
    text = find_text(tree)
    return {
        "title": squeeze(tree.title)[:MAX_TITLE_CHARS],
        "text": text[:MAX_CHARS],
        "links": list(find_links(tree, url)),
        "is_cut": len(text) > MAX_CHARS,
    }


def decode(content: bytes, charset: str, is_html: bool) -> str:
    """Follows the byte order mark, what the server says, what the page says, what it looks like."""
    if any(map(content.startswith, (BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE))):
        return bytes_to_str(content, detect_encoding(content[:4]) or "utf-8")
    named = map_encoding_to_html5(charset, fallback_utf8=False) if charset else None
    found = named or detect_encoding(content, from_html_meta=is_html) or "utf-8"
    return bytes_to_str(content, found)


def find_text(tree: HTMLTree) -> str:
    """The library leaves out short lists, such as ingredients. So where the page itself says what
    its article is, and that is about what the library finds, all of it is taken."""
    main = write_text(tree, main_content=True)
    if article := find_article(tree):
        text = write_text(article.html, main_content=False, skip_elements=BESIDE)
        if MIN_SHARE * len(main) <= len(text) <= MAX_SHARE * len(main):
            return text
    if len(main) >= MIN_MAIN_CHARS:
        return main
    whole = write_text(tree, main_content=False)
    return whole if len(whole) > 2 * len(main) else main


def find_article(tree: HTMLTree) -> ElementNode | None:
    """Returns the only one of its kind."""
    if tree.document is None:
        return None
    for selector in ("article", "main", "[role=main]"):
        found = tree.document.query_selector_all(selector)
        if len(found) == 1 and isinstance(found[0], ElementNode):
            return found[0]
    return None


def write_text(html: HTMLTree | str, **options: Any) -> str:
    return extract_plain_text(html, alt_texts=False, **options).strip()


def find_links(tree: HTMLTree, url: str) -> Iterator[tuple[str, str]]:
    """Returns each target once, without those within the page."""
    seen = {urldefrag(url).url}
    # Not a query: the library takes quadratic time to tell its results one by one.
    for node in islice(tree.document or (), MAX_NODES):
        if not isinstance(node, ElementNode):
            continue
        if node.tag == "base":
            url = join(url, node.getattr("href")) or url
        target = join(url, node.getattr("href")) if node.tag == "a" else ""
        if not target or target in seen:
            continue
        if words := squeeze(node.text)[:MAX_WORDS_CHARS]:
            seen.add(target)
            yield words, target
            if len(seen) > MAX_LINKS:
                return


def join(base: str, target: str | None) -> str:
    """Returns an empty string for what is no plain web address."""
    try:
        joined = urldefrag(urljoin(base, (target or "").strip())).url
    except ValueError:
        return ""
    is_plain = joined.startswith(("http://", "https://")) and joined.isprintable()
    return joined if is_plain and " " not in joined and len(joined) <= MAX_URL_CHARS else ""


def squeeze(text: str | None) -> str:
    """Returns one line."""
    return " ".join((text or "").split())


def limit_process() -> None:
    """Should a page find a fault in the parser: little time and memory, no files to write."""
    if sys.platform == "win32":
        return
    import resource

    for kind, most in (
        (resource.RLIMIT_CPU, CPU_S),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 32),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # not on every system
            resource.setrlimit(kind, (most, most))


def main() -> None:
    limit_process()
    page = json.loads(sys.stdin.buffer.readline())
    found = read_page(**page, content=sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(found).encode())


if __name__ == "__main__":
    main()
