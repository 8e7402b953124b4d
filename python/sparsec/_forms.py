"""Functions that index notation does not have, as expressions of those that it has.

Each is precise where its argument is small, and does not overflow where it is large: beyond
`_LARGE`, ``x * x + 1`` is ``x * x`` in any type, and ``x * x`` may be infinite.

Source of `ACOSH`: Kahan, "Branch Cuts for Complex Elementary Functions", 1987, §"Arccosh".
"""

_LARGE = "1e8"
_LN2 = "0.6931471805599453"

ACOSH = (
    f"select({{0}} > {_LARGE}, log({{0}}) + {_LN2}, "
    "log1p({0} - 1 + sqrt({0} - 1) * sqrt({0} + 1)))"
)
ASINH = (
    f"sign({{0}}) * select(abs({{0}}) > {_LARGE}, log(abs({{0}})) + {_LN2}, "
    "log1p(abs({0}) + {0} * {0} / (1 + sqrt({0} * {0} + 1))))"
)
ATANH = "0.5 * sign({0}) * log1p(2 * abs({0}) / (1 - abs({0})))"
LOGADDEXP = (
    f"select({{0}} == {{1}}, {{0}} + {_LN2}, "
    "max({0}, {1}) + log1p(exp(-abs({0} - {1}))))"
)
