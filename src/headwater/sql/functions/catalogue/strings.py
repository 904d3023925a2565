"""Texts and bytes."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_string = partial(scalar, "STRING")
_bytes = partial(scalar, "BYTES")
_OF_TEXT = "(text STRING) STRING"
_PADDED = (
    "(text STRING, length INTEGER, padding STRING) STRING",
    "(bytes BYTES, length INTEGER, padding BYTES) BYTES",
)
_MASKS = "upper STRING, lower STRING, digit STRING, other STRING"
_MASKED = ("(text STRING) STRING", f"(text STRING, {_MASKS}) STRING")
_MASKED_IN_PART = (
    "(text STRING, letters INTEGER) STRING",
    f"(text STRING, letters INTEGER, {_MASKS}) STRING",
)

FUNCTIONS: tuple[Function, ...] = (
    _string(
        "CHR",
        "The letter of a Unicode number, or of an escape such as \\\\u004b.",
        "(number INTEGER) STRING",
        "(escape STRING) STRING",
    ),
    _string(
        "CONCAT",
        "Texts, or bytes, one after the other; nulls count as nothing.",
        "(first STRING, others STRING...) STRING",
        "(first BYTES, others BYTES...) BYTES",
    ),
    _string(
        "CONCAT_WS",
        "Texts, or bytes, with a separator between them; nulls are left out.",
        "(separator STRING, first STRING, others STRING...) STRING",
        "(separator BYTES, first BYTES, others BYTES...) BYTES",
    ),
    _string(
        "ENCODE",
        "A text in another of the encodings hex, utf8, ascii and base64.",
        "(text STRING, from STRING, to STRING) STRING",
    ),
    _string("INITCAP", "Each word with a capital first and small letters after it.", _OF_TEXT),
    _string(
        "INSTR",
        "Where a text is in another, counted from 1, from a position on, at the nth time; or 0.",
        "(text STRING, part STRING, [position INTEGER], [occurrence INTEGER]) INTEGER",
    ),
    _string("LCASE", "The text in small letters.", _OF_TEXT),
    _string(
        "LEN",
        "How many letters a text, or bytes a value has.",
        "(text STRING) INTEGER",
        "(bytes BYTES) INTEGER",
    ),
    _string("LPAD", "Filled up at the left to a length, or cut to it.", *_PADDED),
    _string("MASK", "Every letter, digit and sign replaced by that of its kind.", *_MASKED),
    _string("MASK_KEEP_LEFT", "All masked but the first letters.", *_MASKED_IN_PART),
    _string("MASK_KEEP_RIGHT", "All masked but the last letters.", *_MASKED_IN_PART),
    _string("MASK_LEFT", "The first letters masked.", *_MASKED_IN_PART),
    _string("MASK_RIGHT", "The last letters masked.", *_MASKED_IN_PART),
    _string("MD5", "The MD5 hash, in hexadecimal digits.", _OF_TEXT),
    _string(
        "REGEXP_EXTRACT",
        "What of a text matches a pattern first, or the pattern's group.",
        "(pattern STRING, text STRING, [group INTEGER]) STRING",
    ),
    _string(
        "REGEXP_EXTRACT_ALL",
        "All that matches a pattern, or the pattern's group.",
        "(pattern STRING, text STRING, [group INTEGER]) ARRAY<STRING>",
    ),
    _string(
        "REGEXP_REPLACE",
        "The text with something else for all that matches a pattern.",
        "(text STRING, pattern STRING, replacement STRING) STRING",
    ),
    _string(
        "REGEXP_SPLIT_TO_ARRAY",
        "The parts of a text between matches of a pattern.",
        "(text STRING, pattern STRING) ARRAY<STRING>",
    ),
    _string(
        "REPLACE",
        "The text with something else for each occurrence of a part.",
        "(text STRING, part STRING, replacement STRING) STRING",
    ),
    _string("RPAD", "Filled up at the right to a length, or cut to it.", *_PADDED),
    _string(
        "SPLIT",
        "The parts between delimiters.",
        "(text STRING, delimiter STRING) ARRAY<STRING>",
        "(bytes BYTES, delimiter BYTES) ARRAY<BYTES>",
    ),
    _string(
        "SPLIT_TO_MAP",
        "Keys and values out of a text, by the delimiters of entries and of their parts.",
        "(text STRING, entries STRING, parts STRING) MAP<STRING, STRING>",
    ),
    _string(
        "SUBSTRING",
        "The part from a position on, counted from 1 or, negative, from the end.",
        "(text STRING, position INTEGER, [length INTEGER]) STRING",
        "(bytes BYTES, position INTEGER, [length INTEGER]) BYTES",
    ),
    _string("TRIM", "The text without blanks at its ends.", _OF_TEXT),
    _string("UCASE", "The text in capitals.", _OF_TEXT),
    _string("UUID", "A random UUID, or that of 16 bytes.", "() STRING", "(bytes BYTES) STRING"),
    _bytes(
        "BIGINT_FROM_BYTES",
        "The whole number of 8 bytes, BIG_ENDIAN (the default) or LITTLE_ENDIAN.",
        "(bytes BYTES, [order STRING]) BIGINT",
    ),
    _bytes(
        "DOUBLE_FROM_BYTES",
        "The number of 8 bytes, BIG_ENDIAN (the default) or LITTLE_ENDIAN.",
        "(bytes BYTES, [order STRING]) DOUBLE",
    ),
    _bytes(
        "FROM_BYTES",
        "Bytes as a text in the encoding hex, utf8, ascii or base64.",
        "(bytes BYTES, encoding STRING) STRING",
    ),
    _bytes(
        "INT_FROM_BYTES",
        "The whole number of 4 bytes, BIG_ENDIAN (the default) or LITTLE_ENDIAN.",
        "(bytes BYTES, [order STRING]) INTEGER",
    ),
    _bytes(
        "TO_BYTES",
        "The bytes of a text in the encoding hex, utf8, ascii or base64.",
        "(text STRING, encoding STRING) BYTES",
    ),
)
