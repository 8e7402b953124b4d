//! `E04..`: tensors and the files that hold them.

use super::codes;

codes! {
    OUT_OF_BOUNDS = "E0401", "a coordinate outside its extent",
    "An entry has a coordinate that its mode does not have. Coordinates in Rust, Python and
arrays count from 0, so that a mode of extent 5 has 0 to 4; those in `.mtx` and `.tns` files
count from 1, so that it has 1 to 5.

    %%MatrixMarket matrix coordinate real general
    3 3 1
    4 1 2.5
    ^ mode 0 has extent 3

Correct the coordinate, or state a larger extent: in the header of a `.mtx` file, with
`-d i=4` for a `.tns` file.";
    LENGTH_MISMATCH = "E0402", "lists of lengths that do not fit together",
    "A tensor of order `N` with `M` entries takes `N` extents, `M * N` coordinates (entry `e`
begins at `e * N`) and `M` values. One of the lists is longer or shorter than the others ask for.

Give one extent a mode, and `N` coordinates and one value an entry.";
    ARRAY_MISMATCH = "E0403", "an array that does not fit its format",
    "A format declares the arrays that hold a tensor: for each compressed level a `pos` and a
`crd`, for each singleton level a `crd`, and the values last. An array is missing or left over,
has another element type than declared, or another length than the levels above it ask for:

    csr, 4x5:  1.pos has 4 + 1 entries, 1.crd and vals one for each stored entry

Index arrays are `u8`, `u16`, `i32` or `i64`, as the format's `pos` and `crd` widths say where it has
them.";
    BAD_SEGMENTS = "E0404", "segments that do not ascend",
    "A `pos` array says where the segment of each parent position begins: `pos[0]` is 0, no
entry is smaller than the one before it, and the last is the length of `crd`.

    1.pos = 0 2 1 3
                ^ smaller than the entry before it

Build the tensor by packing its coordinates if you are not sure of the arrays.";
    BAD_COORDINATES = "E0405", "coordinates that break what the level promises",
    "Unless a level is `nonordered`, coordinates ascend within a segment; unless it is
`nonunique`, none stands twice there. A level and the singletons that follow it keep one list of
coordinate tuples, which ascend, or are distinct, as tuples.

    1.crd = 0 4 | 3 2      within the second segment, 2 comes after 3

Sort the entries, add `nonordered` or `nonunique` to the format, or pack from coordinates.";
    INDEX_WIDTH_OVERFLOW = "E0406", "an index width that is too narrow",
    "The format declares the width of its `pos` or `crd` arrays, and a value does not fit: 8
bits hold values below 2^8, 16 bits below 2^16, 32 bits below 2^31, and 64 bits below 2^63.

    (i, j) -> (i : dense, j : compressed), pos = 32        with 3000000000 stored entries

Declare a wider one, or leave the width out: then the narrower of 32 and 64 bits that holds the
data is taken.";
    TENSOR_TOO_LARGE = "E0407", "a tensor that does not fit in memory",
    "The arrays of the tensor would take more memory than this machine has, or more positions
than 64 bits can count. A dense level keeps every coordinate of its mode below every position
of the level above it, so a few dense levels over large modes multiply.

    (i, j) -> (i : dense, j : dense)     1000000 x 1000000 f64 takes 8 TB

Store the tensor with compressed levels where most entries are zero, as `csr` or `csf` do.

A format may also take far more than the entries that it stores: diagonals of a matrix whose entries
are scattered, slots for a single long row. An array may take 16 times the bytes of the entries, and one
GiB in any case. Allow more with `--memory 8G` (`Options::memory`, `PackOptions::memory` in Rust). Where
`--memory` says how much there may be, more is refused in the same way: of arrays, of what a
compressed file expands to and of what a pipe or a device gives.";
    DUPLICATE_ENTRY = "E0408", "two entries at the same coordinates",
    "Two entries have equal coordinates where the call said that there must be none. The message
names the second one, counted from 0.

Remove one of them, or have duplicates added, which is what packing does unless told otherwise.";
    UNKNOWN_GENERATOR = "E0409", "unknown generator",
    "`-g NAME=SPEC` fills a tensor without a file. These are the specs:

    dense:zeros   dense:ones   dense:constant(2.5)   dense:iota
    dense:uniform(seed=7, values=uniform)
    random(density=0.01, seed=1, values=uniform)     random(nnz=1000)
    band(width=5, seed=1, values=ones)               identity

`values` is `uniform` (from 0 to 1), `int` (small integers, not 0) or `ones`. The same spec gives
the same numbers on every machine.";
    BAD_GENERATOR_ARGUMENT = "E0410", "an argument that the generator cannot use",
    "A generator has an argument that it does not know, lacks one that it needs, or has a value
out of range: `density` lies between 0 and 1, `nnz` is at most the number of coordinates of the
tensor, `width` is at least 1, and `band` fills matrices only.

    -g 'A=random(density=1.5)'
                         ^^^ lies between 0 and 1";
    CANNOT_COMBINE = "E0411", "duplicates that cannot be combined so",
    "Entries at equal coordinates become one by a declared operator, and the values have no such
operator: complex numbers have no `min` and `max`, since they have no order, and only `bool` has
`or` and `and`.

    bool        + * min max or and first last error
    complex     + * first last error
    others      + * min max first last error

Choose an operator that the type has, or read the values as another type.";
    UNKNOWN_COMBINATION = "E0412", "unknown operator for duplicates",
    "What becomes of entries at equal coordinates is one of these:

    +   *   min   max   or   and     they are combined, in the order given
    first   last                     one of them is kept
    error                            there must be none

Adding is what happens if nothing is said.";
    BAD_SELECTION = "E0413", "a selection that the tensor does not have",
    "Slicing takes one window a mode: coordinates from a first one up to one that is left out,
which lie within the mode's extent, with a stride of at least 1. Permuting takes each mode once.

    extents 4 x 5:   windows 1..4, 0..5     modes 1, 0
                     not     1..6           not   1, 1

Give a window or a place to every mode.";
    CANNOT_READ_FILE = "E0420", "a file that cannot be read",
    "The file does not exist, is a directory, or the system does not let you read it; the
message has the system's reason. Relative names begin at the directory in which you call
sparsec. Check the spelling and the permissions.";
    UNKNOWN_FILE_TYPE = "E0421", "unknown type of file",
    "The end of a file's name says how it is read and written:

    .mtx      Matrix Market: matrices
    .tns      FROSTT, one line an entry: tensors of any order
    .rb .rua .rsa …      Rutherford-Boeing, read only: matrices
    .mtx.gz   .tns.zst   the same, compressed
    .npy      a dense array of NumPy
    .npz      SciPy's sparse matrices, Binsparse, or any tensor as we write it
    .bsp.h5   .h5   .hdf5   .bsp.npz    Binsparse, in HDF5 or in an archive

Give the file one of these endings.";
    BAD_HEADER = "E0422", "a header that cannot be understood",
    "A Matrix Market file begins with a line that says what it holds, then comments that begin
with `%`, then the numbers of rows, columns and entries:

    %%MatrixMarket matrix coordinate real general
    % comment
    3 4 2
    1 1 2.5
    3 4 -1

The `array` form has no number of entries. An extended `.tns` file has the order and the number of
entries on its first line and the extents on its second; a Rutherford-Boeing file has the type and
the sizes on its third. One of these lines is missing or is not of this form.";
    UNSUPPORTED_FILE = "E0423", "a kind of file that this version does not read",
    "The file is well formed as far as its header goes, but this version does not read its kind.
These are read:

    .mtx      matrices, not the vectors that some programs write: write a matrix of one column
    .rua …    assembled matrices (a type that ends in `a`), not sums of small ones (`e`)

Write the matrix in one of these forms, for example with SciPy's `mmwrite`.";
    BAD_ENTRY = "E0424", "a line that is not an entry",
    "After its header a file has one line an entry: a coordinate for each mode, counted from 1,
then the value, separated by blanks. Lines in `pattern` files have no value. The caret shows the
first part of the line that is missing, left over, or not a number of the wanted kind.

    3 x 1.5
      ^ expected the coordinate of mode 1

Values are decimal numbers such as `-1.5e-3`, or `inf` and `nan` where the type has them.";
    WRONG_ENTRY_COUNT = "E0425", "a header that promises another number of entries",
    "The last number of a Matrix Market file's size line is the number of lines that follow it; in
array form it is the product of the two, or the size of a triangle. The headers of extended `.tns` and
of Rutherford-Boeing files say how many entries there are too. The file has more or fewer. A file
with fewer was often cut off while it was copied.

    3 3 5        promises five entries
    1 1 2.5      and this is the only one

Get the whole file, or correct the number.";
    CORRUPT_COMPRESSION = "E0426", "compressed data that cannot be expanded",
    "The name of the file ends in `.gz` or `.zst`, but its content is no such data, is cut off, or fails
its checksum. Copy the file again; `gzip -t FILE` or `zstd -t FILE` checks it. A file that is not
compressed must not end so, and one that is must.";
    CANNOT_WRITE_FILE = "E0427", "a file that cannot be written",
    "The system refused to create or write the file; the message has its reason. A file is
written beside its final name and renamed when it is complete, so the directory must be
writable, and an older file of this name is still as it was.

Choose another directory, or make room.";
    NOT_EXPRESSIBLE_IN_FILE = "E0428", "a tensor that this type of file cannot state",
    "A `.mtx` file holds matrices only, and in both `.mtx` and `.tns` an entry that is not stated is
zero. A tensor with another fill is written entry by entry, the fill included, up to 2^24 entries.

Write tensors of other orders than 2 as `.tns`, and larger tensors with a fill as `.npz`, `.bsp.npz` or
`.bsp.h5`, which state it.";
    ASYMMETRIC_FILE = "E0429", "a matrix that has not the structure that is said",
    "A file of a `symmetric`, `skew-symmetric` or `hermitian` matrix states one triangle of a square
matrix; the other one is its mirror image. This one has entries strictly below and strictly above
the diagonal, so that mirroring would count entries twice; or is not square; or has an entry that is
not its own mirror image on the diagonal, which is zero in a skew-symmetric matrix and real in a
hermitian one. A matrix that is to be written so must have the structure.

Drop one triangle, or say `general` if every entry is stated.";
    TOO_MANY_MODES = "E0434", "a tensor of too many modes",
    "A tensor has at most 64 modes. Loops nest as deep as it has modes, and so do the walks over what it
stores. More modes than that are mostly a file that is something else: each line of a plain `.tns`
file is one entry, so that a line of 1000 numbers says that there are 999 modes:

    1 1 3 2.5          an entry of a tensor of order 3

Combine modes (`i * extent + j` in place of `i j`), or leave out those with one coordinate only.";
    BAD_FORTRAN_FORMAT = "E0440", "a Fortran format that cannot be used",
    "The fourth line of a Rutherford-Boeing file has the formats of its pointers, rows and values, as
Fortran writes them. They say which columns of a line hold a number:

    (16I5)          (10I8)          (1P,5E16.8)          (4D20.12)

One of them is missing, or reads no numbers. Understood are `I`, `F`, `E`, `D`, `G`, `ES` and `EN` with
a width, `X`, scales (`1P`), counts and groups; the width is never left out.

Correct the line, or write the matrix again as `.mtx`.";
    BAD_NPY = "E0450", "a NumPy array that cannot be read",
    "A `.npy` file, and each member of a `.npz` archive, begins with a header that says what its bytes
are; the bytes follow and end with the file:

    \\x93NUMPY 1 0  {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }   then 96 bytes

The header is not of this form, or promises more or fewer bytes than there are, as happens to files
that were cut off while they were copied. Copy the file again, or save the array again with `numpy.save`.";
    UNSUPPORTED_NPY_TYPE = "E0451", "a NumPy array of items that no element type stores",
    "Arrays of bool, int8 to int64, uint8 to uint64, float16 to float64, complex64 and complex128 are
read, in either byte order. Arrays of records, dates, Python objects (which are stored as programs) and
extended-precision numbers are not, nor is text where numbers are wanted.

    numpy.save(\"a.npy\", x.astype(\"float64\"))

Convert the array where the file comes from, or save each field of a record by itself.";
    BAD_ARCHIVE = "E0452", "an archive that cannot be read",
    "A `.npz` file is a zip archive whose members are `.npy` files, stored or deflated. This one is no
zip archive, is cut off or damaged (each member has a checksum), is encrypted, has two members of one
name or a member compressed in another way, or promises more than its compressed bytes can hold.

    unzip -t a.npz        checks every member

Copy the file again, or save it again with `numpy.savez` or `scipy.sparse.save_npz`.";
    MISSING_MEMBER = "E0453", "an archive without an array that it needs",
    "What a `.npz` archive holds is told by the arrays in it, and all that belong together must be there:

    csr csc   format shape data indices indptr          coo   format shape data row col (or coords)
    bsr       the same                                   dia   format shape data offsets

The message names the array that is not there. Save the matrix again with `scipy.sparse.save_npz`.";
    UNKNOWN_ARCHIVE = "E0454", "an archive that holds no tensor",
    "A `.npz` archive can hold any arrays. One that holds a tensor says so by a member: `format` in
SciPy's files, `binsparse` in those of Binsparse, `sparsec` in ours. This archive has none of them.

    scipy.sparse.save_npz(\"a.npz\", matrix)        a sparse matrix
    numpy.save(\"a.npy\", array)                    a dense array

Save the tensor in one of these ways.";
    BAD_SCIPY_FILE = "E0455", "a sparse matrix of SciPy whose arrays do not fit together",
    "The arrays of a file of `scipy.sparse.save_npz` have to fit its `shape` and each other:

    csr, 4x5:   indptr has 4 + 1 entries, indices and data one for each stored entry
    bsr, 4x6:   data has blocks of r x c where r divides 4 and c divides 6
    coo:        row, col and data have one entry for each stored entry
    dia:        data has a row for each of the offsets

An array has another length, number of modes or type, or the format is none of these. Load the file
in Python, call `check_format()` on the matrix, and save it again.";
    BAD_DESCRIPTION = "E0456", "an archive of ours whose description is wrong",
    "The member `sparsec` of a `.npz` archive describes the tensor in JSON, and the other members are
its arrays:

    {\"version\": 1, \"format\": \"(i, j) -> (i : dense, j : compressed)\", \"extents\": [4, 5], \"element\": \"f64\"}
    1.pos.npy  1.crd.npy  vals.npy                    and fill.npy where the fill is not zero

The description is no JSON, lacks one of these, or says what this version does not know, as one
written by a newer version may. Write the file again, or read it with that version.";
    NOT_EXPRESSIBLE_IN_NPY = "E0457", "a tensor that a NumPy file cannot state",
    "A `.npy` file is one dense array: it has no form for sparse formats, nor for `bf16`, which NumPy
lacks. Neither `.npy` nor `.npz` files state one triangle of a symmetric matrix instead of the whole.

    sparsec convert a.mtx a.npz        any format and type

Write a `.npz` file, convert the tensor to `dense` first, or store its values as `f32`.";
    NO_BINSPARSE = "E0460", "a container without a Binsparse tensor",
    "An HDF5 file or an `.npz` archive is a container of arrays. That it holds a tensor, and how, is
said by a descriptor: a string called `binsparse`, an attribute of the root of an HDF5 file or a
member of an archive. This container has none, or has several groups with one each:

    h5dump -A a.bsp.h5        ATTRIBUTE \"binsparse\" { …
    sparsec info all.h5:web   the tensor in the group `web`

Write the file with `sparsec convert` or the `binsparse` package of Python, or name the group that
you mean after the file.";
    BAD_DESCRIPTOR = "E0461", "a Binsparse descriptor that cannot be understood",
    "The descriptor of a Binsparse file is a JSON text of this form:

    {\"binsparse\": {\"version\": \"0.1.0\", \"format\": \"CSR\", \"shape\": [4, 5],
      \"number_of_stored_values\": 3, \"data_types\": {\"pointers_to_1\": \"int32\",
      \"indices_1\": \"int32\", \"values\": \"float64\"}}}

It is no JSON, lacks one of these keys, or a key has a value of another kind; the caret shows where.
Optional keys are `fill`, `structure`, and `custom` where the format is `custom`.";
    UNSUPPORTED_BINSPARSE = "E0462", "a Binsparse name that has no meaning here",
    "A descriptor names a version, a format, level descriptions, types and a structure. These are known:

    version      0.1 and 0.1.0
    format       DVEC DMAT DMATR DMATC CVEC CSR CSC DCSR DCSC COO COOR COOC custom
    level_desc   element dense sparse
    types        int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 bint8,
                 complex[T] of the floats, iso[T] of any
    structure    symmetric_lower symmetric_upper hermitian_lower hermitian_upper
                 skew_symmetric_lower skew_symmetric_upper

Correct the name, or write the tensor in one of these formats where the file comes from.";
    BINSPARSE_ARRAY = "E0463", "a Binsparse array that does not fit its descriptor",
    "The format in a descriptor says which arrays the container has, and the shape how long they are:

    CSR, 4x5:  pointers_to_1 has 4 + 1 entries, indices_1 and values one for each stored value

An array is missing, has another type than `data_types` says, another length than the format asks
for, or holds a number that cannot be a position or a coordinate. Write the file again where it comes
from; `sparsec explain E0461` shows a descriptor.";
    BAD_HDF5 = "E0464", "an HDF5 file that cannot be read",
    "The file is no HDF5 file, is cut off or damaged, or uses something that is not read here: filters
of plugins such as Blosc and Zstandard (deflate, LZF, shuffle and Fletcher-32 are read), arrays of other
things than integers and floats, and data that lies elsewhere (links, external storage, virtual datasets).

    h5dump -H -p a.bsp.h5       shows types, layouts and filters

Copy the file again if it is damaged. Otherwise rewrite it:

    h5repack -f NONE -l CONTI a.bsp.h5 b.bsp.h5";
    NOT_EXPRESSIBLE_IN_BINSPARSE = "E0465", "a tensor that Binsparse cannot state",
    "Binsparse has dense levels and sorted sparse levels whose coordinates stand once, and numbers of
8 to 64 bits. It has no form for coordinates in any order or more than once, nor for `f16` and `bf16`.

    coo     (i : compressed(nonunique, nonordered), j : singleton(nonordered))      no
    scoo    (i : compressed(nonunique), j : singleton)                              COO

Convert to an ordered format such as `scoo` or `csr`, to a wider type such as `f32`, or write a plain
`.npz`, which holds every format and type as it is.";
    LOSSY_TYPE = "E0466", "a type that would lose values of the file",
    "The values of a file were asked for in a type that cannot hold one of them: an integer type and
a value with a fraction or out of its range, a real type and complex values, a float that is too
small for a large one. Floats are rounded to the nearest one of a narrower type; nothing else is.

    sparsec run 'y(i) = A(i,j) * x(j)' -i A=a.npz -t A=u8      with a value 300

The message names the first such value. Ask for a wider type, or leave the type to the file.";
    DENSE_RESULT = "E0470", "a result that would be dense",
    "The Python package makes nothing dense by itself: a sparse tensor of a million rows and columns would
take 8 TB as an array. A function whose result has a value at every coordinate, and a function of NumPy
that sparsec does not have, are refused for a sparse tensor.

    np.asarray(A)                 `A` in `csr`
    np.linalg.norm(A)             sparsec has no such function

Ask for the array where it fits into memory: `A.to_numpy()`, or `A.convert(\"dense\")` for a tensor.";
    NOT_COMPUTED = "E0471", "an expression that is not computed yet",
    "`sparsec.lazy` makes expressions, which have no entries before they are computed. An array of NumPy, a
selection by an array and a number need entries.

    np.asarray(sparsec.lazy(A) + 1)

Call `compute()` first.";
}
