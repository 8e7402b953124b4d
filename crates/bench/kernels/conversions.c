/* Conversions as a person writes them, one thread: index arrays of 32 bits, values of 64,
 * results and work arrays given. `conversions/peer.py` compiles and calls them. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t I;
typedef double V;

/* Entries sorted by rows: one pass, and no branch for rows but where they are empty. */
void coo_csr(I n, I nz, const I *row, const I *col, const V *val, I *pos, I *crd, V *out)
{
    memset(pos, 0, (size_t)(n + 1) * sizeof(I));
    for (I p = 0; p < nz; p++) {
        pos[row[p] + 1] = p + 1;
        crd[p] = col[p];
        out[p] = val[p];
    }
    I most = 0;
    for (I i = 0; i <= n; i++) {
        most = pos[i] > most ? pos[i] : most;
        pos[i] = most;
    }
}

/* Entries in any order, to rows: count, scan, scatter. Columns of a row stay in the order
 * of the list. */
void coo_scatter(I n, I nz, const I *row, const I *col, const V *val, I *pos, I *crd, V *out)
{
    memset(pos, 0, (size_t)(n + 1) * sizeof(I));
    for (I p = 0; p < nz; p++) pos[row[p]]++;
    I sum = 0;
    for (I i = 0; i <= n; i++) {
        I count = pos[i];
        pos[i] = sum;
        sum += count;
    }
    for (I p = 0; p < nz; p++) {
        I to = pos[row[p]]++;
        crd[to] = col[p];
        out[to] = val[p];
    }
    memmove(pos + 1, pos, (size_t)n * sizeof(I));
    pos[0] = 0;
}

/* Transposition by a counting sort. */
void csr_csc(I n, I m, const I *pos, const I *crd, const V *val, I *cpos, I *ccrd, V *out)
{
    I nz = pos[n];
    memset(cpos, 0, (size_t)(m + 1) * sizeof(I));
    for (I p = 0; p < nz; p++) cpos[crd[p]]++;
    I sum = 0;
    for (I j = 0; j <= m; j++) {
        I count = cpos[j];
        cpos[j] = sum;
        sum += count;
    }
    for (I i = 0; i < n; i++) {
        for (I p = pos[i]; p < pos[i + 1]; p++) {
            I to = cpos[crd[p]]++;
            ccrd[to] = i;
            out[to] = val[p];
        }
    }
    memmove(cpos + 1, cpos, (size_t)m * sizeof(I));
    cpos[0] = 0;
}

void csr_coo(I n, const I *pos, const I *crd, const V *val, I *row, I *col, V *out)
{
    for (I i = 0; i < n; i++)
        for (I p = pos[i]; p < pos[i + 1]; p++) row[p] = i;
    memcpy(col, crd, (size_t)pos[n] * sizeof(I));
    memcpy(out, val, (size_t)pos[n] * sizeof(V));
}

/* Diagonals with entries, flagged in a table: how many there are. `table` has n + m
 * entries, of which it keeps the number of each diagonal. */
I coo_diagonals(I n, I m, I nz, const I *row, const I *col, I *table, I *offsets)
{
    memset(table, 0, (size_t)(n + m) * sizeof(I));
    for (I p = 0; p < nz; p++) table[col[p] - row[p] + n] = 1;
    I found = 0;
    for (I d = 0; d < n + m; d++) {
        if (table[d]) {
            offsets[found] = d - n;
            table[d] = found++;
        }
    }
    return found;
}

/* To diagonals as long as there are columns; those of entry (i, j) at j, as SciPy has it. */
I coo_dia(I n, I m, I nz, const I *row, const I *col, const V *val, I *table, I *offsets, V *out)
{
    I found = coo_diagonals(n, m, nz, row, col, table, offsets);
    memset(out, 0, (size_t)found * m * sizeof(V));
    for (I p = 0; p < nz; p++) {
        I d = table[col[p] - row[p] + n];
        out[(size_t)d * m + col[p]] = val[p];
    }
    return found;
}

/* Entries sorted by rows, to square blocks, those of a row of blocks sorted. `marks` has an
 * entry for each column of blocks. Returns how many blocks there are; none is written if
 * `out` is null. */
static int compare(const void *a, const void *b)
{
    return *(const I *)a < *(const I *)b ? -1 : *(const I *)a > *(const I *)b;
}

I coo_bsr(I n, I m, I side, I nz, const I *row, const I *col, const V *val, I *marks, I *pos,
          I *crd, V *out)
{
    I nb = (n + side - 1) / side, mb = (m + side - 1) / side, blocks = 0, end = 0;
    for (I j = 0; j < mb; j++) marks[j] = -1;
    pos[0] = 0;
    for (I block = 0; block < nb; block++) {
        I begin = end, first = blocks, limit = (block + 1) * side;
        for (; end < nz && row[end] < limit; end++) {
            I j = col[end] / side;
            if (marks[j] < first) {
                marks[j] = blocks;
                crd[blocks++] = j;
            }
        }
        qsort(crd + first, (size_t)(blocks - first), sizeof(I), compare);
        for (I b = first; b < blocks; b++) marks[crd[b]] = b;
        pos[block + 1] = blocks;
        V *here = out + (size_t)first * side * side;
        memset(here, 0, (size_t)(blocks - first) * side * side * sizeof(V));
        for (I p = begin; p < end; p++) {
            I j = col[p] / side, b = marks[j];
            out[((size_t)b * side + (row[p] - block * side)) * side + (col[p] - j * side)] = val[p];
        }
    }
    return blocks;
}

/* Entries (i, j, k) in the order of their Morton codes: i weighs most of each three bits.
 * `keys` and `work` have nz entries of 24 bytes. */
typedef struct { unsigned __int128 key; uint32_t at; } __attribute__((packed, aligned(8))) Keyed;

static unsigned __int128 spread(uint32_t x)
{
    uint64_t low = x & 0x1fffff, high = x >> 21;
    uint64_t words[2] = {low, high};
    for (int w = 0; w < 2; w++) {
        uint64_t v = words[w];
        v = (v | v << 32) & 0x1f00000000ffffull;
        v = (v | v << 16) & 0x1f0000ff0000ffull;
        v = (v | v << 8) & 0x100f00f00f00f00full;
        v = (v | v << 4) & 0x10c30c30c30c30c3ull;
        v = (v | v << 2) & 0x1249249249249249ull;
        words[w] = v;
    }
    return (unsigned __int128)words[1] << 63 | words[0];
}

void coo_morton(I nz, I bits, const I *i, const I *j, const I *k, const V *val, void *memory,
                I *oi, I *oj, I *ok, V *out)
{
    Keyed *from = memory, *to = from + nz;
    for (I p = 0; p < nz; p++) {
        from[p].key = spread(i[p]) << 2 | spread(j[p]) << 1 | spread(k[p]);
        from[p].at = p;
    }
    for (I shift = 0; shift < 3 * bits; shift += 11) {
        I counts[2048] = {0};
        for (I p = 0; p < nz; p++) counts[(uint32_t)(from[p].key >> shift) & 2047]++;
        I sum = 0, is_one = 0;
        for (I d = 0; d < 2048; d++) {
            I count = counts[d];
            is_one |= count == nz;
            counts[d] = sum;
            sum += count;
        }
        if (is_one) continue;
        for (I p = 0; p < nz; p++) {
            to[counts[(uint32_t)(from[p].key >> shift) & 2047]++] = from[p];
        }
        Keyed *other = from;
        from = to;
        to = other;
    }
    for (I p = 0; p < nz; p++) {
        I at = from[p].at;
        oi[p] = i[at];
        oj[p] = j[at];
        ok[p] = k[at];
        out[p] = val[at];
    }
}
