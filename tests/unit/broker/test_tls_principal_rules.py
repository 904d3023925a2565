"""The names in certificates, and the rules that make principals of them, held against Java's."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from headwater.broker.tls.principal_rules import NoMatchingRule, PrincipalRules
from headwater.config import ConfigError
from headwater.security.subjects import distinguished_name

SUBJECT = "CN=kafka1,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"


@pytest.mark.parametrize(
    ("rules", "subject", "name"),
    [
        ("DEFAULT", SUBJECT, SUBJECT),
        (r"RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", SUBJECT, "kafka1"),
        (r"RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L", SUBJECT,
         "kafka1@serviceusers"),
        (r"RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,DEFAULT", "OU=x,CN=Ann.B,O=y", "ann.b"),
        (r"RULE:^cn=(.*?),.*$/$1/, RULE:^CN=(.*?),.*$/$1/U , DEFAULT", SUBJECT, "KAFKA1"),
        (r"RULE:^nobody$/x/,DEFAULT", SUBJECT, SUBJECT),
        # What Java's replaceAll makes of these was asked of Java.
        (r"RULE:.*/z/", "CN=abc,OU=x", "zz"),
        (r"RULE:CN=(\p{Alpha}+),.*/$1-$12\$x/", "CN=abc,OU=x", "abc-abc2$x"),
        (r"RULE:^CN=(\w+)$/$1@$4/", "CN=a", "a@$4"),
        (r"RULE:^CN=(?<who>[^,]+).*$/${who}/", SUBJECT, "kafka1"),
        (r"RULE:^CN=a\/b$/x\/y/", "CN=a/b", "x/y"),
        (r"RULE:^\QCN=a.b\E$/dot/", "CN=a.b", "dot"),
        (r"RULE:^CN=[\p{Lower},]+$/low/", "CN=a,b", "low"),
        (r"RULE:^CN=([^,]++)(?:,|\z).*/$1/", "CN=a", "a"),
    ],
)  # fmt: skip
def test_the_first_rule_that_fits_makes_the_name(rules: str, subject: str, name: str) -> None:
    assert PrincipalRules(rules).apply(subject) == name


def test_a_name_that_no_rule_fits_is_refused() -> None:
    with pytest.raises(NoMatchingRule, match="CN=kafka1"):
        PrincipalRules("RULE:^CN=nobody$/x/").apply(SUBJECT)


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ("", "no rule in it"),
        ("default", "is no rule"),
        ("RULE:a/b", "is no rule"),
        ("RULE:a/b/X", "is no rule"),
        ("DEFAULT,RULE:(/x/", "missing"),
        ("RULE:a/$1/", "no groups"),
        ("RULE:(a)/${b}/", "no group b"),
        ("RULE:(a)/$/", "stands for nothing"),
        (r"RULE:[a-z&&[^b]]/x/", "classes within classes"),
        (r"RULE:\p{IsGreek}/x/", "not understood"),
    ],
)
def test_what_is_wrong_with_a_rule_is_said_at_start(rules: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        PrincipalRules(rules)


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([(NameOID.ORGANIZATION_NAME, "plant"), (NameOID.COMMON_NAME, "ann")], "CN=ann,O=plant"),
        ([(NameOID.COMMON_NAME, "Smith, John")], r"CN=Smith\, John"),
        ([(NameOID.COMMON_NAME, " lead ")], r"CN=\ lead\ "),
        ([(NameOID.COMMON_NAME, "a=b#c")], r"CN=a\=b\#c"),
        ([(NameOID.COMMON_NAME, "x"), (NameOID.EMAIL_ADDRESS, "a@b.c")],
         "1.2.840.113549.1.9.1=#16056140622e63,CN=x"),
        ([(NameOID.SERIAL_NUMBER, "12"), (NameOID.LOCALITY_NAME, "l"),
          (NameOID.STATE_OR_PROVINCE_NAME, "z"), (NameOID.STREET_ADDRESS, "s"),
          (NameOID.DOMAIN_COMPONENT, "y"), (NameOID.DOMAIN_COMPONENT, "x"), (NameOID.USER_ID, "u")],
         "UID=u,DC=x,DC=y,STREET=s,ST=z,L=l,2.5.4.5=#13023132"),
    ],
)  # fmt: skip
def test_names_are_written_as_java_writes_them(
    parts: list[tuple[x509.ObjectIdentifier, str]], text: str
) -> None:
    name = x509.Name([x509.NameAttribute(oid, value) for oid, value in parts])
    assert distinguished_name(name) == text


def test_a_part_of_several_attributes_is_joined_by_plus() -> None:
    both = [
        x509.NameAttribute(NameOID.COMMON_NAME, "a"),
        x509.NameAttribute(NameOID.USER_ID, "b"),
    ]
    name = x509.Name([x509.RelativeDistinguishedName(both)])
    assert sorted(distinguished_name(name).split("+")) == ["CN=a", "UID=b"]
