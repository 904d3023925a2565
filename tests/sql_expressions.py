"""Expressions of SQL at their edges, by kind, over the columns of a stream with three rows.

`STREAM` has the columns, `ROWS` the values: plain ones, nulls alone, and what is at the edge.
"""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from typing import Any

STREAM = (
    "CREATE STREAM t (i INT, j INT, l BIGINT, x DOUBLE, y DOUBLE, d DECIMAL(6, 2), s STRING, "
    "u STRING, b BYTES, day DATE, clock TIME, ts TIMESTAMP, yes BOOLEAN, a ARRAY<INT>, "
    "xs ARRAY<DOUBLE>, words ARRAY<STRING>, m MAP<STRING, INT>, p STRUCT<city STRING, zip INT>, "
    "json STRING, url STRING) WITH (kafka_topic='t', value_format='JSON')"
)

_PLAIN: dict[str, Any] = {
    "I": 7, "J": -3, "L": 5_000_000_000, "X": 2.5, "Y": -0.75, "D": Decimal("-12.50"),
    "S": "The quick Fox", "U": "Straße 😀 Ω", "B": b"\x00\x01\xfe\xff",
    "DAY": dt.date(2024, 2, 29), "CLOCK": dt.time(13, 5, 9),
    "TS": dt.datetime(2026, 1, 2, 3, 4, 5, 678000, dt.UTC), "YES": True,
    "A": [3, None, 1, 3], "XS": [2.5, math.nan, -0.5], "WORDS": ["b", "a", None, "b"],
    "M": {"a": 5, "k": 1}, "P": {"CITY": "Ulm", "ZIP": 89073},
    "JSON": '{"a": {"b c": [1, 2.50, null]}, "n": 1e5, "t": "x\\ny"}',
    "URL": "https://me@host.example:8443/a%20b/c?q=1%262&empty=&x#frag%C3%A9",
}  # fmt: skip
_EDGES: dict[str, Any] = {
    "I": -(2**31), "J": 0, "L": -(2**63), "X": math.nan, "Y": math.inf, "D": Decimal("9999.99"),
    "S": "", "U": "ǆ\ta  İ", "B": b"", "DAY": dt.date(1, 1, 1), "CLOCK": dt.time(0, 0),
    "TS": dt.datetime(1969, 12, 31, 23, 59, 59, 999000, dt.UTC), "YES": False,
    "A": [], "XS": [-math.inf, math.nan, None], "WORDS": [""], "M": {}, "P": {"CITY": None,
    "ZIP": -1}, "JSON": "[1, 1.0, \"a\", {\"x\": []}] ", "URL": "mailto:a@b.c",
}  # fmt: skip
ROWS: tuple[dict[str, Any], ...] = (_PLAIN, dict.fromkeys(_PLAIN), _EDGES)

OPERATORS = (
    "i + j", "i - 2147483647", "i * i", "i / j", "i % j", "-i", "-l", "l + 1", "l - 1", "l * 3",
    "l / j", "l % 7", "x + y", "x * y", "x / 0", "y / 0", "x % y", "x % 0", "y % 2", "-x", "-y",
    "x - i", "d + 1", "d * d", "d / 3", "d / 0", "d % 5", "d % 0", "-d", "d + x", "d - l", "i + d",
    "s + u", "i = 7", "i <> j", "x > y", "x = x", "x < 1", "y >= x", "d = -12.5", "d > i",
    "s < u", "s = ''", "i IS DISTINCT FROM j", "x IS NOT DISTINCT FROM x", "i BETWEEN j AND 7",
    "i NOT BETWEEN j AND 7", "i IN (7, j)", "i NOT IN (1, 2)", "s LIKE '%quick%'", "s LIKE ''",
    "u LIKE '_traße%'", "u LIKE '%!%' ESCAPE '!'", "yes AND i > 3", "yes OR i > 3", "NOT (i > 3)",
    "i IS NULL", "a[1]", "a[-1]", "a[0]", "a[9]", "m['k']", "m['z']", "p->city", "a = a",
    "ts > '2026-01-01'", "day = '2024-02-29'", "CASE WHEN i > 0 THEN d ELSE 1 END",
    "CASE i WHEN 7 THEN 'seven' WHEN j THEN 'j' END", "ARRAY[i, l]", "ARRAY[x, i]",
    "MAP('a' := i, 'b' := l)", "STRUCT(q := i, r := s)",
)  # fmt: skip

CASTS = (
    *(f"CAST('{text}' AS {type_})"
      for text in ("12", " -7 ", "+3", "1.5", "1e3", "", "x", "NaN", "1_0", "99999999999", "0x1f",
                   "-0", ".5", "5.")
      for type_ in ("INT", "BIGINT", "DOUBLE", "DECIMAL(5, 2)")),
    *(f"CAST('{text}' AS BOOLEAN)" for text in ("true", " T ", "YES", "no", "1", "", "y", "tr")),
    *(f"CAST({column} AS STRING)"
      for column in ("i", "l", "x", "y", "d", "day", "clock", "ts", "yes", "a", "xs", "words",
                     "m", "p", "x * 10000000000", "x / 10000000", "x * 0")),
    *(f"CAST({column} AS {type_})"
      for column in ("i", "l", "x", "y", "d")
      for type_ in ("INT", "BIGINT", "DOUBLE", "DECIMAL(4, 1)", "DECIMAL(38, 10)")),
    "CAST(a AS ARRAY<STRING>)", "CAST(m AS MAP<STRING, DOUBLE>)", "CAST(ts AS DATE)",
    "CAST(ts AS TIME)", "CAST(day AS TIMESTAMP)",
    *(f"CAST('{text}' AS TIMESTAMP)"
      for text in ("2026-01-02T03:04:05.678", "2026-01-02", "2026-01", "2026", "x", "",
                   "2026-13-01", "2026-01-02T03:04", "2026-01-02T03:04:05+01:00")),
    *(f"CAST('{text}' AS DATE)" for text in ("2026-01-02", "2026-02-30", "x", "2026-1-2")),
    *(f"CAST('{text}' AS TIME)" for text in ("03:04:05", "03:04", "24:00", "x", "03:04:05.123")),
)  # fmt: skip

NUMBERS = (
    "ABS(i)", "ABS(l)", "ABS(x)", "ABS(y)", "ABS(d)", "CEIL(x)", "CEIL(d)", "CEIL(y)", "FLOOR(x)",
    "FLOOR(d)", "FLOOR(y)", "FLOOR(i)", "ROUND(x)", "ROUND(-2.5e0)", "ROUND(-1.5e0)", "ROUND(y)",
    "ROUND(x, 1)", "ROUND(-0.25e0, 1)", "ROUND(1234.5e0, -2)", "ROUND(d)", "ROUND(d, 1)",
    "ROUND(-12.45, 1)", "ROUND(12.45, 1)", "ROUND(i)", "ROUND(1e300)",
    "ROUND(0.49999999999999994e0)",
    "TRUNC(x)", "TRUNC(-2.5e0)", "TRUNC(x, 1)", "TRUNC(d, 1)", "TRUNC(-12.78)", "TRUNC(y)",
    "TRUNC(1234.5e0, -2)", "SIGN(i)", "SIGN(x)", "SIGN(y)", "SIGN(l)", "SQRT(x)", "SQRT(y)",
    "SQRT(-1)", "CBRT(-8)", "EXP(1)", "EXP(1000)", "LN(0)", "LN(-1)", "LN(x)", "LN(i)", "LOG(10)",
    "LOG(2, 8)", "LOG(2, 0)", "LOG(0, 2)", "LOG(1, 2)", "LOG(2, -1)", "LOG(x, 2)", "LOG(2, x)",
    "LOG(-2, 4)", "POWER(2, 10)", "POWER(0, -1)", "POWER(-8, 0.5e0)", "POWER(x, 2)", "POWER(1, y)",
    "POWER(-2, 3)", "POWER(10, 400)", "POWER(-10, 401)", "SIN(x)", "COS(y)", "TAN(1)", "ASIN(2)",
    "ACOS(0.5e0)", "ATAN(y)", "ATAN2(1, y)", "ATAN2(y, x)", "SINH(1)", "SINH(-1000)", "COSH(1000)",
    "TANH(y)", "COT(0)", "COT(1)", "DEGREES(x)", "RADIANS(180)", "PI()",
    "GREATEST(i, j)", "GREATEST(x, y)", "LEAST(x, y)", "LEAST(d, 3)", "GREATEST(s, u)",
    "GREATEST(i, l)", "GREATEST(i, CAST(NULL AS INT), 3)", "LEAST(day, FROM_DAYS(0))",
    "GENERATE_SERIES(1, 4)", "GENERATE_SERIES(4, 1)", "GENERATE_SERIES(1, 10, 4)",
    "GENERATE_SERIES(1, 4, -1)", "GENERATE_SERIES(1, 4, 0)", "GENERATE_SERIES(4, 1, -2)",
    "GENERATE_SERIES(j, 2)", "GENERATE_SERIES(CAST(1 AS BIGINT), CAST(5 AS BIGINT), 2)",
    "GEO_DISTANCE(37.4439, -122.1663, 51.5257, -0.1122)",
    "GEO_DISTANCE(37.4439, -122.1663, 51.5257, -0.1122, 'MI')",
    "GEO_DISTANCE(37.4439, -122.1663, 51.5257, -0.1122, 'miles')",
    "GEO_DISTANCE(37.4439, -122.1663, 51.5257, -0.1122, 'yards')", "GEO_DISTANCE(91, 0, 0, 0)",
    "GEO_DISTANCE(CAST(NULL AS DOUBLE), 0, 0, 0)", "GEO_DISTANCE(0, 0, 0, CAST(NULL AS DOUBLE))",
    "GEO_DISTANCE(0, 0, 1, 1, s)",
)  # fmt: skip

TEXTS = (
    "UCASE(u)", "LCASE(u)", "INITCAP(s)", "INITCAP(u)", "LEN(s)", "LEN(u)", "LEN(b)", "TRIM(' a ')",
    "TRIM(u)", "TRIM(CHR(9) + CHR(10) + ' a' + CHR(160) + CHR(0))",
    "SUBSTRING(s, 5)", "SUBSTRING(s, -3)", "SUBSTRING(s, 0)", "SUBSTRING(s, 5, 2)",
    "SUBSTRING(s, 5, -1)", "SUBSTRING(s, -3, 2)", "SUBSTRING(s, -99, 2)", "SUBSTRING(u, 8, 1)",
    "SUBSTRING(b, 2, 2)", "SUBSTRING(b, -1)", "SUBSTRING(s, i)", "CONCAT(s, u)", "CONCAT(b, b)",
    "CONCAT_WS('-', s, u, s)", "CONCAT_WS(s, 'a', 'b')", "CONCAT_WS(b, b, b)", "LPAD(s, 5, 'xy')",
    "LPAD(s, 20, 'xy')", "LPAD(s, -1, 'x')", "LPAD(s, 3, '')", "RPAD(s, 20, 'xy')",
    "RPAD(s, 0, 'x')",
    "RPAD(b, 6, b)", "LPAD(b, 6, b)", "REPLACE(s, 'q', 'Q')", "REPLACE(s, '', 'Q')",
    "REPLACE(u, 'ß', 'ss')", "SPLIT(s, ' ')", "SPLIT(s, '')", "SPLIT('a.b..', '.')",
    "SPLIT(s, 'zz')",
    "SPLIT(b, b)", "SPLIT('x\\Ey\\Ez', '\\E')", "SPLIT_TO_MAP('a=1;b=2;a=3;c', ';', '=')",
    "SPLIT_TO_MAP('a=1=2', ';', '=')", "SPLIT_TO_MAP(s, ' ', 'u')", "INSTR(s, 'u')",
    "INSTR(s, 'u', 9)",
    "INSTR(s, 'o', -1)", "INSTR(s, 'o', -1, 2)", "INSTR(s, '')", "INSTR(u, 'Ω')",
    "INSTR(u, 'Ω', -1)",
    "INSTR('corporate floor', 'or', 3, 2)", "INSTR('corporate floor', 'or', -3, 2)",
    "INSTR(s, 'u', 99)",
    "INSTR(s, 'T', -13)", "CHR(75)", "CHR(128512)", "CHR(-1)", "CHR(1114112)", "CHR('\\u004b')",
    "CHR('\\ud83d\\ude00')", "CHR('K')", "MD5(s)", "MD5(u)", "MASK(s)", "MASK(u)",
    "MASK('Ab1-', 'Q', 'q', '9', '_')",
    "MASK('Ab1-', CAST(NULL AS STRING), 'q', CAST(NULL AS STRING), '_')", "MASK_LEFT(s, 3)",
    "MASK_RIGHT(s, 3)",
    "MASK_KEEP_LEFT(s, 3)", "MASK_KEEP_RIGHT(s, 3)", "MASK_LEFT(s, 99)", "MASK_KEEP_RIGHT(s, 99)",
    "TO_BYTES('4a4B', 'hex')", "TO_BYTES('0x4', 'hex')", "TO_BYTES('X''4a''', 'hex')",
    "TO_BYTES('4', 'hex')",
    "TO_BYTES('zz', 'hex')", "TO_BYTES(u, 'utf8')", "TO_BYTES(u, 'ascii')",
    "TO_BYTES('SGk=', 'base64')",
    "TO_BYTES('SGk', 'base64')", "TO_BYTES('SG k', 'base64')", "TO_BYTES('S', 'base64')",
    "TO_BYTES('x', 'latin')",
    "FROM_BYTES(b, 'hex')", "FROM_BYTES(b, 'utf8')", "FROM_BYTES(b, 'ascii')",
    "FROM_BYTES(b, 'base64')",
    "ENCODE('4A', 'hex', 'utf8')", "ENCODE(u, 'utf8', 'hex')", "ENCODE(u, 'utf8', 'base64')",
    "ENCODE(u, 'ascii', 'utf8')",
    "INT_FROM_BYTES(b)", "INT_FROM_BYTES(b, 'LITTLE_ENDIAN')", "BIGINT_FROM_BYTES(b)",
    "BIGINT_FROM_BYTES(CONCAT(b, b))", "DOUBLE_FROM_BYTES(CONCAT(b, b), 'little_endian')",
    "UUID(CONCAT(b, b, b, b))", "UUID(b)",
    "REGEXP_EXTRACT('(\\w+) (\\w+)', s)", "REGEXP_EXTRACT('(\\w+) (\\w+)', s, 2)",
    "REGEXP_EXTRACT('(\\w+)', s, 3)",
    "REGEXP_EXTRACT('(x)?T', s, 1)", "REGEXP_EXTRACT('(', s)", "REGEXP_EXTRACT('\\p{Upper}', s)",
    "REGEXP_EXTRACT('.', u)", "REGEXP_EXTRACT('(b$)', 'b' + CHR(10))",
    "REGEXP_REPLACE('ab' + CHR(13) + CHR(10), 'x*$', '-')", "REGEXP_EXTRACT('\\s\\S+\\Z', s)",
    "REGEXP_EXTRACT_ALL('\\p{L}+', u)", "REGEXP_EXTRACT('[\\s\\x{41}]', CHR(11))",
    "REGEXP_SPLIT_TO_ARRAY('a1b' + CHR(10), '(\\d|$)')",
    "REGEXP_EXTRACT('(?<n>q.)', s, 1)", "REGEXP_EXTRACT('(?i)fox$', s)",
    "REGEXP_EXTRACT('\\Q.\\E', s)",
    "REGEXP_EXTRACT_ALL('[a-z]+', s)", "REGEXP_EXTRACT_ALL('(.)u', s, 1)",
    "REGEXP_EXTRACT_ALL('z', s)",
    "REGEXP_EXTRACT_ALL('z*', 'azz')", "REGEXP_REPLACE(s, '[aeiou]', '<$0>')",
    "REGEXP_REPLACE(s, '(\\w)(\\w)', '$2$1')",
    "REGEXP_REPLACE(s, 'q', '$')", "REGEXP_REPLACE(s, 'q', '\\$')", "REGEXP_REPLACE(s, '', '-')",
    "REGEXP_REPLACE(s, '[', '-')",
    "REGEXP_REPLACE(s, '(T)', '$12')", "REGEXP_SPLIT_TO_ARRAY(s, ' ')",
    "REGEXP_SPLIT_TO_ARRAY(s, '')",
    "REGEXP_SPLIT_TO_ARRAY('1a2b3', '\\d')", "REGEXP_SPLIT_TO_ARRAY(s, '(u|o)')",
    "REGEXP_SPLIT_TO_ARRAY('abc', 'x*')",
    "COALESCE(s, 'none')", "IFNULL(i, 1)", "NULLIF(i, 7)", "NULLIF(x, x)", "NULLIF(s, '')",
)  # fmt: skip

COLLECTIONS = (
    "ARRAY_CONCAT(a, a)", "ARRAY_CONCAT(a, ARRAY[1])", "ARRAY_CONTAINS(a, 3)",
    "ARRAY_CONTAINS(a, CAST(NULL AS INT))",
    "ARRAY_CONTAINS(xs, x)", "ARRAY_DISTINCT(a)", "ARRAY_DISTINCT(xs)",
    "ARRAY_DISTINCT(ARRAY[m, m])",
    "ARRAY_EXCEPT(a, ARRAY[3])", "ARRAY_EXCEPT(words, words)",
    "ARRAY_INTERSECT(a, ARRAY[3, 1, 3])", "ARRAY_UNION(a, ARRAY[9, 3])",
    "ARRAY_JOIN(a)", "ARRAY_JOIN(words, '/')", "ARRAY_JOIN(xs, CAST(NULL AS STRING))",
    "ARRAY_LENGTH(a)", "ARRAY_MAX(a)", "ARRAY_MIN(a)",
    "ARRAY_MAX(xs)", "ARRAY_MIN(xs)", "ARRAY_MAX(words)", "ARRAY_REMOVE(a, 3)",
    "ARRAY_REMOVE(a, CAST(NULL AS INT))",
    "ARRAY_SORT(a)", "ARRAY_SORT(a, 'DESC')", "ARRAY_SORT(xs)", "ARRAY_SORT(xs, 'desc')",
    "ARRAY_SORT(words, 'x')",
    "AS_MAP(words, a)", "AS_MAP(ARRAY['x', 'y'], a)", "ELT(2, 'a', s)", "ELT(0, 'a')",
    "ELT(9, 'a')", "ELT(i, 'a')",
    "ENTRIES(m, true)", "ENTRIES(m, false)", "FIELD(s, 'a', '')", "FIELD('b', 'a', 'b')",
    "MAP_KEYS(m)", "MAP_VALUES(m)",
    "MAP_UNION(m, MAP('k' := 9, 'z' := 1))", "MAP_UNION(m, m)", "SLICE(a, 1, 2)",
    "SLICE(a, 2, 99)", "SLICE(a, 0, 2)",
    "SLICE(a, 3, 2)", "SLICE(a, 4, 2)", "SLICE(a, CAST(NULL AS INT), 2)",
    "SLICE(a, 2, CAST(NULL AS INT))", "SLICE(a, 1, -1)",
    "FILTER(a, e => e > 1)", "FILTER(m, (k, v) => v > 1)", "FILTER(words, w => w IS NULL)",
    "TRANSFORM(a, e => e * i)",
    "TRANSFORM(words, w => UCASE(w))", "TRANSFORM(m, (k, v) => k + '!', (k, v) => v + j)",
    "TRANSFORM(m, (k, v) => 'same', (k, v) => v)",
    "TRANSFORM(a, e => TRANSFORM(a, f => e + f))", "REDUCE(a, 0, (r, e) => r + COALESCE(e, 100))",
    "REDUCE(a, 0, (r, e) => r + e)",
    "REDUCE(m, '', (r, k, v) => r + k)", "REDUCE(words, CAST(NULL AS STRING), (r, e) => e)",
    "AS_VALUE(s)",
)  # fmt: skip

JSON = (
    *(f"EXTRACTJSONFIELD(json, '{path}')"
      for path in ("$", "$.a", '$.a["b c"]', '$.a["b c"][1]', '$.a["b c"][2]', "$.n", "$.t", "$.z",
      "$.a.b", "a", "",
                   "$.", "$[0]", "$[1]", "$[3].x", "$[9]", "$[-1]", "$.*", "$..a", "$[x]")),
    "EXTRACTJSONFIELD('{\"a\": 1.23450}', '$.a')", "EXTRACTJSONFIELD('{bad', '$.a')",
    "EXTRACTJSONFIELD('{} x', '$')",
    "EXTRACTJSONFIELD('{\"a\": 1, \"a\": 2}', '$.a')", "EXTRACTJSONFIELD(s, '$')",
    "IS_JSON_STRING(json)", "IS_JSON_STRING(s)", "IS_JSON_STRING('nul')", "IS_JSON_STRING('01')",
    "IS_JSON_STRING('NaN')",
    "IS_JSON_STRING('\"\\u00e9\"')", "JSON_ARRAY_CONTAINS(json, 1)",
    "JSON_ARRAY_CONTAINS(json, 1.0e0)", "JSON_ARRAY_CONTAINS(json, 'a')",
    "JSON_ARRAY_CONTAINS('[null]', CAST(NULL AS INT))", "JSON_ARRAY_CONTAINS('[true]', true)",
    "JSON_ARRAY_CONTAINS('[1.50]', 1.5)",
    "JSON_ARRAY_LENGTH(json)", "JSON_ARRAY_LENGTH(s)", "JSON_ARRAY_LENGTH('[1] x')",
    "JSON_CONCAT(json, json)", "JSON_CONCAT('[1]', json)",
    "JSON_CONCAT('1', '\"b\"')", "JSON_CONCAT('{\"a\":1}', '{\"a\":2, \"c\": 1.0}')",
    "JSON_CONCAT('{', '1')", "JSON_ITEMS(json)",
    "JSON_ITEMS('[1.0, 1e3, \"\\u0001\\u00e9\"]')", "JSON_KEYS(json)", "JSON_KEYS('{\"a\":1} x')",
    "JSON_RECORDS(json)", "JSON_RECORDS(s)",
    *(f"TO_JSON_STRING({column})"
      for column in ("i", "l", "x", "y", "d", "s", "u", "b", "day", "clock", "ts", "yes", "a",
      "xs", "words", "m", "p", "json",
                     "x * 1000000000")),
)  # fmt: skip

_PATTERNS = (
    "yyyy-MM-dd", "d MMM yyyy", "EEE, dd MMMM uu", "EEEE D", "yyyyMMddHHmmssSSS", "h:mm a",
    "KK:mm a", "kk:mm", "HH:mm:ss.SSSSSS",
    "yyyy-MM-dd''T''HH:mm:ssX", "XX XXX XXXX XXXXX", "x xx xxx", "Z ZZZZ ZZZZZ", "O OOOO", "VV z",
    "QQ QQQ QQQQ q", "G GGGG",
    "YYYY-ww-e", "W", "n N A", "yy y yyyyy", "MMMMM EEEEE", "''quoted'' ''''", "[HH:mm][ss", "]",
    "''open", "{", "yyyyyyyyyyyyyyyyyyyyy",
    "MMMMMM", "R", "", "ü.,/", "ddd", "aa",
)  # fmt: skip
_READ = (
    ("2026-02-30", "yyyy-MM-dd"), ("2026-02-32", "yyyy-MM-dd"), ("20260102030405",
    "yyyyMMddHHmmss"), ("26-1-2", "yy-M-d"),
    ("2 jan 2026", "d MMM yyyy"), ("2 JANUARY 2026", "d MMMM yyyy"), ("Fri 2026-01-02",
    "EEE yyyy-MM-dd"), ("Mon 2026-01-02", "EEE yyyy-MM-dd"),
    ("2026-01-02 24:00", "yyyy-MM-dd HH:mm"), ("2026-01-02 24:01", "yyyy-MM-dd HH:mm"),
    ("12:30 am", "hh:mm a"), ("12:30 PM", "h:mm a"),
    ("13:30 PM", "h:mm a"), ("2026-01-02T03:04:05.678Z", "yyyy-MM-dd''T''HH:mm:ss.SSSX"),
    ("2026-01-02T03:04:05+01:30", "yyyy-MM-dd''T''HH:mm:ssXXX"),
    ("2026-01-02 03:04 Europe/Berlin", "yyyy-MM-dd HH:mm VV"), ("2026-01-02 03:04 PST",
    "yyyy-MM-dd HH:mm z"), ("2026-060", "yyyy-DDD"),
    ("2026-366", "yyyy-DDD"), ("2026", "yyyy"), ("12026", "yyyy"), ("02",
    "MM"), ("2026-01-02", "yyyy-MM-dd[ HH:mm]"),
    ("2026-01-02 03:04", "yyyy-MM-dd[ HH:mm]"), ("03:04", "HH:mm"), ("03", "HH"), ("04:05.5",
    "mm:ss.S"), ("x", "yyyy"), ("", ""),
    ("2026-1-02", "yyyy-MM-dd"), ("2026-01-02 +0100", "yyyy-MM-dd xx"), ("1767323045678", "A"),
    ("3600000", "A"), ("1999 AD", "y G"),
    ("2026-03-29 02:30", "yyyy-MM-dd HH:mm"), ("2026-10-25 02:30", "yyyy-MM-dd HH:mm"), ("25",
    "HH"), ("0", "k"),
)  # fmt: skip

TIMES = (
    *(f"FORMAT_TIMESTAMP(ts, '{pattern}', 'Europe/Berlin')" for pattern in _PATTERNS),
    *(f"STRINGTOTIMESTAMP('{text}', '{pattern}', 'Europe/Berlin')" for text, pattern in _READ),
    *(f"PARSE_TIMESTAMP('{text}', '{pattern}')" for text, pattern in _READ[:8]),
    *(f"FORMAT_TIMESTAMP(ts, 'yyyy-MM-dd HH:mm:ss VV XXX z', '{zone}')"
      for zone in ("UTC", "Z", "+0130", "-07:30", "UTC+2", "GMT-3", "+19", "America/New_York",
      "nowhere", "+1")),
    "FORMAT_DATE(day, 'dd/MM/yyyy')", "FORMAT_TIME(clock, 'h a mm')",
    "PARSE_DATE('02.01.2026', 'dd.MM.yyyy')",
    "PARSE_DATE('02.01', 'dd.MM')", "PARSE_DATE('29.02', 'dd.MM')",
    "PARSE_TIME('130509', 'HHmmss')", "PARSE_TIME('x', 'HHmmss')",
    "PARSE_TIME('1:05:09.123', 'H:mm:ss.SSS')", "DATETOSTRING(-1, 'yyyy-MM-dd')",
    "STRINGTODATE('1969-12-31', 'yyyy-MM-dd')",
    "TIMESTAMPTOSTRING(-1, 'yyyy-MM-dd HH:mm:ss.SSS')",
    "TIMESTAMPTOSTRING(0, 'HH:mm', 'Asia/Tokyo')", "FROM_DAYS(j)", "FROM_DAYS(-1)",
    "FROM_UNIXTIME(-1)", "UNIX_DATE(day)", "UNIX_TIMESTAMP(ts)", "DATEADD(DAYS, 366, day)",
    "DATESUB(HOURS, 25, PARSE_DATE('2026', 'yyyy'))",
    "DATEADD(MINUTES, j, PARSE_DATE('2026', 'yyyy'))", "TIMEADD(HOURS, 30, clock)",
    "TIMESUB(SECONDS, 10, clock)", "TIMEADD(MILLISECONDS, -1, clock)",
    "TIMESTAMPADD(DAYS, 366, ts)", "TIMESTAMPSUB(MILLISECONDS, i, ts)",
    "CONVERT_TZ(ts, 'Europe/Berlin', 'America/New_York')",
    "CONVERT_TZ(ts, '+0200', '+0500')", "CONVERT_TZ(ts, 'x', 'UTC')",
)  # fmt: skip

_URLS = (
    "http://h/p?a=1#f", "http://h:8/", "http://h", "http://u:p@h:80/x/../y?", "http://[::1]:8/x",
    "http://h_1/p", "http://h:x/p", "//h/p",
    "p/q?r", "http://h/a b", "http://h/%zz", "http:", "", "http://h/ü?ö=ß", "http://1.2.3.4:5/",
    "HTTP://H/", "http:///p", "a:b:c",
    "1a:b", "http://h/?a&b=1", "http://h./", "http://h?x=y+z%2B",
)  # fmt: skip
URLS = (
    *(f"URL_EXTRACT_{part}({url})"
      for part in ("FRAGMENT", "HOST", "PATH", "PORT", "PROTOCOL", "QUERY")
      for url in ("url", *(f"'{url}'" for url in _URLS))),
    *(f"URL_EXTRACT_PARAMETER(url, '{name}')" for name in ("q", "empty", "x", "z")),
    "URL_EXTRACT_PARAMETER('http://h?x=y+z%2B', 'x')",
    "URL_ENCODE_PARAM(s)", "URL_ENCODE_PARAM(u)", "URL_ENCODE_PARAM('a~b*c-d_e.f/g&')",
    "URL_DECODE_PARAM('a+b%20c%C3%A9')",
    "URL_DECODE_PARAM('%')", "URL_DECODE_PARAM('%zz')", "URL_DECODE_PARAM(s)",
)  # fmt: skip

EXPRESSIONS = (*OPERATORS, *CASTS, *NUMBERS, *TEXTS, *COLLECTIONS, *JSON, *TIMES, *URLS)
