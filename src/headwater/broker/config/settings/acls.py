"""Who may do what: the settings of the authorizer."""

from __future__ import annotations

from headwater.config import ConfigDef, ConfigType, Importance, one_of

STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"

SETTINGS = (
    ConfigDef(
        "authorizer.class.name",
        ConfigType.STRING,
        "",
        f"Who decides what clients may do: nobody, or by ACLs with {STANDARD_AUTHORIZER}.",
        one_of("", STANDARD_AUTHORIZER),
        importance=Importance.LOW,
    ),
    ConfigDef(
        "super.users",
        ConfigType.STRING,
        "",
        "With an authorizer, who may do everything, separated by semicolons, such as"
        " User:admin;User:ops.",
    ),
    ConfigDef(
        "allow.everyone.if.no.acl.found",
        ConfigType.BOOLEAN,
        False,
        "With an authorizer, whether everybody may do everything to a resource that no ACL is"
        " about.",
    ),
)
