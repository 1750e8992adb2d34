"""The lit suite: tests of the tools, in folders that mirror lib/ and tools/."""
import os
import sys

import lit.formats

config.name = "Remat"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "unit"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.remat_binary, "test")

tools = [os.path.join(config.remat_binary, "bin"), config.llvm_tools]
config.environment["PATH"] = os.pathsep.join(tools + [config.environment["PATH"]])
config.available_features.update(feature for feature in config.remat_features if feature)

# Data that is not part of the repository; tests that need it say `REQUIRES: shared`.
shared = os.environ.get("REMAT_SHARED", os.path.join(config.remat_source, "..", "shared"))
if os.path.isdir(shared):
    config.available_features.add("shared")
    config.substitutions.append(("%shared", os.path.realpath(shared)))
config.substitutions.append(("%inputs", os.path.join(config.test_source_root, "Inputs")))
config.substitutions.append(("%python", sys.executable))
# What users compile and link against; the flags are the build's, for sanitized libraries link with nothing else.
config.substitutions.append(("%cc", config.cc))
config.substitutions.append(("%include", os.path.join(config.remat_source, "include")))
config.substitutions.append(("%lib", os.path.join(config.remat_binary, "lib")))

# A test that hangs is a test that fails.
try:
    import psutil  # noqa: F401  (lit needs it for timeouts)
    lit_config.maxIndividualTestTime = 300
except ImportError:
    pass
