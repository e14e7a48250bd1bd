"""The tables of TPC-DS as its specification declares them, and its query texts.

A column is its name and a sign for its type: ``#`` whole number, ``$`` amount, ``@`` date, ``%`` small
decimal, none for text; a table's first columns are its key. Identifiers are whole numbers.
"""

from __future__ import annotations

from importlib import resources

_TYPES = {"#": "INT", "$": "DECIMAL(7,2)", "@": "DATE", "%": "DECIMAL(5,2)", "&": "DECIMAL(15,2)"}
_SALES = """quantity# wholesale_cost$ list_price$ sales_price$ ext_discount_amt$ ext_sales_price$
    ext_wholesale_cost$ ext_list_price$ ext_tax$ coupon_amt$"""
_PLACE = (
    "street_number street_name street_type suite_number city county state zip country gmt_offset%"
)
_RETURNED = "fee$ return_ship_cost$ refunded_cash$ reversed_charge$"
_BUYERS = """bill_customer_sk# bill_cdemo_sk# bill_hdemo_sk# bill_addr_sk# ship_customer_sk#
    ship_cdemo_sk# ship_hdemo_sk# ship_addr_sk#"""
_SENDERS = """refunded_customer_sk# refunded_cdemo_sk# refunded_hdemo_sk# refunded_addr_sk#
    returning_customer_sk# returning_cdemo_sk# returning_hdemo_sk# returning_addr_sk#"""
_SHIPPED = "ext_ship_cost$ net_paid$ net_paid_inc_tax$ net_paid_inc_ship$ net_paid_inc_ship_tax$ net_profit$"
_CHANNELS = "dmail email catalog tv radio press event demo details"

# Table -> (prefix of its columns, number of key columns, columns).
_TABLES = {
    "call_center": (
        "cc",
        1,
        f"""call_center_sk# call_center_id rec_start_date@ rec_end_date@ closed_date_sk#
        open_date_sk# name class employees# sq_ft# hours manager mkt_id# mkt_class mkt_desc
        market_manager division# division_name company# company_name {_PLACE} tax_percentage%""",
    ),
    "catalog_page": (
        "cp",
        1,
        """catalog_page_sk# catalog_page_id start_date_sk# end_date_sk# department catalog_number#
        catalog_page_number# description type""",
    ),
    "catalog_returns": (
        "cr",
        0,
        f"""returned_date_sk# returned_time_sk# item_sk# {_SENDERS} call_center_sk#
        catalog_page_sk# ship_mode_sk# warehouse_sk# reason_sk# order_number# return_quantity#
        return_amount$ return_tax$ return_amt_inc_tax$ {_RETURNED} store_credit$ net_loss$""",
    ),
    "catalog_sales": (
        "cs",
        0,
        f"""sold_date_sk# sold_time_sk# ship_date_sk# {_BUYERS} call_center_sk# catalog_page_sk#
        ship_mode_sk# warehouse_sk# item_sk# promo_sk# order_number# {_SALES} {_SHIPPED}""",
    ),
    "customer": (
        "c",
        1,
        """customer_sk# customer_id current_cdemo_sk# current_hdemo_sk# current_addr_sk#
        first_shipto_date_sk# first_sales_date_sk# salutation first_name last_name
        preferred_cust_flag birth_day# birth_month# birth_year# birth_country login email_address
        last_review_date_sk#""",
    ),
    "customer_address": ("ca", 1, f"address_sk# address_id {_PLACE} location_type"),
    "customer_demographics": (
        "cd",
        1,
        """demo_sk# gender marital_status education_status purchase_estimate# credit_rating
        dep_count# dep_employed_count# dep_college_count#""",
    ),
    "date_dim": (
        "d",
        1,
        """date_sk# date_id date@ month_seq# week_seq# quarter_seq# year# dow# moy# dom# qoy#
        fy_year# fy_quarter_seq# fy_week_seq# day_name quarter_name holiday weekend
        following_holiday first_dom# last_dom# same_day_ly# same_day_lq# current_day current_week
        current_month current_quarter current_year""",
    ),
    "household_demographics": (
        "hd",
        1,
        "demo_sk# income_band_sk# buy_potential dep_count# vehicle_count#",
    ),
    "income_band": ("ib", 1, "income_band_sk# lower_bound# upper_bound#"),
    "inventory": ("inv", 3, "date_sk# item_sk# warehouse_sk# quantity_on_hand#"),
    "item": (
        "i",
        1,
        """item_sk# item_id rec_start_date@ rec_end_date@ item_desc current_price$ wholesale_cost$
        brand_id# brand class_id# class category_id# category manufact_id# manufact size
        formulation color units container manager_id# product_name""",
    ),
    "promotion": (
        "p",
        1,
        f"""promo_sk# promo_id start_date_sk# end_date_sk# item_sk# cost& response_target#
        promo_name {" ".join(f"channel_{name}" for name in _CHANNELS.split())} purpose
        discount_active""",
    ),
    "reason": ("r", 1, "reason_sk# reason_id reason_desc"),
    "ship_mode": ("sm", 1, "ship_mode_sk# ship_mode_id type code carrier contract"),
    "store": (
        "s",
        1,
        f"""store_sk# store_id rec_start_date@ rec_end_date@ closed_date_sk# store_name
        number_employees# floor_space# hours manager market_id# geography_class market_desc
        market_manager division_id# division_name company_id# company_name {_PLACE}
        tax_percentage%""",
    ),
    "store_returns": (
        "sr",
        0,
        f"""returned_date_sk# return_time_sk# item_sk# customer_sk# cdemo_sk# hdemo_sk# addr_sk#
        store_sk# reason_sk# ticket_number# return_quantity# return_amt$ return_tax$
        return_amt_inc_tax$ {_RETURNED} store_credit$ net_loss$""",
    ),
    "store_sales": (
        "ss",
        0,
        f"""sold_date_sk# sold_time_sk# item_sk# customer_sk# cdemo_sk# hdemo_sk# addr_sk#
        store_sk# promo_sk# ticket_number# {_SALES} net_paid$ net_paid_inc_tax$ net_profit$""",
    ),
    "time_dim": (
        "t",
        1,
        "time_sk# time_id time# hour# minute# second# am_pm shift sub_shift meal_time",
    ),
    "warehouse": ("w", 1, f"warehouse_sk# warehouse_id warehouse_name warehouse_sq_ft# {_PLACE}"),
    "web_page": (
        "wp",
        1,
        """web_page_sk# web_page_id rec_start_date@ rec_end_date@ creation_date_sk#
        access_date_sk# autogen_flag customer_sk# url type char_count# link_count# image_count#
        max_ad_count#""",
    ),
    "web_returns": (
        "wr",
        0,
        f"""returned_date_sk# returned_time_sk# item_sk# {_SENDERS} web_page_sk# reason_sk#
        order_number# return_quantity# return_amt$ return_tax$ return_amt_inc_tax$ {_RETURNED}
        account_credit$ net_loss$""",
    ),
    "web_sales": (
        "ws",
        0,
        f"""sold_date_sk# sold_time_sk# ship_date_sk# item_sk# {_BUYERS} web_page_sk# web_site_sk#
        ship_mode_sk# warehouse_sk# promo_sk# order_number# {_SALES} {_SHIPPED}""",
    ),
    "web_site": (
        "web",
        1,
        f"""site_sk# site_id rec_start_date@ rec_end_date@ name open_date_sk# close_date_sk# class
        manager mkt_id# mkt_class mkt_desc market_manager company_id# company_name {_PLACE}
        tax_percentage%""",
    ),
}


def _column(prefix: str, text: str, *, is_key: bool) -> dict[str, object]:
    sign = text[-1]
    name = f"{prefix}_{text.rstrip('#$@%&')}"
    return {"name": name, "type": _TYPES.get(sign, "STRING"), "nullable": not is_key}


SCHEMAS = {
    table: [_column(prefix, text, is_key=place < keys) for place, text in enumerate(texts.split())]
    for table, (prefix, keys, texts) in _TABLES.items()
}


def queries() -> dict[str, str]:
    """The texts by name: q1 to q99, those of two statements as q14a and q14b."""
    folder = resources.files("pysail").joinpath("data/tpcds/queries")
    found = {}
    for number in range(1, 100):
        text = folder.joinpath(f"q{number}.sql").read_text()
        texts = [part.strip() for part in text.split(";") if part.strip()]
        for place, part in enumerate(texts):
            found[f"q{number}{'ab'[place] if len(texts) > 1 else ''}"] = part
    return found
