"""The rules that make users' names of Kerberos' principals, and the settings of a listener."""

from __future__ import annotations

import pytest

from headwater.broker.config import BrokerConfig
from headwater.broker.sasl import kerberos_library
from headwater.broker.sasl.kerberos_rules import KerberosRules, NoMatchingRule
from headwater.broker.sasl.listener_sasl import ListenerSasl
from headwater.config import ConfigError

JAAS = "listener.name.sasl_ssl.gssapi.sasl.jaas.config"
MODULE = "com.sun.security.auth.module.Krb5LoginModule required"
KEYTAB = f'{MODULE} useKeyTab=true keyTab="/nowhere" principal="kafka/host@REALM.COM";'

# What Apache Kafka's own rules make of these was asked of them.
NAMES = [
    ("DEFAULT", "ann@REALM.COM", "ann"),
    ("DEFAULT", "kafka/host@REALM.COM", "kafka"),
    ("RULE:[1:$1](App\\..*)s/App\\.(.*)/$1/g,RULE:[2:$1](App\\..*)s/App\\.(.*)/$1/g,DEFAULT",
     "App.service-name/example.com@REALM.COM", "service-name"),
    ("RULE:[1:$1](App\\..*)s/App\\.(.*)/$1/g,RULE:[2:$1](App\\..*)s/App\\.(.*)/$1/g,DEFAULT",
     "App.service-name@REALM.COM", "service-name"),
    ("RULE:[1:$1]/L,RULE:[2:$1]/L", "User@REALM.COM", "user"),
    ("RULE:[1:$1]/U", "User@ELSEWHERE.COM", "USER"),
    ("RULE:[2:$1](TestUser)s/.*/user/L,RULE:[2:$1]", "TestUser/host@REALM.COM", "user"),
    ("RULE:[2:$1-$2@$0](.*@REALM\\.COM)s/@.*//", "db/Host.1@REALM.COM", "db-Host.1"),
    ("RULE:[1:$1]s/a/o/", "banana@REALM.COM", "bonana"),
    ("RULE:[1:$1]s/a/o/g", "banana@REALM.COM", "bonono"),
    ("RULE:[1:$1]s/a/o/g/U", "banana@REALM.COM", "BONONO"),
    ("RULE:[1:$1](x.*)s/x/y/L,RULE:[1:is-$1]", "ann@REALM.COM", "is-ann"),
    ("RULE:[1:$1](.*)s/(a)(n*)/$2$1/", "ann@REALM.COM", "nna"),
    ("RULE:[1:$1]s/x*/-/g", "ann@REALM.COM", "-a-n-n-"),
    ("RULE:[2:$2](host)s/o//,DEFAULT", "ann/host@REALM.COM", "hst"),
    ("RULE:[1:x$1$1]", "ann@REALM.COM", "xannann"),
    ("RULE:[1:$1]s/([a-z]+)/<$1>/", "Ann.Lee@REALM.COM", "A<nn>.Lee"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "principal", "name"), NAMES)
def test_the_first_rule_that_takes_a_principal_makes_the_name(
    rules: str, principal: str, name: str
) -> None:
    assert KerberosRules(rules.split(","), "REALM.COM").short_name(principal) == name


@pytest.mark.parametrize(
    ("rules", "principal", "reason"),
    [
        ("DEFAULT", "ann@ELSEWHERE.COM", "No rules apply to ann@ELSEWHERE.COM, rules .DEFAULT."),
        ("RULE:[1:$1]", "ann/host@REALM.COM", "No rules apply"),
        ("RULE:[1:$1@$0]", "ann@REALM.COM", "Non-simple name ann@REALM.COM after auth_to_local"),
        ("DEFAULT", "ann/a/b@REALM.COM", "Malformed Kerberos name"),
        ("DEFAULT", r"admin\@REALM.COM@REALM.COM", "Malformed Kerberos name"),
        ("DEFAULT", "@REALM.COM", "an empty name"),
        ("RULE:[1:$1]s/.*//g", "ann@REALM.COM", "an empty name"),
    ],
)
def test_a_principal_that_is_nobody(rules: str, principal: str, reason: str) -> None:
    with pytest.raises(NoMatchingRule, match=reason):
        KerberosRules(rules.split(","), "REALM.COM").short_name(principal)


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("default", "it is no rule"),
        ("RULE:[1:$1](a)s/b", "it is no rule"),
        ("RULE:[:$1]", "it is no rule"),
        ("RULE:[1:$1]/X", "it is no rule"),
        ("DEFAULT/L", "it is no rule"),
        ("RULE:[1:$1$]", "index  after . is outside"),
        ("RULE:[1:$2]", "index 2 after . is outside of the valid range 0 to 1"),
        ("RULE:[1:$1]([a-)", "unterminated|bad character range"),
        ("RULE:[1:$1]s/a/$1/", "the pattern has no groups"),
    ],
)
def test_what_is_no_rule_is_refused_at_start(rule: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        KerberosRules([rule], "REALM.COM")


def listener(**given: str) -> ListenerSasl:
    settings = {
        "listeners": "SASL_SSL://:0",
        "sasl.enabled.mechanisms": "GSSAPI",
        "sasl.kerberos.service.name": "kafka",
        JAAS: KEYTAB,
        **given,
    }
    return ListenerSasl("SASL_SSL", BrokerConfig({k: v for k, v in settings.items() if v}), dict)


def test_settings_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    service = "sasl.kerberos.service.name"
    for changed, reason in (
        ({JAAS: ""}, "GSSAPI, which sasl.enabled.mechanisms has unless it is set, needs"),
        ({JAAS: "PlainLoginModule required;"}, "it must be Krb5LoginModule"),
        ({JAAS: f"{MODULE} useTicketCache=true;"}, "a broker's key comes from a keytab"),
        ({JAAS: KEYTAB.replace("true", "false")}, "a broker's key comes from a keytab"),
        ({service: ""}, "No serviceName defined in either JAAS or Kafka config"),
        ({JAAS: KEYTAB.replace(";", " serviceName=other;")}, "Conflicting serviceName values"),
    ):
        with pytest.raises(ConfigError, match=reason):
            listener(**changed)
    monkeypatch.setattr(kerberos_library, "LIBRARY", "libgssapi_of_nobody.so.2")
    kerberos_library.gssapi.cache_clear()
    with pytest.raises(ConfigError, match=r"libgssapi_of_nobody\.so\.2 cannot be loaded .*install"):
        listener()
    kerberos_library.gssapi.cache_clear()
