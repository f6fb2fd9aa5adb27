"""All settings, read once at start and passed explicitly.

A value comes from the command line, else the environment (HITSEND_NAME), else the TOML file
(HITSEND_CONFIG, or config.toml in the configuration directory), else its default. An invalid
value stops the start; the error names the flag, variable or file.
"""

import ipaddress
import os
import re
import ssl
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, TypeAlias, get_type_hints

import msgspec
import platformdirs
from msgspec import Meta

from hitsend.errors import Refused

PREFIX = "HITSEND_"

Count: TypeAlias = Annotated[int, Meta(ge=1)]
Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=86_400)]
Token: TypeAlias = Annotated[str, Meta(min_length=16)]

ORIGIN = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])(?::(?P<port>[0-9]{1,5}))?"
)


class BadSetting(Refused):
    """The message names the variable, flag or file of the invalid value."""

    code = "bad_setting"


def _help(text: str) -> Meta:
    return Meta(description=text)


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    host: Annotated[str, _help("Address to listen on.")] = "127.0.0.1"
    port: Annotated[
        int, Meta(ge=0, le=65_535, description="Port to listen on; 0 picks a free one.")
    ] = 8765
    insecure: Annotated[
        bool, _help("Listen beyond loopback without TLS, e.g. behind a proxy with TLS.")
    ] = False
    tls_cert: Annotated[Path | None, _help("Certificate chain (PEM) to serve HTTPS with.")] = None
    tls_key: Annotated[Path | None, _help("Private key (PEM) of the certificate.")] = None
    tls_min: Annotated[Literal["1.2", "1.3"], _help("Oldest version of TLS that is spoken.")] = (
        "1.3"
    )
    hsts_s: Annotated[
        int,
        Meta(
            ge=0,
            le=63_072_000,
            description="With a certificate: seconds for which browsers shall use HTTPS only, "
            "after each visit; 0 does not ask them to.",
        ),
    ] = 31_536_000
    allowed_hosts: Annotated[
        str,
        _help(
            "Host names under which the page may be opened, separated by commas. Without any, "
            "`localhost`, and addresses where it listens beyond loopback; with a certificate all."
        ),
    ] = ""
    cors_origins: Annotated[
        str,
        _help(
            "Origins whose pages may call `/v1` with an API key, separated by commas, such as "
            "`https://app.example, http://localhost:3000`. Without any, only hitsend's own page."
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        _help(
            "Addresses or networks of trusted proxies, separated by commas: their X-Forwarded-For "
            "and X-Forwarded-Proto headers count."
        ),
    ] = ""
    trusted_destinations: Annotated[
        str,
        _help(
            "Hosts and networks beyond the public internet that tools may connect to, separated by "
            "commas, such as `wiki.lan, 10.2.0.0/16, [fd00::1]:8443`. Without a port, 80 and 443."
        ),
    ] = ""
    data_dir: Annotated[Path, _help("Directory of the database.")] = Path(
        platformdirs.user_data_dir("hitsend")
    )
    models_dir: Annotated[Path, _help("Directory of the model weights.")] = (
        Path(platformdirs.user_cache_dir("hitsend")) / "models"
    )
    cluster_region: Annotated[
        str, _help("Region of this server, shown in each stream and its record.")
    ] = "local"
    sync: Annotated[
        Literal["normal", "full"],
        _help("`normal` survives a crash of hitsend; `full` also a power cut, and is slower."),
    ] = "normal"

    engine: Annotated[
        Literal["llama", "scripted", "remote"],
        _help("The engine: a local model, a script, or an OpenAI-compatible server."),
    ] = "llama"
    engine_url: Annotated[str | None, _help("Address of the remote engine.")] = None
    engine_key: Annotated[str | None, _help("API key of the remote engine.")] = None
    engine_wait_s: Annotated[
        Seconds, _help("Longest wait of a message for an engine that is starting.")
    ] = 30.0
    engine_silence_s: Annotated[
        Seconds, _help("Silence in an answer after which an engine counts as lost.")
    ] = 300.0
    engine_first_token_s: Annotated[
        Seconds,
        _help("The same before the first token, where the remote engine runs nothing else for us."),
    ] = 60.0
    engine_concurrency: Annotated[
        Count,
        _help("Answers asked of the remote engine at once. Others wait, each person in turn."),
    ] = 256
    llama_server: Annotated[
        Path | None, _help("A llama-server binary to run instead of the built-in one.")
    ] = None
    model: Annotated[
        str, _help("Catalogue name, path of a GGUF file, or hub name; `auto` is the default model.")
    ] = "auto"
    hub_url: Annotated[str | None, _help("Address of a model hub, for models by hub name.")] = None
    embeddings: Annotated[
        Literal["minilm", "words", "off"],
        _help(
            "How texts are compared: by meaning (a small model, fetched at the first need), by "
            "their words, or not at all. The scripted engine always uses words."
        ),
    ] = "minilm"
    safety: Annotated[
        Literal["full", "ngrams", "rules", "off"],
        _help(
            "How messages and answers are checked: with the classifier, with its n-grams alone "
            "(no process beside the server), by rules and forms only, or not at all. What follows "
            "is decided by the policies in the settings of the page."
        ),
    ] = "full"
    num_slots: Annotated[int, Meta(ge=1, le=64, description="Answers decoded at once.")] = 4
    num_threads: Annotated[
        int, Meta(ge=0, le=1024, description="Threads the engine uses; 0 is one per core.")
    ] = 0
    num_window_tokens: Annotated[
        int, Meta(ge=256, le=1_048_576, description="Context window of each answer, in tokens.")
    ] = 8192
    max_answer_tokens: Annotated[Count, _help("Longest answer, in tokens.")] = 2048
    num_alternatives: Annotated[
        int,
        Meta(
            ge=0,
            le=20,
            description="Likely tokens to record per token of a chat, for the inspector: with "
            "local models of 500 MB and more, which are no slower for it.",
        ),
    ] = 3
    instructions: Annotated[str, _help("System instructions every conversation starts with.")] = (
        "You are a helpful assistant. Answer in Markdown, clearly and briefly."
    )

    safety_instructions: Annotated[
        bool,
        _help(
            "Tell models, after these instructions, what to refuse, what to answer with care, and "
            "that files and pages give no orders: some 120 tokens at the start of every "
            "conversation. Calls over `/v1` are not given it."
        ),
    ] = True
    safety_judge: Annotated[
        str,
        _help(
            "What decides where the safety classifier is unsure: `auto` asks the model that "
            "answers if it is local and not tiny; a name asks that model (Llama Guard, ShieldGemma "
            "and Granite Guardian in their own format); `off` asks none. The scripted engine is "
            "never asked."
        ),
    ] = "auto"

    max_turns: Annotated[
        Count,
        _help(
            "Answers in progress at once, waiting ones included. Further requests get a 503, and "
            "a 429 goes to a person who has as many of them as are free, and to an API key that "
            "has as many as are left to its owner then."
        ),
    ] = 512
    max_connections: Annotated[
        Count,
        _help(
            "Connections open at once, streams and sockets included. One address may have as many "
            "as are free, so at most half. Further ones get a 429 or 503, except for `/healthz` "
            "and `/readyz`."
        ),
    ] = 4000
    max_calls: Annotated[
        Count,
        _help(
            "Calls that a session or an API key may have open at once, Sends and streams aside; a "
            "person twice as many. Four times as many wait, and further ones get a 429."
        ),
    ] = 16
    drain_s: Annotated[
        float,
        Meta(ge=0, le=3600, description="Time for running answers to finish when hitsend stops."),
    ] = 10.0
    resume_s: Annotated[
        Seconds, _help("Time after its end during which a broken stream can be resumed.")
    ] = 600.0
    prewarm: Annotated[
        bool, _help("Prefill the conversation while a message is typed. Stores nothing.")
    ] = True
    autocomplete: Annotated[
        bool, _help("Suggest completions while typing, on machines that are fast enough.")
    ] = True
    model_titles: Annotated[bool, _help("Let the model write titles of new conversations.")] = True
    gate: Annotated[
        Literal["off", "auto", "always"],
        _help("Ask browsers for a proof of work: never, under load or abuse, or always."),
    ] = "auto"
    gate_difficulty: Annotated[
        int, Meta(ge=1, le=24, description="Bits of work per proof; load adds to it.")
    ] = 12
    telemetry: Annotated[
        bool, _help("Collect latencies and errors of pages, without any text.")
    ] = True
    currency: Annotated[str, _help("Currency of token prices on the usage page.")] = "USD"

    tool_rounds: Annotated[
        int,
        Meta(
            ge=0,
            le=50,
            description="How often a model may call tools in one answer. 0 turns all tools off.",
        ),
    ] = 6
    tool_time_s: Annotated[
        Seconds,
        _help("Time that the tools of one answer may take together, without waiting for people."),
    ] = 120.0
    tool_output_bytes: Annotated[
        int,
        Meta(ge=1_000, le=10_000_000, description="Longest output of a tool that is kept."),
    ] = 262_144
    approval_wait_s: Annotated[
        Seconds,
        _help(
            "How long an answer waits for a person to allow a call. Then it ends, and goes on when "
            "the person has decided."
        ),
    ] = 600.0
    python: Annotated[
        Literal["monty", "wasi", "bubblewrap", "off"],
        _help(
            "What runs the Python that models write: `monty`, a small safe Python; `wasi`, CPython "
            "with numpy, pandas and matplotlib in WebAssembly (`hitsend sandbox install`); "
            "`bubblewrap`, the machine's own CPython in namespaces; or nothing."
        ),
    ] = "monty"
    python_executable: Annotated[
        Path | None,
        _help(
            "Python that `bubblewrap` runs, such as that of a virtual environment with pandas. "
            "Without it, the one that runs hitsend, without hitsend's packages."
        ),
    ] = None
    python_processes: Annotated[
        Count,
        _help(
            "Conversations whose process is kept, with its variables, by `wasi` and `bubblewrap`. "
            "One takes some 200 MB. Those used longest ago go first."
        ),
    ] = 4
    sandbox_dir: Annotated[Path, _help("Directory of the compiled CPython for `wasi`.")] = (
        Path(platformdirs.user_cache_dir("hitsend")) / "sandbox"
    )
    python_time_s: Annotated[Seconds, _help("Longest time a program of a model may run.")] = 10.0
    python_memory_bytes: Annotated[
        int, Meta(ge=16_000_000, description="Memory that a program of a model may use.")
    ] = 256_000_000
    python_output_bytes: Annotated[
        Count, _help("Longest output of a program of a model. One that prints more is stopped.")
    ] = 100_000
    python_running: Annotated[
        Count, _help("Programs of models that run at once, one for each person. Others wait.")
    ] = 2
    python_kept: Annotated[
        Count,
        _help(
            "Conversations whose Python variables are kept in memory, with up to 8 MiB each, by "
            "`monty`. Those used longest ago go first."
        ),
    ] = 32

    weather_url: Annotated[
        str | None,
        _help(
            "Server for `get_weather` that speaks Open-Meteo's API, such as "
            "`https://api.open-meteo.com`. Without it there is no such tool: a model's question "
            "for the weather of a place goes to that server."
        ),
    ] = None
    weather_places_url: Annotated[
        str | None,
        _help("The same for finding places, such as `https://geocoding-api.open-meteo.com`."),
    ] = None
    weather_key: Annotated[
        str | None, _help("API key of the weather servers, if they want one.")
    ] = None

    mcp_people: Annotated[
        bool, _help("Let everyone add MCP servers by address for themselves.")
    ] = True
    mcp_commands: Annotated[
        bool,
        _help(
            "Let administrators add MCP servers that are programs. They run on this machine, with "
            "the rights of hitsend."
        ),
    ] = True
    mcp_allow_http: Annotated[
        bool, _help("Allow MCP servers and their sign-ins without TLS (`http://`).")
    ] = False
    mcp_idle_s: Annotated[
        Seconds, _help("Time without a call after which the connection to an MCP server ends.")
    ] = 600.0
    mcp_processes: Annotated[
        Count, _help("Programs of MCP servers that run at once, one for each person who uses one.")
    ] = 16
    mcp_message_bytes: Annotated[
        int,
        Meta(ge=100_000, le=1_000_000_000, description="Largest message taken from an MCP server."),
    ] = 10_000_000
    web_search: Annotated[
        Literal["off", "searxng", "brave", "json"],
        _help(
            "What searches the web for models: a SearXNG server, Brave's API, or a server that "
            "answers in plain JSON. Without it there is no such tool: questions that models "
            "search for go to that server."
        ),
    ] = "off"
    web_search_url: Annotated[
        str | None,
        _help(
            "Address of the search server, such as `https://searx.example`. For Brave it need not "
            "be given."
        ),
    ] = None
    web_search_key: Annotated[
        str | None, _help("API key of the search server, if it wants one.")
    ] = None
    web_pages: Annotated[
        Literal["auto", "on", "off"],
        _help(
            "Let models read web pages: `auto` where `web_search` is set. Pages see the address of "
            "this server."
        ),
    ] = "auto"
    web_requests: Annotated[
        int, Meta(ge=1, le=100, description="Searches and pages of one answer, together.")
    ] = 10

    max_body_bytes: Annotated[Count, _help("Largest request body.")] = 4_194_304
    max_import_bytes: Annotated[Count, _help("Largest file that can be imported.")] = 268_435_456
    max_message_chars: Annotated[Count, _help("Longest message, in characters.")] = 1_000_000
    session_days: Annotated[
        int, Meta(ge=1, le=400, description="Days after which a browser must sign in again.")
    ] = 30
    audit_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Days after which entries of the activity log are removed; 0 keeps them.",
        ),
    ] = 365
    token_record_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Days after which the tokens of an answer and their probabilities are "
            "erased; the text stays. 0 keeps them.",
        ),
    ] = 0
    turn_log_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Days after which the log of a turn is erased: its steps, its tokens, and "
            "the messages of a call over /v1. Conversations stay. 0 keeps it.",
        ),
    ] = 0
    deleted_days: Annotated[
        int,
        Meta(
            ge=0,
            le=36_500,
            description="Days for which conversations that people delete stay on the disk, where "
            "nobody sees them. 0 erases them within two minutes.",
        ),
    ] = 0
    allow_sharing: Annotated[
        bool, _help("Allow sharing conversations by link. If off, existing links cannot be read.")
    ] = True
    sign_in_tries: Annotated[
        Count, _help("Names whose sign-in may fail from one address before it has to pause.")
    ] = 50
    require_second_factor: Annotated[
        Literal["nobody", "administrators", "everyone"],
        _help("Who has to set up two-step sign-in, at the next sign-in."),
    ] = "nobody"
    pad: Annotated[
        Literal[0, 8, 16, 32],
        _help("Deltas are padded to a multiple of this, so that their length reveals less."),
    ] = 16
    heartbeat_s: Annotated[
        Seconds, _help("Seconds of silence after which a stream sends a heartbeat.")
    ] = 10.0
    metrics_token: Annotated[
        Token | None,
        _help(
            "What Prometheus sends to read `/metrics` (`Authorization: Bearer …`), at least 16 "
            "characters. Administrators and their API keys with `admin` may read it anyway."
        ),
    ] = None
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], _help("How much to log.")
    ] = "info"
    log_format: Annotated[
        Literal["text", "json"], _help("Lines of text for people, or of JSON for programs.")
    ] = "text"

    @property
    def database(self) -> Path:
        return self.data_dir / "hitsend.db"


SECRET = frozenset({"engine_key", "metrics_token", "weather_key", "web_search_key"})
"""Shown only as set or unset."""


class Loaded(msgspec.Struct, frozen=True):
    settings: Settings
    origins: Mapping[str, str]
    """The origin of each value: `default`, a variable, a file, or a flag."""


def load(flags: Mapping[str, object], environ: Mapping[str, str] = os.environ) -> Loaded:
    """Merges file, environment and flags, later ones first. A flag of None is unset."""
    given = _from_file(environ) | _from_environment(environ) | _from_flags(flags)
    values = {name: _parse(name, value, origin) for name, (value, origin) in given.items()}
    origins = {name: given[name][1] if name in given else "default" for name in NAMES}
    return Loaded(msgspec.structs.replace(Settings(), **values), origins)


NAMES = Settings.__struct_fields__
HINTS = get_type_hints(Settings, include_extras=True)

Layer: TypeAlias = dict[str, tuple[object, str]]
"""The raw value and the origin of each setting."""


def settings_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Returns where the file of settings is, or would be."""
    named = environ.get(PREFIX + "CONFIG")
    return Path(named or Path(platformdirs.user_config_dir("hitsend")) / "config.toml")


def _from_file(environ: Mapping[str, str]) -> Layer:
    path = settings_file(environ)
    try:
        table = tomllib.loads(path.read_text())
    except FileNotFoundError:
        if environ.get(PREFIX + "CONFIG"):
            raise BadSetting(f"{PREFIX}CONFIG names {path}, which is not there.") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(f"{path} cannot be read as TOML: {error}") from None
    if unknown := sorted(table.keys() - set(NAMES)):
        raise BadSetting(f"{path} sets {', '.join(unknown)}, which hitsend does not know.")
    return {name: (value, str(path)) for name, value in table.items()}


def _from_environment(environ: Mapping[str, str]) -> Layer:
    variables = {PREFIX + name.upper(): name for name in NAMES}
    found = sorted(key for key in environ if key.startswith(PREFIX))
    for variable in found:
        if variable not in variables and variable not in OTHER_VARIABLES:
            raise BadSetting(f"{variable} is set, but hitsend has no such setting.")
    return {
        variables[variable]: (environ[variable], variable)
        for variable in found
        if variable in variables
    }


OTHER_VARIABLES = frozenset(PREFIX + name for name in ("CONFIG", "URL", "KEY", "CRASH_AT"))
"""Variables that are no settings of the server: the file, the client's address and key, and the
crash point of a test."""


def _from_flags(flags: Mapping[str, object]) -> Layer:
    return {
        name: (value, "--" + name.replace("_", "-"))
        for name, value in flags.items()
        if value is not None
    }


def _parse(name: str, value: object, origin: str) -> object:
    try:
        return msgspec.convert(value, HINTS[name], strict=False, dec_hook=_convert_path)
    except msgspec.ValidationError as error:
        shown = "" if name in SECRET else f" {value!r}"
        raise BadSetting(f"{origin} is{shown}, which does not fit `{name}`: {error}.") from None


def _convert_path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str | Path):
        return Path(value).expanduser()
    raise NotImplementedError(kind)


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def local_url(settings: Settings) -> str:
    """The address of a server with these settings, as seen from this machine."""
    scheme = "https" if settings.tls_cert else "http"
    host = settings.host if is_loopback(settings.host) else "127.0.0.1"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.port}"


def check_binding(settings: Settings) -> None:
    """Refuses to listen beyond loopback without TLS: passwords would be readable."""
    if (settings.tls_cert is None) != (settings.tls_key is None):
        raise BadSetting("--tls-cert and --tls-key belong together: one of them is missing.")
    if settings.tls_cert and settings.tls_key:
        _check_certificate(settings.tls_cert, settings.tls_key)
    for proxy in split_list(settings.trusted_proxies):
        _check_proxy(proxy)
    for name in split_list(settings.allowed_hosts):
        _check_name(name)
    for origin in split_list(settings.cors_origins):
        _check_origin(origin)
    if is_loopback(settings.host) or settings.insecure or settings.tls_cert:
        return
    raise BadSetting(
        f"Listening on {settings.host} would send passwords over the network unencrypted. "
        "Give --tls-cert and --tls-key, or --insecure if a proxy in front has TLS."
    )


def split_list(value: str) -> list[str]:
    """Splits at commas."""
    return [name.strip() for name in value.split(",") if name.strip()]


def _check_certificate(certificate: Path, key: Path) -> None:
    for path in (certificate, key):
        try:
            path.open("rb").close()
        except OSError as error:
            raise BadSetting(f"{path} cannot be read: {error.strerror}.") from None
    try:
        # No password: a key that wants one would otherwise ask for it on the terminal.
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key, password="")
    except (ssl.SSLError, OSError, ValueError) as error:
        raise BadSetting(
            f"{certificate} and {key} are not a certificate (PEM) and its own key: {error}."
        ) from None


def _check_name(name: str) -> None:
    """Refuses a URL or a port: it would match no Host header, and nobody could open the page."""
    is_address = name.count(":") > 1 and "[" not in name
    if not name.isascii() or "/" in name or (":" in name and not is_address):
        raise BadSetting(
            f"{name!r} in allowed_hosts is not the name of a host alone: leave out `https://` and "
            "the port, and write what is not ASCII as browsers send it (xn--…)."
        )


def _check_origin(origin: str) -> None:
    """Refuses what no browser sends as `Origin`: it would allow nothing."""
    parts = ORIGIN.fullmatch(origin.lower())
    if parts is None or (parts["scheme"], parts["port"]) in (("http", "80"), ("https", "443")):
        raise BadSetting(
            f"{origin!r} in cors_origins is not an origin such as https://app.example: write the "
            "scheme, the name, and the port unless it is the usual one, and nothing after them."
        )


def _check_proxy(proxy: str) -> None:
    try:
        ipaddress.ip_network(proxy)
    except ValueError:
        raise BadSetting(
            f"{proxy!r} in trusted_proxies is neither an address nor a network."
        ) from None
