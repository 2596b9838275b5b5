// SPDX-License-Identifier: Apache-2.0
// The functions by which Houdini loads a plug-in's library: the one file that includes this gives
// it these functions.
#pragma once
#include "ut.h"

#ifdef MAKING_DSO
extern "C" {
SYS_VISIBILITY_EXPORT void HoudiniDSOVersion(const char **version);
SYS_VISIBILITY_EXPORT unsigned HoudiniCompilerVersion();
void HoudiniDSOVersion(const char **version) { *version = SYS_VERSION_RELEASE; }
unsigned HoudiniCompilerVersion() { return __GNUC__ * 100 + __GNUC_MINOR__; }
}
#endif
