func.func @main() -> tensor<2xf64> {
  %0 = arith.constant dense_resource<blob1> : tensor<2xf64>
  return %0 : tensor<2xf64>
}
{-#
  dialect_resources: {
    builtin: {
      blob1: "0x000000000000F03F0000000000000040"
    }
  }
#-}
