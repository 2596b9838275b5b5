# SPDX-License-Identifier: Apache-2.0
# Writes the commit of the sources into a header, if it is not there already. Run at every build;
# without git: unknown.
execute_process(COMMAND git -C "${SOURCE}" describe --always --dirty --abbrev=12 OUTPUT_VARIABLE
    commit ERROR_QUIET
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  set(commit "unknown")
endif()
file(CONFIGURE OUTPUT "${OUT}" CONTENT "#define VERIFY_COMMIT \"${commit}\"\n")
