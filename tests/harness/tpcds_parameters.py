"""The texts of TPC-DS with parameters that occur in the rows of `tests.harness.tpcds_base`.

The parameters of the texts are of scale 1: most name values that rows of scale 0.01 do not have, and what
they leave is so little that batches hardly change it. Values are replaced by ones that
occur, and equalities of months and years by ranges where too few rows are left. No table, join, grouping,
subquery or function comes or goes.
"""

from __future__ import annotations

from tests.harness.tpcds import queries

# Query -> (what the text says, what it says here); every place where it says so.
_DAYS_OF_RETURNS = (
    "'1998-12-19', '1999-01-16', '1999-11-13', '1999-12-25', '2000-01-15', '2000-02-05', "
    "'2000-11-18', '2000-12-16', '2001-01-20', '2002-01-12'"
)
_REPLACED: dict[str, tuple[tuple[str, str], ...]] = {
    "q3": (("i_manufact_id = 445", "i_manufact_id = 28"),),
    "q4": (
        ("= 2001 + 1", "= 1998 + 1"),
        ("= 2001", "= 1998"),
    ),
    "q7": (("d_year = 2001", "d_year between 1998 and 2002"),),
    "q8": (
        ("'19100'", "'31904'"),
        ("d_qoy = 1", "d_qoy = 4"),
    ),
    "q10": (
        ("'Clinton County'", "'York County'"),
        ("'Platte County'", "'Maricopa County'"),
        ("'Franklin County'", "'Taos County'"),
        ("d_year = 2002", "d_year = 2000"),
        ("between 3 and 3 + 3", "between 8 and 8 + 3"),
        ("between 3 ANd 3 + 3", "between 8 ANd 8 + 3"),
    ),
    "q13": (
        ("d_year = 2001", "d_year between 1998 and 2002"),
        ("between 100.00 and 150.00", "between 0.00 and 150.00"),
        ("between 50.00 and 100.00", "between 0.00 and 100.00"),
        ("between 150.00 and 200.00", "between 0.00 and 200.00"),
        ("'CO', 'MI', 'MN'", "'CO', 'PA', 'TN'"),
        ("'NC', 'NY', 'TX'", "'AZ', 'NM', 'TX'"),
        ("'CA', 'NE', 'TN'", "'WA', 'OH', 'TN'"),
        ("between 100 and 200", "between -5000 and 2000"),
        ("between 150 and 300", "between -5000 and 3000"),
        ("between 50 and 250", "between -5000 and 2500"),
    ),
    "q15": (
        ("'85669'", "'86192'"),
        ("d_qoy = 2", "d_qoy = 4"),
        ("d_year = 2002", "d_year = 2000"),
    ),
    "q16": (
        ("'60 DAYS'", "'700 DAYS'"),
        ("ca_state = 'ID'", "ca_state = 'PA'"),
    ),
    "q18": (
        ("'MS', 'NE', 'IA', 'MI', 'GA', 'NY', 'CO'", "'MS', 'PA', 'TN', 'AZ', 'TX', 'OH', 'CO'"),
        ("d_year = 1998", "d_year between 1998 and 2001"),
    ),
    "q20": (("'2002-04-01'", "'2000-11-20'"),),
    "q23a": (
        ("count(*) > 4", "count(*) > 2"),
        ("95 / 100.0", "40 / 100.0"),
        ("d_moy = 3", "d_moy = 12"),
    ),
    "q23b": (
        ("count(*) > 4", "count(*) > 2"),
        ("95 / 100.0", "40 / 100.0"),
        ("d_moy = 3", "d_moy = 12"),
    ),
    "q24a": (
        ("s_market_id = 10", "s_market_id in (8, 10)"),
        ("i_color = 'orchid'", "i_color in ('orchid', 'royal', 'navy', 'cyan')"),
    ),
    "q24b": (
        ("s_market_id = 10", "s_market_id in (8, 10)"),
        ("i_color = 'green'", "i_color in ('green', 'light', 'steel', 'bisque')"),
    ),
    "q25": (
        ("d1.d_moy = 4", "d1.d_moy = 12"),
        ("d1.d_year = 2002", "d1.d_year = 1999"),
        ("d2.d_moy between 4 and 10", "d2.d_moy between 1 and 12"),
        ("d2.d_year = 2002", "d2.d_year = 2000"),
        ("d3.d_moy between 4 and 10", "d3.d_moy between 1 and 12"),
        ("d3.d_year = 2002", "d3.d_year = 2000"),
    ),
    "q26": (("d_year = 2000", "d_year between 1998 and 2002"),),
    "q27": (("d_year = 2000", "d_year between 1999 and 2001"),),
    "q29": (
        ("d1.d_moy = 4", "d1.d_moy = 9"),
        ("d2.d_moy between 4 and 4 + 3", "d2.d_moy between 9 and 9 + 3"),
    ),
    "q30": (("ca_state = 'KS'", "ca_state = 'PA'"),),
    "q31": (
        ("ss1.d_qoy = 1", "ss1.d_qoy = 4"),
        ("ss2.d_qoy = 2", "ss2.d_qoy = 3"),
        ("ss3.d_qoy = 3", "ss3.d_qoy = 2"),
        ("ws1.d_qoy = 1", "ws1.d_qoy = 4"),
        ("ws2.d_qoy = 2", "ws2.d_qoy = 3"),
        ("ws3.d_qoy = 3", "ws3.d_qoy = 2"),
    ),
    "q32": (
        ("i_manufact_id = 283", "i_manufact_id = 28"),
        ("'1999-02-22'", "'1999-10-01'"),
    ),
    "q34": (("cnt between 15 and 20", "cnt between 5 and 20"),),
    "q37": (
        ("26 and 26 + 30", "1 and 1 + 30"),
        ("744, 884, 722, 693", "28, 8, 26, 17"),
    ),
    "q38": (("1190 + 11", "1190 + 35"),),
    "q39b": (("inv1.cov > 1.5", "inv1.cov > 1.1"),),
    "q40": (
        ("between 0.99 and 1.49", "between 0.99 and 9.49"),
        ("'2002-05-18'", "'2000-11-18'"),
    ),
    "q41": (
        ("668 and 668 + 40", "1 and 1 + 40"),
        ("i_color = 'ghost'", "i_color = 'powder'"),
        ("i_color = 'midnight'", "i_color = 'orchid'"),
        ("i_color = 'lavender'", "i_color = 'cream'"),
        ("i_color = 'chocolate'", "i_color = 'orchid'"),
        ("i_units = 'N/A' or i_units = 'Dozen'", "i_units = 'Carton' or i_units = 'Dozen'"),
        ("i_units = 'Tsp' or i_units = 'Bundle'", "i_units = 'Cup' or i_units = 'N/A'"),
        ("i_color = 'floral'", "i_color = 'steel'"),
        ("i_units = 'Unknown'", "i_units = 'Ton'"),
        ("i_size = 'economy' or i_size = 'small'", "i_size = 'medium' or i_size = 'small'"),
        ("i_units = 'Each' or i_units = 'Lb'", "i_units = 'Ton' or i_units = 'Lb'"),
    ),
    "q45": (
        ("'85669'", "'86192'"),
        ("'86197'", "'31904'"),
        ("d_qoy = 2", "d_qoy = 4"),
    ),
    "q48": (
        ("d_year = 2001", "d_year between 1998 and 2002"),
        ("'IL', 'KY', 'OR'", "'PA', 'TN', 'AZ'"),
        ("'VA', 'FL', 'AL'", "'NM', 'TX', 'AL'"),
        ("'OK', 'IA', 'TX'", "'OH', 'WA', 'TX'"),
    ),
    "q49": (
        ("> 10000", "> 100"),
        ("d_year = 2000", "d_year between 1998 and 2002"),
    ),
    "q53": (
        ("'edu packscholar #1'", "'edu packscholar #2'"),
        ("'amalgimporto #1'", "'amalgimporto #2'"),
        ("'exportiunivamalg #9'", "'exportiunivamalg #2'"),
    ),
    "q54": (
        (
            "and d_moy = 4 and d_year = 1998), my_revenue",
            "and d_moy between 1 and 12 and d_year = 1998), my_revenue",
        ),
        ("d_month_seq + 3 ", "d_month_seq + 36 "),
    ),
    "q55": (("i_manager_id = 20", "i_manager_id = 2"),),
    "q58": (
        ("'2000-02-12'", "'2000-12-02'"),
        ("0.9 *", "0.1 *"),
        ("1.1 *", "10.1 *"),
    ),
    "q59": (("1206", "1200"),),
    "q61": (("gmt_offset = -6", "gmt_offset = -5"),),
    "q64": (("between 22", "between 1"), ("and 22 + ", "and 1 + ")),
    "q65": (("<= 0.1 *", "<= 0.25 *"),),
    "q69": (("'IN', 'VA', 'MS'", "'PA', 'TN', 'MS'"),),
    "q72": (("d1.d_year = 1999", "d1.d_year between 1998 and 2001"),),
    "q73": (
        ("cnt between 1 and 5", "cnt between 1 and 15"),
        ("d_dom between 1 and 2", "d_dom between 1 and 8"),
    ),
    "q81": (("ca_state = 'TX'", "ca_state = 'TN'"),),
    "q82": (
        ("69 and 69 + 30", "1 and 1 + 30"),
        ("105, 513, 180, 137", "28, 8, 26, 17"),
    ),
    "q83": (("'2000-04-29', '2000-09-09', '2000-11-02'", _DAYS_OF_RETURNS),),
    "q84": (
        ("'White Oak'", "'Fairfield'"),
        ("45626 + 50000", "45626 + 150000"),
    ),
    "q85": (
        ("d_year = 2001", "d_year between 1998 and 2002"),
        ("between 100.00 and 150.00", "between 0.00 and 150.00"),
        ("between 50.00 and 100.00", "between 0.00 and 100.00"),
        ("between 150.00 and 200.00", "between 0.00 and 200.00"),
        ("'SC', 'IN', 'VA'", "'PA', 'TN', 'CO'"),
        ("'WA', 'KS', 'KY'", "'WA', 'AZ', 'NM'"),
        ("'SD', 'WI', 'NE'", "'TX', 'OH', 'MS'"),
        ("between 100 and 200", "between -5000 and 2000"),
        ("between 150 and 300", "between -5000 and 3000"),
        ("between 50 and 250", "between -5000 and 2500"),
    ),
    "q90": (
        ("between 5000 and 5200", "between 1000 and 5200"),
        ("9 and 9 + 1", "3 and 3 + 9"),
        ("15 and 15 + 1", "13 and 13 + 9"),
    ),
    "q91": (
        ("d_year = 2002", "d_year between 1998 and 2002"),
        ("d_moy = 11", "d_moy between 1 and 12"),
        ("'Unknown%'", "'%0%'"),
        ("gmt_offset = -6", "gmt_offset = -7"),
    ),
    "q92": (
        ("i_manufact_id = 914", "i_manufact_id = 28"),
        ("'2001-01-25'", "'2000-10-01'"),
        ("'90 DAYS'", "'700 DAYS'"),
    ),
    "q94": (
        ("'60 DAYS'", "'1400 DAYS'"),
        ("ca_state = 'WI'", "ca_state = 'PA'"),
        ("'pri'", "'anti'"),
    ),
    "q95": (
        ("'2002-5-01'", "'2000-5-01'"),
        ("'60 DAYS'", "'700 DAYS'"),
        ("ca_state = 'MA'", "ca_state = 'PA'"),
        ("'pri'", "'anti'"),
    ),
    "q96": (
        ("t_hour = 8", "t_hour between 9 and 17"),
        ("t_minute >= 30", "t_minute >= 5"),
        ("'ese'", "'able'"),
    ),
}


def workable_queries() -> dict[str, str]:
    """The texts by name, in one line each, as `tests.harness.tpcds.queries` names them.

    Raises:
        KeyError: what is to be replaced does not occur.
    """
    found = {}
    for name, text in queries().items():
        lines = [line for line in text.splitlines() if not line.startswith("--")]
        words = " ".join(" ".join(lines).split()).replace("( ", "(").replace(" )", ")")
        for old, new in _REPLACED.get(name, ()):
            if old not in words:
                raise KeyError(f"{name} does not say {old}")
            words = words.replace(old, new)
        found[name] = words
    return found
