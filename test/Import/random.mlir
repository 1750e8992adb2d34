// RUN: %S/Inputs/run.sh %s | FileCheck %s

// Random bits are XLA's, word by word: expected values are XLA's (CPU).

func.func private @printMemrefI32(tensor<*xi32>) attributes {llvm.emit_c_interface}
func.func private @printMemrefI64(tensor<*xi64>) attributes {llvm.emit_c_interface}

func.func @main() {

  // Threefry makes two words of a number of the counter; they are neighbours along the first even dimension, here the second.
  // 3 * 2 numbers are used, so the counter goes from 5 to 11.
  %k0 = "stablehlo.constant"() <{value = dense<[9223372036854788153, 5]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %r0:2 = "stablehlo.rng_bit_generator"(%k0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
  %bits0 = "stablehlo.bitcast_convert"(%r0#0) : (tensor<2xui64>) -> tensor<2xi64>
  %printed0 = tensor.cast %bits0 : tensor<2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed0) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [-9223372036854763463, 11]
  %bits1 = "stablehlo.bitcast_convert"(%r0#1) : (tensor<3x4xui32>) -> tensor<3x4xi32>
  %printed1 = tensor.cast %bits1 : tensor<3x4xi32> to tensor<*xi32>
  call @printMemrefI32(%printed1) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}-1612282508, -110386022, -1945816231, -164049414],
  // CHECK-NEXT: [2113540563, -1296771403, 805564759, 339571155],
  // CHECK-NEXT: [481268344, -1994074561, -1173248066, -988306459]]

  // No dimension is even: the largest is rounded up, and the last block's second word isn't used. 3 * 3 numbers.
  %k1 = "stablehlo.constant"() <{value = dense<[1, 18446744073709551615]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %r1:2 = "stablehlo.rng_bit_generator"(%k1) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
  %bits2 = "stablehlo.bitcast_convert"(%r1#0) : (tensor<2xui64>) -> tensor<2xi64>
  %printed2 = tensor.cast %bits2 : tensor<2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed2) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [1, 8]
  %bits3 = "stablehlo.bitcast_convert"(%r1#1) : (tensor<3x5xui32>) -> tensor<3x5xi32>
  %printed3 = tensor.cast %bits3 : tensor<3x5xi32> to tensor<*xi32>
  call @printMemrefI32(%printed3) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}277883032, 1381858422, -1271552006, -1762973819, 247883890],
  // CHECK-NEXT: [43444564, -2144348869, -315321645, -549236733, 1672743891],
  // CHECK-NEXT: [2109414752, 618976052, -1759985491, -470790939, -1426171369]]

  // 64 bits take both words, low word first. Three numbers.
  %k2 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %r2:2 = "stablehlo.rng_bit_generator"(%k2) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui64>)
  %bits4 = "stablehlo.bitcast_convert"(%r2#0) : (tensor<2xui64>) -> tensor<2xi64>
  %printed4 = tensor.cast %bits4 : tensor<2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed4) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [1, 5]
  %bits5 = "stablehlo.bitcast_convert"(%r2#1) : (tensor<3xui64>) -> tensor<3xi64>
  %printed5 = tensor.cast %bits5 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%printed5) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [-9209908263526143660, -2358953802017238317, -233920680524772397]

  // 8 bits are the lowest of 32.
  %k3 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %r3:2 = "stablehlo.rng_bit_generator"(%k3) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x2xui8>)
  %bits6 = "stablehlo.bitcast_convert"(%r3#0) : (tensor<2xui64>) -> tensor<2xi64>
  %printed6 = tensor.cast %bits6 : tensor<2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed6) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [1, 4]
  %bits7 = "stablehlo.convert"(%r3#1) : (tensor<2x2xui8>) -> tensor<2x2xi32>
  %printed7 = tensor.cast %bits7 : tensor<2x2xi32> to tensor<*xi32>
  call @printMemrefI32(%printed7) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}84, 211],
  // CHECK-NEXT: [59, 3]]

  // Philox makes four words of a number, which follow each other. With a state of two words the counter's high word is the key. Two numbers.
  %k4 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %r4:2 = "stablehlo.rng_bit_generator"(%k4) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %bits8 = "stablehlo.bitcast_convert"(%r4#0) : (tensor<2xui64>) -> tensor<2xi64>
  %printed8 = tensor.cast %bits8 : tensor<2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed8) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [1, 4]
  %bits9 = "stablehlo.bitcast_convert"(%r4#1) : (tensor<5xui32>) -> tensor<5xi32>
  %printed9 = tensor.cast %bits9 : tensor<5xi32> to tensor<*xi32>
  call @printMemrefI32(%printed9) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [2100602697, -1447511064, 2074354647, 800269529, 1828267006]

  // With three, it is the third: the carry goes into the block, and into the new state.
  %k5 = "stablehlo.constant"() <{value = dense<[3, 18446744073709551615, 7]> : tensor<3xui64>}> : () -> tensor<3xui64>
  %r5:2 = "stablehlo.rng_bit_generator"(%k5) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x2xui64>)
  %bits10 = "stablehlo.bitcast_convert"(%r5#0) : (tensor<3xui64>) -> tensor<3xi64>
  %printed10 = tensor.cast %bits10 : tensor<3xi64> to tensor<*xi64>
  call @printMemrefI64(%printed10) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [3, 1, 8]
  %bits11 = "stablehlo.bitcast_convert"(%r5#1) : (tensor<2x2xui64>) -> tensor<2x2xi64>
  %printed11 = tensor.cast %bits11 : tensor<2x2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed11) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: {{\[\[}}380346677586423032, -2701507602983844465],
  // CHECK-NEXT: [-2485290905348728350, -1819648469617903013]]

  // The default is Philox; a result of no dimensions is one word.
  %k6 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xui64>}> : () -> tensor<2xui64>
  %r6:2 = "stablehlo.rng_bit_generator"(%k6) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
  %bits12 = "stablehlo.bitcast_convert"(%r6#0) : (tensor<2xui64>) -> tensor<2xi64>
  %printed12 = tensor.cast %bits12 : tensor<2xi64> to tensor<*xi64>
  call @printMemrefI64(%printed12) : (tensor<*xi64>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [1, 3]
  %bits13 = "stablehlo.bitcast_convert"(%r6#1) : (tensor<ui32>) -> tensor<i32>
  %printed13 = tensor.cast %bits13 : tensor<i32> to tensor<*xi32>
  call @printMemrefI32(%printed13) : (tensor<*xi32>) -> ()
  // CHECK: data =
  // CHECK-NEXT: [2100602697]
  return
}
