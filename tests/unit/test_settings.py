"""Settings: the order of layers, and the errors of invalid values."""

from pathlib import Path

import pytest
import trustme

from hitsend.settings import NAMES, BadSetting, Settings, check_binding, is_loopback, load


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def environ(file: Path, text: str = "", **variables: str) -> dict[str, str]:
    file.write_text(text)
    return {"HITSEND_CONFIG": str(file)} | variables


def test_a_flag_beats_a_variable_beats_the_file_beats_the_default(file: Path) -> None:
    toml = "port = 1\nhost = 'file'\nsync = 'full'"
    given = environ(file, toml, HITSEND_PORT="2", HITSEND_HOST="variable")
    loaded = load({"port": 3, "engine": None}, given)
    settings, origins = loaded.settings, loaded.origins
    assert (settings.port, origins["port"]) == (3, "--port")
    assert (settings.host, origins["host"]) == ("variable", "HITSEND_HOST")
    assert (settings.sync, origins["sync"]) == ("full", str(file))
    assert (settings.engine, origins["engine"]) == (Settings().engine, "default")


def test_every_setting_has_an_origin(file: Path) -> None:
    assert set(load({}, environ(file)).origins) == set(NAMES)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HITSEND_PORT", "eighty"),
        ("HITSEND_PORT", "65536"),
        ("HITSEND_PORT", ""),
        ("HITSEND_INSECURE", "perhaps"),
        ("HITSEND_ENGINE", "steam"),
        ("HITSEND_HEARTBEAT_S", "0"),
        ("HITSEND_HEARTBEAT_S", "nan"),
        ("HITSEND_PAD", "7"),
    ],
)
def test_an_invalid_value_names_its_variable(file: Path, variable: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"{variable} is '{value}'"):
        load({}, environ(file, **{variable: value}))


def test_an_invalid_value_in_the_file_names_the_file(file: Path) -> None:
    with pytest.raises(BadSetting, match=r"config\.toml is 'x', which does not fit `port`"):
        load({}, environ(file, "port = 'x'"))


def test_a_flag_out_of_range_is_named(file: Path) -> None:
    with pytest.raises(BadSetting, match="--port is -1"):
        load({"port": -1}, environ(file))


def test_an_invalid_secret_is_not_shown(file: Path) -> None:
    with pytest.raises(BadSetting) as caught:
        load({}, environ(file, "engine_key = [12345]"))
    assert "12345" not in caught.value.message


def test_an_unknown_variable_is_refused(file: Path) -> None:
    with pytest.raises(BadSetting, match="HITSEND_PROT"):
        load({}, environ(file, HITSEND_PROT="80"))


def test_the_variables_of_the_client_are_known(file: Path) -> None:
    load({}, environ(file, HITSEND_URL="http://x", HITSEND_KEY="hs-x"))


def test_an_unknown_name_in_the_file_is_refused(file: Path) -> None:
    with pytest.raises(BadSetting, match="sets prot"):
        load({}, environ(file, "prot = 80"))


def test_a_named_file_that_does_not_exist_is_refused(file: Path) -> None:
    with pytest.raises(BadSetting, match="HITSEND_CONFIG"):
        load({}, {"HITSEND_CONFIG": str(file)})


@pytest.mark.parametrize("text", ["port = ", "\udc80"])
def test_a_file_that_is_not_toml_is_refused(file: Path, text: str) -> None:
    file.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(BadSetting, match="cannot be read as TOML"):
        load({}, {"HITSEND_CONFIG": str(file)})


@pytest.mark.parametrize(("text", "value"), [("1", True), ("true", True), ("0", False)])
def test_booleans_can_be_written_in_several_ways(file: Path, text: str, value: bool) -> None:
    assert load({}, environ(file, HITSEND_INSECURE=text)).settings.insecure is value


def test_a_path_may_begin_with_a_tilde_in_every_layer(file: Path) -> None:
    home = Path.home() / "chat"
    assert load({}, environ(file, HITSEND_DATA_DIR="~/chat")).settings.data_dir == home
    assert load({}, environ(file, "data_dir = '~/chat'")).settings.data_dir == home
    assert load({"data_dir": Path("~/chat")}, environ(file)).settings.data_dir == home


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_needs_no_tls(host: str) -> None:
    assert is_loopback(host)
    check_binding(Settings(host=host))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", ""])
def test_listening_beyond_loopback_needs_tls_or_consent(host: str) -> None:
    with pytest.raises(BadSetting, match="unencrypted"):
        check_binding(Settings(host=host))
    check_binding(Settings(host=host, insecure=True))


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Path, Path]:
    certificate = trustme.CA().issue_cert("127.0.0.1")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    certificate.cert_chain_pems[0].write_to_path(chain)
    certificate.private_key_pem.write_to_path(key)
    return chain, key


def test_with_a_certificate_listening_beyond_loopback_is_allowed(pair: tuple[Path, Path]) -> None:
    check_binding(Settings(host="0.0.0.0", tls_cert=pair[0], tls_key=pair[1]))


def test_a_certificate_without_a_key_is_refused() -> None:
    with pytest.raises(BadSetting, match="belong together"):
        check_binding(Settings(tls_cert=Path("c.pem")))


def test_a_missing_certificate_or_key_is_named(pair: tuple[Path, Path]) -> None:
    for missing in pair:
        missing.rename(missing.with_suffix(".away"))
        with pytest.raises(BadSetting, match=f"{missing.name} cannot be read"):
            check_binding(Settings(tls_cert=pair[0], tls_key=pair[1]))
        missing.with_suffix(".away").rename(missing)


def test_an_invalid_certificate_or_another_key_is_refused(pair: tuple[Path, Path]) -> None:
    chain, key = pair
    with pytest.raises(BadSetting, match=r"key\.pem and .*chain\.pem are not a certificate"):
        check_binding(Settings(tls_cert=key, tls_key=chain))
    trustme.CA().issue_cert("127.0.0.1").private_key_pem.write_to_path(key)
    with pytest.raises(BadSetting, match="are not a certificate"):
        check_binding(Settings(tls_cert=chain, tls_key=key))


@pytest.mark.parametrize("proxies", ["", "127.0.0.1", " ::1 , 10.0.0.0/8,", "10.1.2.3"])
def test_proxies_are_addresses_or_networks(proxies: str) -> None:
    check_binding(Settings(trusted_proxies=proxies))


@pytest.mark.parametrize("proxies", ["*", "proxy.example", "127.0.0.1;::1", "10.0.0.1/8"])
def test_a_proxy_that_is_not_an_address_is_named(proxies: str) -> None:
    with pytest.raises(BadSetting, match="trusted_proxies"):
        check_binding(Settings(trusted_proxies=proxies))
