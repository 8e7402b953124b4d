#!/bin/sh
# Writes the kernels and builds `embed` in the folder it is called in.
# SPARSEC is the program to call; CFLAGS are added, such as -fsanitize=address, or
# -fopenmp, with which loops that a schedule makes parallel are.
set -eu
here=$(dirname "$0")
sparsec=${SPARSEC:-sparsec}

# keep NAME EXPRESSION FORMATS...: NAME.c and NAME.h.
keep() {
    name=$1
    shift
    "$sparsec" compile "$@" --name "$name" --emit header >"$name.h"
    "$sparsec" compile "$@" --name "$name" --emit c --emit header >"$name.c"
}
keep spmv 'y(i) = A(i,j) * x(j)' -f A=csr -s 'parallelize(i, CPUThread, NoRaces)'
keep spgemm 'C(i,j) = A(i,k) * B(k,j)' -f A=csr -f B=csr -f C=csr \
    -s 'parallelize(i, CPUThread, Temporary)'

# shellcheck disable=SC2086 # several flags
"${CC:-gcc}" -std=c11 -O2 -fwrapv -ffp-contract=off -Wall -Wextra -Werror ${CFLAGS:-} \
    -I. "$here/main.c" spmv.c spgemm.c -o embed
