module {
  // in  A: no format */ at all
  func.func @nothing(%A.n0: index, %A.vals: memref<?xf64>) {
    %cst = arith.constant 1.0 : f64
    return
  }
}
