"""What can be wrong with a .proto file. Every message is a sentence that says where."""


class ProtoError(ValueError):
    """A .proto file cannot be used."""


class ProtoSyntaxError(ProtoError):
    """The text is no .proto file; the message says where, and what was expected there."""


class InvalidProtoError(ProtoError):
    """The text is a .proto file, but what it declares cannot be."""


class UnknownTypeError(InvalidProtoError):
    """A name means no type that is in reach."""


class MissingImportError(InvalidProtoError):
    """A file is imported that was not given."""


class InvalidOptionError(InvalidProtoError):
    """An option does not exist, or its value does not fit."""
