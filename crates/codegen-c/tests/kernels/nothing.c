/*
 * The kernel nothing; its loops come first.
 *
 * in  A: no format * / at all
 *     arrays A.vals: double
 */
static inline int32_t nothing_loops(void) {
  double unused = 1.0;
  (void)unused;
  return SPARSEC_OK;
}

int32_t nothing(sparsec_context *context, const sparsec_tensor *A) {
  (void)context;
  (void)A;
  return nothing_loops();
}
