/* Conversions by the method of Popoola et al., "Code Synthesis for Sparse Tensor Format
 * Conversion and Optimization", CGO 2023, sections 3.2 and 3.3, one thread, in C of our own.
 *
 *   P        a permutation: an ordered list of the entries, sorted with a comparator
 *   col2     entries of the list in its order
 *   rowptr   a maximum for each entry, then made nondecreasing
 *   off      a sorted set: an offset is searched, and inserted if it is new
 *
 * Loops are fused, and P is removed where the source has the order of the destination, as
 * the paper does. Where it leaves a structure open, this is the fastest that we know: keys
 * are computed once for each entry, comparisons are inlined, and the copy runs over the list,
 * without lookups. `conversions/peer.py` compiles and calls the functions. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t I;
typedef double V;
typedef unsigned __int128 Wide;

/* Entries by increasing keys: insertion sort of short runs, then merges without branches.
 * `work` is as long as the list; returns the one of both that is sorted. */
#define ORDERED_LIST(Entry, sorted, Key)                                             \
    typedef struct { Key key; uint32_t at; } __attribute__((packed, aligned(4))) Entry; \
    static Entry *sorted(size_t n, Entry *list, Entry *work)                         \
    {                                                                                \
        enum { RUN = 16 };                                                           \
        for (size_t begin = 0; begin < n; begin += RUN) {                            \
            size_t end = begin + RUN < n ? begin + RUN : n;                          \
            for (size_t p = begin + 1; p < end; p++) {                               \
                Entry entry = list[p];                                               \
                size_t to = p;                                                       \
                for (; to > begin && entry.key < list[to - 1].key; to--)             \
                    list[to] = list[to - 1];                                         \
                list[to] = entry;                                                    \
            }                                                                        \
        }                                                                            \
        for (size_t width = RUN; width < n; width *= 2) {                            \
            for (size_t begin = 0; begin < n; begin += 2 * width) {                  \
                size_t middle = begin + width < n ? begin + width : n;               \
                size_t end = middle + width < n ? middle + width : n;                \
                const Entry *a = list + begin, *b = list + middle;                   \
                const Entry *a_end = b, *b_end = list + end;                         \
                Entry *out = work + begin;                                           \
                while (a < a_end && b < b_end) {                                     \
                    int second = b->key < a->key;                                    \
                    *out++ = *(second ? b : a);                                      \
                    b += second;                                                     \
                    a += !second;                                                    \
                }                                                                    \
                memcpy(out, a, (size_t)(a_end - a) * sizeof(Entry));                 \
                out += a_end - a;                                                    \
                memcpy(out, b, (size_t)(b_end - b) * sizeof(Entry));                 \
            }                                                                        \
            Entry *other = list;                                                     \
            list = work;                                                             \
            work = other;                                                            \
        }                                                                            \
        return list;                                                                 \
    }

ORDERED_LIST(Entry, sorted, uint64_t)
ORDERED_LIST(WideEntry, sorted_wide, Wide)

static void nondecreasing(I n, I *pos)
{
    for (I i = 0; i < n; i++)
        if (pos[i] > pos[i + 1]) pos[i + 1] = pos[i];
}

/* Entries sorted by rows: no permutation, one loop for all statements. */
void spf_scoo_csr(I n, I nz, const I *row, const I *col, const V *val, I *pos, I *crd, V *out)
{
    memset(pos, 0, (size_t)(n + 1) * sizeof(I));
    for (I p = 0; p < nz; p++) {
        I i = row[p];
        if (pos[i + 1] < p + 1) pos[i + 1] = p + 1;
        crd[p] = col[p];
        out[p] = val[p];
    }
    nondecreasing(n, pos);
}

/* Entries to segments of the mode `outer` in the order of (outer, inner). */
void spf_coo_segments(I n_outer, I n_inner, I nz, const I *outer, const I *inner, const V *val,
                      void *memory, I *pos, I *crd, V *out)
{
    Entry *list = memory;
    for (I p = 0; p < nz; p++)
        list[p] = (Entry){(uint64_t)outer[p] * (uint64_t)n_inner + (uint64_t)inner[p], p};
    list = sorted(nz, list, list + nz);
    memset(pos, 0, (size_t)(n_outer + 1) * sizeof(I));
    for (I p = 0; p < nz; p++) {
        I from = list[p].at, i = outer[from];
        if (pos[i + 1] < p + 1) pos[i + 1] = p + 1;
        crd[p] = inner[from];
        out[p] = val[from];
    }
    nondecreasing(n_outer, pos);
}

/* Rows to columns. A list of entries has no rows, so it keeps them beside the places. */
void spf_csr_csc(I n, I m, const I *pos, const I *crd, const V *val, void *memory, I *cpos,
                 I *ccrd, V *out)
{
    I nz = pos[n];
    Entry *list = memory;
    for (I i = 0; i < n; i++)
        for (I p = pos[i]; p < pos[i + 1]; p++)
            list[p] = (Entry){(uint64_t)crd[p] * (uint64_t)n + (uint64_t)i, p};
    list = sorted(nz, list, list + nz);
    memset(cpos, 0, (size_t)(m + 1) * sizeof(I));
    for (I p = 0; p < nz; p++) {
        I from = list[p].at, j = crd[from];
        if (cpos[j + 1] < p + 1) cpos[j + 1] = p + 1;
        ccrd[p] = (I)(list[p].key - (uint64_t)j * (uint64_t)n);
        out[p] = val[from];
    }
    nondecreasing(m, cpos);
}

/* The first of `n` offsets that is not below `wanted`. */
static I lower_bound(const I *offsets, I n, I wanted)
{
    const I *base = offsets;
    while (n > 1) {
        I half = n / 2;
        base += base[half - 1] < wanted ? half : 0;
        n -= half;
    }
    return (I)(base - offsets) + (n == 1 && *base < wanted);
}

/* The diagonals with entries, in order: how many there are. */
I spf_offsets(I nz, const I *row, const I *col, I *offsets)
{
    I found = 0;
    for (I p = 0; p < nz; p++) {
        I wanted = col[p] - row[p], at = lower_bound(offsets, found, wanted);
        if (at < found && offsets[at] == wanted) continue;
        memmove(offsets + at + 1, offsets + at, (size_t)(found - at) * sizeof(I));
        offsets[at] = wanted;
        found++;
    }
    return found;
}

/* To diagonals, the places of one row side by side. */
I spf_coo_dia(I n, I nz, const I *row, const I *col, const V *val, I *offsets, V *out)
{
    I found = spf_offsets(nz, row, col, offsets);
    memset(out, 0, (size_t)found * n * sizeof(V));
    for (I p = 0; p < nz; p++) {
        I d = lower_bound(offsets, found, col[p] - row[p]);
        out[(size_t)row[p] * found + d] = val[p];
    }
    return found;
}

static Wide spread(uint32_t x)
{
    uint64_t words[2] = {x & 0x1fffff, x >> 21};
    for (int w = 0; w < 2; w++) {
        uint64_t v = words[w];
        v = (v | v << 32) & 0x1f00000000ffffull;
        v = (v | v << 16) & 0x1f0000ff0000ffull;
        v = (v | v << 8) & 0x100f00f00f00f00full;
        v = (v | v << 4) & 0x10c30c30c30c30c3ull;
        v = (v | v << 2) & 0x1249249249249249ull;
        words[w] = v;
    }
    return (Wide)words[1] << 63 | words[0];
}

/* Entries (i, j, k) by interleaved coordinates, those of i first. */
void spf_coo_morton(I nz, const I *i, const I *j, const I *k, const V *val, void *memory, I *oi,
                    I *oj, I *ok, V *out)
{
    WideEntry *list = memory;
    for (I p = 0; p < nz; p++)
        list[p] = (WideEntry){spread(i[p]) << 2 | spread(j[p]) << 1 | spread(k[p]), p};
    list = sorted_wide(nz, list, list + nz);
    for (I p = 0; p < nz; p++) {
        I from = list[p].at;
        oi[p] = i[from];
        oj[p] = j[from];
        ok[p] = k[from];
        out[p] = val[from];
    }
}
