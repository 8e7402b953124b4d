//! `E10..`: MLIR text and the encodings in it.

use super::codes;

codes! {
    UNKNOWN_OPERATION = "E1001", "an operation that sparsec does not know",
    "sparsec reads the operations that sparse programs are made of: those of `sparse_tensor`, `arith`,
`math`, `complex`, `tensor`, `bufferization`, `memref`, `linalg`, `scf`, `func` and some of `vector`.

    %0 = sparse_tensor.convrt %a : tensor<8xf64> to tensor<8xf64, #SV>
         ^^^^^^^^^^^^^^^^^^^^ did you mean `sparse_tensor.convert`?

Write the program in these, or run the passes of MLIR that lower others to them.";
    UNKNOWN_TYPE = "E1002", "a type that sparsec does not know",
    "Types are `index`, integers, `bf16` to `f64`, `complex`, `tensor`, `memref`, `vector`, functions,
`!llvm.ptr`, and the specifiers, iteration spaces and iterators of `sparse_tensor`.

    func.func private @f(tensor<8xfloat64>)
                                  ^^^^^^^ no type is named like this

Write `f64`.";
    UNKNOWN_ATTRIBUTE = "E1003", "an attribute that sparsec does not read",
    "Attributes are numbers, texts, types, symbols, affine maps, lists, dictionaries, dense and sparse
constants, encodings, and a few words of dialects such as `#arith.fastmath<fast>`.

    func.func private @f(tensor<8xf64, affine_map<(i) -> (i)>>)
                                       ^^^^^^^^^^^^^^^^^^^^^^ not an encoding

An attribute that programs do not need may be left out.";
    UNKNOWN_ALIAS = "E1004", "an alias that is not defined",
    "A name with `#` stands for an attribute, one with `!` for a type, and each is defined above its first
use.

    func.func private @f(tensor<8xf64, #SV>)
                                       ^^^ not defined

Define it: `#SV = #sparse_tensor.encoding<{ map = (i) -> (i : compressed) }>`.";
    DEFINED_TWICE = "E1005", "a name that is given twice",
    "Values, aliases, functions, keys and attributes have names of their own. A region sees the values
around it, so it does not use their names for others.

    %0 = arith.constant 1 : index
    %0 = arith.constant 2 : index
    ^^ defined again

Rename one of them.";
    UNKNOWN_VALUE = "E1006", "a value that is not defined here",
    "An operation uses results of operations above it, in its own region or a region around it, and the
arguments of those regions. Functions see no values from outside.

    %1 = arith.addi %0, %0 : index
                    ^^ defined below
    %0 = arith.constant 1 : index

Move the definition up.";
    MLIR_TOO_DEEP = "E1007", "a text that is nested too deeply",
    "Regions, types, attributes and expressions may be nested 64 levels deep, all of them together.
No program that somebody writes comes near; one that a program wrote can name its parts by aliases and
functions.";
    OTHER_RELEASE = "E1008", "a word of another release",
    "Each release of MLIR changed the words of `sparse_tensor`. A text is written in the words of one
release, which they tell; `--dialect` says which, where that is wanted.

    #A = #sparse_tensor.encoding<{ dimLevelType = [\"compressed\"] }>
                                   ------------ a word of releases up to 16
    sparse_tensor.print %a : tensor<8xf64, #A>
    ^^^^^^^^^^^^^^^^^^^ a word of releases from 18 on

Write all of it in the words of one release, or read it with `--dialect sparsec`, which knows all words.";
    BAD_MAP = "E1009", "a map that is not affine",
    "The results of a map are sums of its dimensions and symbols times numbers, and quotients and rests
of divisions by positive numbers.

    affine_map<(i, j) -> (i * j)>
                          ^^^^^ a dimension times a dimension

Name dimensions and symbols in the lists before `->`.";
    OPERAND_TYPE = "E1010", "a type that an operation does not take",
    "Each operation says which types its operands and results have: `arith.addf` adds floating-point
numbers, the operations of `sparse_tensor` take tensors with an encoding.

    %0 = arith.addf %i, %i : index
                    ^^ `index` is no floating-point type

Use the operation for this type, or convert the value first.";
    TYPES_DIFFER = "E1011", "types that are to be the same",
    "A value has one type, wherever it is used, and operations want some of their types to be the same.

    func.func @f(%x: f32) -> f64 {
      %0 = arith.addf %x, %x : f64
                      ^^ has type `f32`

Write the type that the value has, or convert it.";
    BAD_COUNT = "E1012", "a wrong number of operands, results or types",
    "An operation has as many operands, results and types as its definition says.

    %0, %1 = arith.constant 1 : index
    ^^^^^^ one result has two names

`sparsec explain` cannot know each operation; the help of the error shows how this one is written.";
    BAD_ATTRIBUTE = "E1013", "an attribute that is missing or of another kind",
    "Some attributes belong to an operation: without the level, `sparse_tensor.positions` does not say
which array is meant.

    %0 = sparse_tensor.positions %a : tensor<8x8xf64, #CSR> to memref<?xindex>
         ^^^^^^^^^^^^^^^^^^^^^^^ `level` is missing

Write it in braces: `{level = 1 : index}`.";
    BAD_REGION = "E1014", "a region of another form",
    "Operations say which regions they have, which arguments these have, and in which operation they
end. Regions have one block: sparsec reads no branches between blocks.

    %0 = sparse_tensor.unary %x : f64 to f64
      present = {
        ^bb0(%a: f32):
             ^^ to be `f64`

The label says what the region should have.";
    BAD_CALL_SYMBOL = "E1015", "a call that does not fit its function",
    "A call names a function of the module, and gives it arguments of its types.

    func.func private @read(index) -> f64
    %0 = call @read(%x) : (f64) -> f64
              ^^^^^ takes `(index)`

Declare functions of other libraries with `func.func private @name(types) -> types`.";
    SHAPE_MISMATCH = "E1016", "shapes that do not fit",
    "Extents that are known on both sides are equal, and there are as many indices as modes.

    %0 = tensor.empty(%n) : tensor<4x4xf64>
                      ^^ no extent is open

Where the program computes an extent, write `?` in the type.";
    BAD_CONSTANT = "E1017", "a constant that its type does not hold",
    "Integers fit in their type, floating-point numbers have a point, and `dense` has as many numbers as
its type has entries, in as many brackets as it has modes.

    %0 = arith.constant 300 : i8
                        ^^^ at most 255

Use a wider type.";
    ENCODING_KEY = "E1020", "an unknown key of an encoding",
    "An encoding has a `map` of levels, and may have `posWidth`, `crdWidth`, `explicitVal` and `implicitVal`.
Earlier releases have keys of their own.

    #A = #sparse_tensor.encoding<{ maps = (i) -> (i : compressed) }>
                                   ^^^^ did you mean `map`?

`sparsec mlir FILE --emit encodings` lists the encodings of a text in every spelling.";
    ENCODING_LEVEL = "E1021", "a level type where it cannot stand",
    "Levels are `dense`, `compressed`, `loose_compressed`, `singleton`, `structured[n, m]` and `batch`.
`batch` levels come first; above `structured` all are dense; a singleton stands below a compressed level or
another singleton.

    map = (i, j) -> (i : dense, j : singleton)
                                ^^^^^^^^^^^^^ below no compressed level

For coordinate lists write `(i : compressed(nonunique), j : singleton)`.";
    ENCODING_MAP = "E1022", "a level map that cannot be turned round",
    "The coordinates of an entry follow from its levels: each mode is a level, or the quotient and the rest
of its division by a number are two.

    map = (i, j) -> (j - i : compressed, i : dense)
          ^ diagonals, which releases of MLIR do not take

`--dialect sparsec` takes every map that sparsec's formats take: diagonals, slots of ELL, Morton order.";
    ENCODING_WIDTH = "E1023", "an index of an unknown width",
    "Positions and coordinates have 8, 16, 32 or 64 bits, or 0 for those of `index`.

    #A = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), posWidth = 24 }>
                                                                            ^^ not a width

Write the next wider one.";
    ENCODING_ORDER = "E1024", "an encoding for tensors of another order",
    "An encoding has as many modes as the tensor that it is given to.

    tensor<8xf64, #CSR>
                  ^^^^ two modes

Give each order an encoding of its own.";
    ENCODING_VALUE = "E1025", "a value or slice that an encoding cannot have",
    "`explicitVal` and `implicitVal` are numbers of the type of the tensor's entries, and the implicit one is
zero. A slice has an offset, a size and a step from 1 on.

    #A = #sparse_tensor.encoding<{ map = (i) -> (i : compressed), implicitVal = 1.0 : f64 }>
                                                                                ^^^ not zero

Leave the key out where entries that are not stored are zero.";
    NO_FORMAT = "E1027", "an encoding without a format",
    "sparsec stores tensors in formats. Encodings of slices, which are views of other tensors, and level maps
with symbols have none.

    map = [s](i, j) -> (i * s : dense, i : dense, j : compressed)

Write ELL with the rank of an entry in its row, `(#i : dense, i : dense, j : singleton)`, in `--dialect
sparsec`.";
    NO_ENCODING = "E1028", "a format without an encoding",
    "An encoding is one map of levels. Formats of several parts, of triangles, with mirror images or along a
curve have clauses that no encoding has.

    sparsec formats 'csr, lower'

Use a format of one map of levels.";
    NOT_SPARSE = "E1030", "a tensor without the encoding that an operation needs",
    "Operations of `sparse_tensor` read and make tensors that are stored sparsely; the type says how.

    %0 = sparse_tensor.positions %a {level = 0 : index} : tensor<8xf64> to memref<?xindex>
                                 ^^ has no encoding

Convert the tensor first: `sparse_tensor.convert %a : tensor<8xf64> to tensor<8xf64, #SV>`.";
    LEVEL_OUT_OF_RANGE = "E1031", "a level or mode that a tensor does not have",
    "Levels and modes are counted from 0, and a tensor has as many levels as its encoding.

    %0 = sparse_tensor.positions %a {level = 2 : index} : tensor<8x8xf64, #CSR> to memref<?xindex>
                                             ^ levels are 0 and 1

Only levels of some types have positions: `compressed` and `loose_compressed`.";
    CONVERT_EXTENTS = "E1032", "a conversion to an extent that is not known to be right",
    "A conversion keeps the extents, or forgets them: a tensor of 32 rows may become one of `?` rows. The other
way round would have to be tested as the program runs.

    %0 = sparse_tensor.convert %d : tensor<?xf64> to tensor<100xf64, #SV>
         ^ is it 100?

Convert to `?`, and use `tensor.cast` where the extent is certain.";
    BUFFER_TYPE = "E1033", "an array of another type than the encoding says",
    "The arrays of a tensor are memrefs of one mode, and of one more for each `batch` level. Positions
and coordinates have the widths that the encoding says, `index` without one; values have the type of
the entries.

    %0 = sparse_tensor.positions %a {level = 1 : index} : tensor<8x8xf64, #CSR> to memref<?xi32>
                                                                                   ^ `index`

Write the type that the encoding says, or give the encoding `posWidth = 32`.";
    BAD_INDEXING = "E1035", "indexing maps that do not fit",
    "`linalg.generic` has an indexing map for each operand, of one dimension for each iterator, and of one
result for each mode of the operand. Extents that different operands give one iterator are equal.

    {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} ins(%a : …) outs(%x : …)
                     ^ one map for two operands

Write a map for each operand, those of `ins` first.";
    BAD_ASSEMBLY = "E1036", "arrays that do not make up a tensor",
    "`sparse_tensor.assemble` takes the arrays of all levels in order: for a compressed level positions and
coordinates, for a singleton its coordinates, for a coordinate list all coordinates in one array of tuples;
then the values.

    %0 = sparse_tensor.assemble (%pos), %vals : (tensor<9xindex>), tensor<?xf64> to tensor<8x8xf64, #CSR>
                                 ^ two arrays for `#CSR`

`sparsec mlir FILE --emit encodings` lists the arrays of each encoding.";
    ESCAPING_ALLOCATION = "E1037", "an allocation of a sparse tensor that leaves its function",
    "From release 15 to 18, no call takes a sparse tensor right from its allocation, and no function gives it.

    %a = bufferization.alloc_tensor() : tensor<8xf64, #SV>
    return %a : tensor<8xf64, #SV>
           ^^ allocated above

`sparse_tensor.load %a` finishes insertions and may leave; so may a tensor of `tensor.empty`.";
    NOT_CONCATENATED = "E1038", "tensors that cannot be concatenated",
    "Concatenated tensors have the same order, the same extents in all modes but one, and their extents in
that one add up.

    %0 = sparse_tensor.concatenate %a, %b {dimension = 0 : index}
       : tensor<2x4xf64, #CSR>, tensor<3x4xf64, #CSR> to tensor<6x4xf64, #CSR>
                                                                ^ 5

Write the sum, or `?`.";
    RELEASED = "E1039", "a tensor used after its release",
    "A release gives the memory of a tensor back. Nothing behind it may use the tensor.

    bufferization.dealloc_tensor %a : tensor<8xf64, #SV>
    %0 = sparse_tensor.values %a : tensor<8xf64, #SV> to memref<?xf64>
                              ^^ released above

Release it behind its last use.";
    NOT_RUN = "E1060", "an operation that sparsec does not run in this form",
    "`sparsec mlir --run` evaluates the program around kernels, and the functions of MLIR's runner.

    call @sgemm(%a, %b) : (memref<?xf32>, memref<?xf32>) -> ()
    ^^^^ function `@sgemm` has no body

Give the function a body, or write the operation as others.";
    OUT_OF_BOUNDS_ACCESS = "E1061", "a coordinate outside of a tensor or memref",
    "Coordinates run from 0 up to the extent, which they never reach.

    %0 = tensor.extract %a[%c8] : tensor<8xf64>
         ^^^^^^^^^^^^^^ coordinates [8] of a tensor with extents [8]

Compare the coordinate with `tensor.dim` or `memref.dim` first.";
    INSERTION_ORDER = "E1062", "an insertion out of order",
    "Entries are inserted in ascending order of the coordinates of levels, each once, into a tensor that is
not finished.

    %1 = tensor.insert %v into %0[%c3] : tensor<8xf64, #SV>
    %2 = tensor.insert %v into %1[%c1] : tensor<8xf64, #SV>
         ^^^^^^^^^^^^^ an entry at levels [1] behind one at levels [3]

Insert in order, or collect the entries in a dense tensor and convert it.";
    FAILED_ASSERTION = "E1063", "an assertion of the program that does not hold",
    "`cf.assert` ends the program where its condition is false.

    cf.assert %same, \"the extents differ\"
    ^^^^^^^^^ an assertion does not hold: the extents differ

The message is the program's own.";
    RUN_LIMIT = "E1064", "a program that takes more than it may",
    "Calls inside one another are limited, shapes have to fit in memory, and a body that no expression has
is evaluated at no more than 2^32 points.

    %0 = linalg.generic … ins(%a : tensor<1000000x1000000xi32, #CSR>) { … arith.shli … }
         ^^^^^^^^^^^^^^ a body that is evaluated at 1000000000000 points

Use smaller extents, or other operations in the body.";
    NO_ENTRY_POINT = "E1065", "no function to run",
    "`--run NAME` runs a function of the program that has a body and takes no arguments.

    sparsec mlir spmv.mlir --run main
    no function `@main` has a body

Write `func.func @main()` that makes the operands and calls the others.";
    UNDEFINED_VALUE = "E1066", "an operation without a value",
    "An integer quotient by zero has no value, and neither has an integer that is too large for its type.

    %0 = arith.divsi %a, %zero : i32
         ^^^^^^^^^^^ an operation without a value

Test the operands first.";
    NO_TENSOR_FILE = "E1067", "a tensor file that the environment does not name",
    "`@getTensorFilename(i)` is the value of the environment variable `TENSORi`.

    sparsec mlir spmv.mlir --run main
    the environment has no variable `TENSOR0`

Set it: `TENSOR0=matrix.mtx sparsec mlir spmv.mlir --run main`.";
    NOT_IN_RELEASE = "E1050", "a program that a release has no words for",
    "`--to-dialect` writes a program in the words of a release. Not every release has words for everything.

    sparsec mlir new.mlir --emit mlir --to-dialect 14
    sparse_tensor.sort quick_sort %n, %x : memref<?xindex>
    ^^^^^^^^^^^^^^^^^^ release 14 has no `sparse_tensor.sort`

Choose a later release, or write the program without it.";
    NO_GENERIC = "E1051", "a program that `linalg.generic` does not compute",
    "`--emit linalg` writes programs over encodings of MLIR, which chooses the loops. It is refused where the
module would have another value than the program: for operators without an operation of the same meaning, for
reductions that implicit entries count in, and for operands at computed coordinates.

    sparsec compile 'y(i) = A(i,i + 1)' --emit linalg
                           ^^^^^^^^^^ an operand is read at computed coordinates

`--emit mlir` writes the loops of any program.";
}
