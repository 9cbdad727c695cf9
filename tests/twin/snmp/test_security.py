"""Communities and users, right and wrong, with net-snmp's tools."""

import pytest

from tests.support.twin.snmp_bench import Bench, Manager, Reply

SYS_NAME = ".1.3.6.1.2.1.1.5.0"
WRONG_DIGESTS = ".1.3.6.1.6.3.15.1.1.5.0"


def v3(
    bench: Bench, user: str, *, auth: str = "", priv: str = "", word: str = "maplesyrup", key: str = "pancakes4u"
) -> Manager:
    level = "authPriv" if priv else "authNoPriv" if auth else "noAuthNoPriv"
    options = ["-v3", "-u", user, "-l", level]
    options += ["-a", auth, "-A", word] if auth else []
    options += ["-x", priv, "-X", key] if priv else []
    return Manager(bench.manager.address, user_options=tuple(options), timeout_s=0.5)


@pytest.mark.parametrize(
    ("user", "auth", "priv"),
    [
        ("shaaes", "SHA", "AES"),
        ("md5des", "MD5", "DES"),
        ("sha256aes", "SHA-256", "AES"),
        ("authonly", "SHA", ""),
        ("open", "", ""),
    ],
)
def test_each_user_reads_and_walks(ros: Bench, user: str, auth: str, priv: str) -> None:
    manager = v3(ros, user, auth=auth, priv=priv)
    assert manager.get(SYS_NAME).values == {SYS_NAME: 'STRING: "sw1"'}
    # Counters of the agent itself move between two walks; everything else is the same under v2c and v3.
    mine, plain = manager.walk(".1.3.6.1.2.1.17"), ros.manager.walk(".1.3.6.1.2.1.17")
    assert mine == plain
    assert len(plain) > 300


@pytest.mark.parametrize(("user", "auth", "priv"), [("shaaes", "SHA", "AES"), ("md5des", "MD5", "DES")])
def test_a_private_set_is_executed(ros: Bench, user: str, auth: str, priv: str) -> None:
    reply = v3(ros, user, auth=auth, priv=priv).set(".1.3.6.1.2.1.31.1.1.1.18.3", "s", "uplink")
    assert reply.code == 0, reply.complaint
    assert ros.device.personality.alias(3) == "uplink"


@pytest.mark.parametrize(
    ("manager_of", "complaint"),
    [
        (lambda b: v3(b, "shaaes", auth="SHA", priv="AES", word="maplesyruq"), "Authentication failure"),
        (lambda b: v3(b, "shaaes", auth="SHA", priv="AES", key="pancakes5u"), "Decryption error"),
        (lambda b: v3(b, "nobody", auth="SHA", priv="AES"), "Unknown user name"),
        (lambda b: v3(b, "authonly", auth="SHA", priv="AES"), "Unsupported security level"),
        (lambda b: v3(b, "shaaes", auth="SHA"), "authorizationError"),
    ],
)
def test_a_wrong_user_gets_the_reason(ros: Bench, manager_of: object, complaint: str) -> None:
    reply: Reply = manager_of(ros).get(SYS_NAME)  # type: ignore[operator]
    assert reply.code != 0
    assert complaint in reply.complaint


def test_wrong_digests_are_counted(ros: Bench) -> None:
    before = int(ros.manager.get(WRONG_DIGESTS).values[WRONG_DIGESTS].split()[-1])
    v3(ros, "shaaes", auth="SHA", priv="AES", word="maplesyruq").get(SYS_NAME)
    ros.agent.changed()
    assert int(ros.manager.get(WRONG_DIGESTS).values[WRONG_DIGESTS].split()[-1]) > before


def test_a_wrong_community_gets_no_response(ros: Bench) -> None:
    lab_client = Manager(ros.manager.address, "guess", timeout_s=0.2)
    assert "Timeout" in lab_client.get(SYS_NAME).complaint


def test_a_reader_may_not_write(ros: Bench) -> None:
    reply = ros.manager.run("snmpset", ".1.3.6.1.2.1.2.2.1.7.1", "i", "2")
    assert "noAccess" in reply.complaint
    assert ros.engine.port(ros.device.ports[0].engine_port)["admin_up"]


def test_lost_requests_are_lost(ros: Bench) -> None:
    ros.agent.set_loss(1.0)
    impatient = Manager(ros.manager.address, timeout_s=0.2)
    assert "Timeout" in impatient.get(SYS_NAME).complaint
    ros.agent.set_loss(0.0)
    assert impatient.get(SYS_NAME).code == 0
