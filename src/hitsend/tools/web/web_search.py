"""The tool `web_search`."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from hitsend.messages import CitedSource
from hitsend.tools.citations import Citations
from hitsend.tools.hosted_tool import Call, CallResult, HostedTool, hosted_tool
from hitsend.tools.web.search_providers import Found, SearchProvider
from hitsend.tools.web.trail import Trails

Query = Annotated[
    str, Meta(min_length=1, max_length=300, description="Words to search for, as for an engine.")
]
Count = Annotated[int, Meta(ge=1, le=10, description="How many results.")]


def build_web_search(provider: SearchProvider, trails: Trails, citations: Citations) -> HostedTool:
    @hosted_tool("web", is_untrusted=True)
    async def web_search(call: Call, *, query: Query, count: Count = 5) -> CallResult:
        """Searches the web, for news, facts and pages that you do not know. Cite what you use by
        its number, such as [1]. A result shows only some lines of its page.
        "How much does the new iPhone cost?" query=new iPhone cost
        Also: "Search the web for train tickets", "What is in the news today?"
        Also: "Who won the game yesterday?", "Which films are in the cinema this week?"
        Also: "What is the current version of Python?", "Look up when the zoo opens online"
        """
        trail = trails.of(call)
        trail.count_request()
        found = await provider.search(query, count)
        if not found:
            return CallResult(f"{provider.host} found nothing. Try other words.")
        for one in found:
            trail.list_url(one.url)
        return _write_results(found, call, citations)

    return web_search


def _write_results(found: Sequence[Found], call: Call, citations: Citations) -> CallResult:
    results, sources = list[str](), list[CitedSource]()
    for one in found:
        number = citations.number(call, one.url)
        date = f" ({one.date})" if one.date else ""
        results.append(
            "\n".join(filter(None, (f"[{number}] {one.title}{date}", one.url, one.snippet)))
        )
        sources.append(CitedSource(one.title, one.url, number))
    return CallResult("\n\n".join(results), sources=tuple(sources))
