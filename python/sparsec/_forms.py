"""Functions that index notation does not have, as expressions of those that it has."""

_LN2 = "0.6931471805599453"

LOGADDEXP = (
    f"select({{0}} == {{1}}, {{0}} + {_LN2}, "
    "max({0}, {1}) + log1p(exp(-abs({0} - {1}))))"
)
