//===- EmitHeader.cpp - The C header of an emitted step --------------------===//
//
// Part of the Remat project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitHeader.h"
#include "remat/Runtime/Types.h"

#include <cctype>

namespace remat {

std::string entryName(const std::string &path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  name = name.substr(0, name.find('.'));
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) ? "step" + name : name;
}

static std::string listValues(const std::vector<runtime::Program::Value> &values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string name = values[i].name;
    // A name must not end the comment.
    for (size_t at; (at = name.find("*/")) != name.npos;)
      name.replace(at, 2, "* /");
    text += " *   " + std::to_string(i) + "  " + runtime::spell(values[i].type) +
            (values[i].isUnsigned ? " unsigned  " : "  ") + name + "\n";
  }
  return text;
}

std::string emitHeader(const runtime::Program &program, const std::string &name, bool forGpu) {
  std::string include = forGpu ? "remat-c/RematCuda.h" : "remat-c/Remat.h";
  std::string guard = name;
  for (char &c : guard)
    c = char(std::toupper(static_cast<unsigned char>(c)));
  std::string text = "/* " + name + ": a step compiled by Remat; " + include + " says how it is used.\n *\n";
  text += " * Arena: " + std::to_string(program.arenaBytes) + " bytes" +
          (forGpu ? "" : "; threads: " + std::to_string(program.threads)) + ".\n";
  text += " *\n * Arguments:\n" + listValues(program.arguments);
  text += " * Results:\n" + listValues(program.results) + " */\n";
  text += "#ifndef " + guard + "_H\n#define " + guard + "_H\n\n#include \"" + include + "\"\n\n";
  text += "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  if (forGpu)
    text += "/* `options` may be NULL: the defaults. NULL: an error. */\nremat_cuda_program *" + name +
            "_open(const remat_cuda_options *options);\n\n";
  else
    text += "remat_program *" + name + "_open(void);\n\n";
  text += "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

} // namespace remat
