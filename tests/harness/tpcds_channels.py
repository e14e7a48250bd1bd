"""The three ways to sell of TPC-DS: their tables, prefixes, and how a line becomes a return."""

from __future__ import annotations

from dataclasses import dataclass

ENTITIES = ("customer", "cdemo", "hdemo", "addr")


@dataclass(frozen=True, slots=True)
class Channel:
    """Sales and returns of one way to sell, with the prefixes of their columns.

    Attributes:
        order: what the number of an order is called, without prefix.
        returned: columns of a return, without prefix, and the expressions over its line.
    """

    sales: str
    line: str
    returns: str
    back: str
    order: str
    returned: dict[str, str]

    @property
    def ships(self) -> bool:
        """Whether lines have costs of shipping."""
        return self.order == "order_number"


def _returned(line: str, amount: str, **more: str) -> dict[str, str]:
    """Give what all returns have: two thirds of the line at most, two to sixty days later."""
    price = f"coalesce({line}_sales_price, 10)"
    return {
        "item_sk": f"{line}_item_sk",
        "returned_date_sk": f"{line}_sold_date_sk + CAST(2 + hash({line}_item_sk) % 59 AS INT)",
        "return_quantity": f"1 + {line}_quantity // 3",
        amount: f"{price} * (1 + {line}_quantity // 3)",
        "return_tax": f"{price} * 0.08",
        "return_amt_inc_tax": f"{price} * (1.08 + {line}_quantity // 3)",
        "fee": "25.50",
        "return_ship_cost": f"{price} * 0.3",
        "refunded_cash": f"{price} * (1 + {line}_quantity // 6)",
        "reversed_charge": f"{price} * 0.5",
        "net_loss": f"25.50 + {price} * 0.38",
        **more,
    }


def _senders(line: str) -> dict[str, str]:
    """Give who is refunded: who was billed, and, at every other line, returned it, too."""
    found = {f"refunded_{name}_sk": f"{line}_bill_{name}_sk" for name in ENTITIES}
    for name in ENTITIES:
        found[f"returning_{name}_sk"] = (
            f"CASE WHEN {line}_item_sk % 2 = 0 THEN {line}_bill_{name}_sk "
            f"ELSE {line}_ship_{name}_sk END"
        )
    return found


def _reason(line: str, order: str) -> str:
    return f"CAST(1 + hash({line}_{order}, {line}_item_sk) % 17 AS INT)"


CHANNELS = (
    Channel(
        "store_sales",
        "ss",
        "store_returns",
        "sr",
        "ticket_number",
        _returned(
            "ss",
            "return_amt",
            return_time_sk="ss_sold_time_sk",
            **{f"{name}_sk": f"ss_{name}_sk" for name in (*ENTITIES, "store")},
            reason_sk=_reason("ss", "ticket_number"),
            ticket_number="ss_ticket_number",
            store_credit="12.25",
        ),
    ),
    Channel(
        "catalog_sales",
        "cs",
        "catalog_returns",
        "cr",
        "order_number",
        _returned(
            "cs",
            "return_amount",
            returned_time_sk="cs_sold_time_sk",
            **_senders("cs"),
            **{
                f"{name}_sk": f"cs_{name}_sk"
                for name in ("call_center", "catalog_page", "ship_mode", "warehouse")
            },
            reason_sk=_reason("cs", "order_number"),
            order_number="cs_order_number",
            store_credit="12.25",
        ),
    ),
    Channel(
        "web_sales",
        "ws",
        "web_returns",
        "wr",
        "order_number",
        _returned(
            "ws",
            "return_amt",
            returned_time_sk="ws_sold_time_sk",
            **_senders("ws"),
            web_page_sk="ws_web_page_sk",
            reason_sk=_reason("ws", "order_number"),
            order_number="ws_order_number",
            account_credit="12.25",
        ),
    ),
)
