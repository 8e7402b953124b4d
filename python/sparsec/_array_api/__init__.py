"""Functions of the array API standard, 2024.12, for tensors.

=================  =============================================================
module             functions
=================  =============================================================
`elementwise`      arithmetic, comparisons, elementary functions, `where`
`reductions`       `sum`, `prod`, `max`, `mean`, `var`, ...
`manipulation`     `concat`, `stack`, `reshape`, `permute_dims`, ...
`searching`        `nonzero`, `argmax`, `count_nonzero`, `searchsorted`, ...
`taking`           `take`, `take_along_axis`, `diff`, `isin`
`linear`           `matmul`, `tensordot`, `vecdot`
`creation`         `zeros`, `full`, `eye`, `tril`, ...
`matrices`         NumPy's `diag`, `trace`, `kron`, `linalg.norm`
`dtypes`           types, `astype`, `isdtype`, `result_type`, ...
=================  =============================================================

The functions are members of the package, so ``sparsec`` is what
``tensor.__array_namespace__()`` returns. A function of an entry that is not stored is the fill
of its result, so no elementwise function stores more entries than its arguments do.

Left out, since a sparse tensor has no good answer:

=========================================  ==================================================
left out                                   because
=========================================  ==================================================
`nextafter`                                entries that are not stored would become tiny numbers
complex `sin`, `log2`, `expm1`, ...        index notation has `sqrt`, `exp`, `log`, `pow` of them
`cumulative_sum`, `cumulative_prod`        each entry of the result differs: it is dense
`sort`, `argsort`, `unique_all`,           the same; `unique_values` and `unique_counts` are there
`unique_inverse`
`linalg`, `fft`, `from_dlpack`             `to_numpy`, or `to_scipy`, leads to libraries that have them
=========================================  ==================================================

Source: Python array API standard, v2024.12, https://data-apis.org/array-api/2024.12/.
"""
