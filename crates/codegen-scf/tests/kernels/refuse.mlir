module {
  func.func @refuse() {
    %false = arith.constant false
    cf.assert %false, "out_of_memory"
    return
  }
}
