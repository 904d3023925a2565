"""Arrays and maps, and lambdas over them."""

from __future__ import annotations

from functools import partial

from headwater.sql.functions.function import Function, scalar

_collection = partial(scalar, "COLLECTION")
_lambda = partial(scalar, "LAMBDA")
_OF_TWO = "(left ARRAY<T>, right ARRAY<T>) ARRAY<T>"

FUNCTIONS: tuple[Function, ...] = (
    _collection("ARRAY_CONCAT", "The elements of one array and then those of another.", _OF_TWO),
    _collection(
        "ARRAY_CONTAINS", "Whether a value is in an array.", "(array ARRAY<T>, value T) BOOLEAN"
    ),
    _collection(
        "ARRAY_DISTINCT",
        "Each element once, in the order in which they first come.",
        "(array ARRAY<T>) ARRAY<T>",
    ),
    _collection(
        "ARRAY_EXCEPT", "Each element of the first array that is not in the other.", _OF_TWO
    ),
    _collection("ARRAY_INTERSECT", "Each element that is in both arrays.", _OF_TWO),
    _collection(
        "ARRAY_JOIN",
        "The elements as one text, with a delimiter (by default a comma) between them.",
        "(array ARRAY<T>, [delimiter STRING]) STRING",
    ),
    _collection("ARRAY_LENGTH", "How many elements an array has.", "(array ARRAY<T>) INTEGER"),
    _collection("ARRAY_MAX", "The greatest element that is not null.", "(array ARRAY<T>) T"),
    _collection("ARRAY_MIN", "The least element that is not null.", "(array ARRAY<T>) T"),
    _collection(
        "ARRAY_REMOVE",
        "The elements that are not this value.",
        "(array ARRAY<T>, value T) ARRAY<T>",
    ),
    _collection(
        "ARRAY_SORT",
        "The elements in order, ASC (the default) or DESC, nulls last.",
        "(array ARRAY<T>, [direction STRING]) ARRAY<T>",
    ),
    _collection("ARRAY_UNION", "Each element of both arrays once.", _OF_TWO),
    _collection(
        "AS_MAP",
        "A map of keys and values that are at the same place in two arrays.",
        "(keys ARRAY<STRING>, values ARRAY<V>) MAP<STRING, V>",
    ),
    _collection("AS_VALUE", "A copy of a key column, to have it in the value too.", "(key T) T"),
    _collection(
        "ELT",
        "The text at a place of the list, counted from 1.",
        "(n INTEGER, texts STRING...) STRING",
    ),
    _collection(
        "ENTRIES",
        "The entries of a map as an array of structs, sorted by key if so told.",
        "(map MAP<STRING, V>, sorted BOOLEAN) ARRAY<STRUCT<K STRING, V V>>",
    ),
    _collection(
        "FIELD",
        "The place of a text in the list, counted from 1; 0 if it is not there.",
        "(text STRING, texts STRING...) INTEGER",
    ),
    _collection("MAP_KEYS", "The keys of a map.", "(map MAP<K, V>) ARRAY<K>"),
    _collection(
        "MAP_UNION",
        "The entries of both maps; where both have a key, the second's.",
        "(left MAP<K, V>, right MAP<K, V>) MAP<K, V>",
    ),
    _collection("MAP_VALUES", "The values of a map.", "(map MAP<K, V>) ARRAY<V>"),
    _collection(
        "SLICE",
        "The elements from one place to another, counted from 1, both included.",
        "(array ARRAY<T>, from INTEGER, to INTEGER) ARRAY<T>",
    ),
    _lambda(
        "FILTER",
        "The elements or entries for which a lambda is true.",
        "(array ARRAY<T>, keep LAMBDA<T => BOOLEAN>) ARRAY<T>",
        "(map MAP<K, V>, keep LAMBDA<K, V => BOOLEAN>) MAP<K, V>",
    ),
    _lambda(
        "REDUCE",
        "What a lambda makes of a first state and one element or entry after the other.",
        "(array ARRAY<T>, state S, step LAMBDA<S, T => S>) S",
        "(map MAP<K, V>, state S, step LAMBDA<S, K, V => S>) S",
    ),
    _lambda(
        "TRANSFORM",
        "What a lambda makes of each element, or two of each entry's key and value.",
        "(array ARRAY<T>, make LAMBDA<T => R>) ARRAY<R>",
        "(map MAP<K, V>, key LAMBDA<K, V => R>, value LAMBDA<K, V => S>) MAP<R, S>",
    ),
)
