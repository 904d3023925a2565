"""The checks of all orders, side by side, and the aggregator of what they say.

    headwater run examples/orders/program.py

Each check is a function here, and could be a program of its own: it takes orders and gives
verdicts. Together they need one JVM instead of four.
"""

from headwater.streams import (
    App,
    KStream,
    collect_set,
    count,
    expr,
    latest_by_offset,
    lit,
    struct,
    sum,
    tumbling,
)

# Each topic has one who writes it.
ORDERS = "orders"  # the orders service
DELIVERIES = "warehouse-deliveries"  # the warehouse
VALIDATIONS = "order-validations"  # the checks
OUTCOMES = "order-outcomes"  # the aggregator

FRAUD, INVENTORY, DETAILS = "FRAUD_CHECK", "INVENTORY_CHECK", "ORDER_DETAILS_CHECK"
CHECKS = 3

HOURLY_LIMIT = 2_000_00
"""What a customer may order for within an hour, in cents."""


def fraud(created: KStream) -> KStream:
    """Return a verdict for each order, by what its customer ordered in this hour up to it."""
    # The one who writes orders gives them their times, so that none is late by a day. One that
    # is would get no verdict, and be without an outcome for ever.
    hours = created.group_by("customer").windowed_by(tumbling("1 hour").grace("1 day"))
    ordered = hours.aggregate(
        order=latest_by_offset("order"), worth=sum(expr("quantity * price")), emit="record"
    )
    return _verdicts(ordered.to_stream(), FRAUD, f"worth <= {HOURLY_LIMIT}")


def details(created: KStream) -> KStream:
    """Return a verdict for each order, by whether it makes sense at all."""
    sensible = "customer <> '' AND product <> '' AND quantity > 0 AND price >= 0"
    return _verdicts(created, DETAILS, sensible)


def inventory(created: KStream, deliveries: KStream, failed: KStream) -> KStream:
    """Return a verdict for each order, which holds what it wants if that is in stock.

    The stock follows from what happened to it: deliveries, orders that took from it, and those
    that failed another check, and give it back.
    """
    nobody = "CAST(NULL AS string)"
    holders = failed.filter(f"NOT array_contains(failed, '{INVENTORY}')")
    movements = _movements(created, order="order", stock="0L").merge(
        _movements(deliveries, order=nobody, stock="quantity"),
        _movements(holders, order=nobody, stock="quantity"),
    )
    fits = "new.quantity > 0 AND new.quantity <= old.stock"
    stock = movements.group_by("product").reduce(
        product="new.product",
        order="new.order",
        quantity="new.quantity",
        held=f"new.order IS NOT NULL AND {fits}",
        stock=f"""CASE WHEN new.order IS NULL THEN old.stock + new.quantity
                       WHEN {fits} THEN old.stock - new.quantity ELSE old.stock END""",
        emit="record",
    )
    return _verdicts(stock.to_stream().filter("order IS NOT NULL"), INVENTORY, "held")


def aggregator(validations: KStream) -> KStream:
    """Return the outcome of each order, once all checks have answered: then it is the only one."""
    answers = validations.group_by_key().aggregate(
        checks=count(), failed=collect_set(expr("CASE WHEN result = 'FAIL' THEN check END"))
    )
    complete = answers.to_stream().filter(f"checks = {CHECKS}")
    failed = complete.map_values(failed="cast(array_compact(failed) AS array<string>)")
    return failed.map_values(
        "*", state="CASE WHEN size(failed) = 0 THEN 'VALIDATED' ELSE 'FAILED' END"
    )


def _movements(records: KStream, *, order: str, stock: str) -> KStream:
    """What changes the stock, as it would be if nothing had happened to its product before."""
    return records.map_values(
        product="product", order=order, quantity="quantity", held="false", stock=stock
    )


def _verdicts(judged: KStream, check: str, passes: str) -> KStream:
    result = expr(f"CASE WHEN {passes} THEN 'PASS' ELSE 'FAIL' END")
    return judged.map(key="order", value=struct(check=lit(check), result=result))


app = App("orders", guarantee="exactly_once")
orders = app.stream(
    ORDERS,
    value_type="state string, customer string, product string, quantity bigint, price bigint, "
    "failed array<string>",
).map_values("*", order="key")
created = orders.filter("state = 'CREATED'")
failed = orders.filter("state = 'FAILED'")
deliveries = app.stream(DELIVERIES, value_type="product string, quantity bigint")

validations = fraud(created).merge(inventory(created, deliveries, failed), details(created))
aggregator(validations.through(VALIDATIONS)).to(OUTCOMES)
