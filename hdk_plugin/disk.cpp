// SPDX-License-Identifier: Apache-2.0
#include "disk.h"

#include <GA/GA_Handle.h>

#include <algorithm>
#include <cstring>

namespace oz {

static const char *const CHAIN = "ooze_chain"; // detail attribute of files, two integers

void Disk::ask(const Parms &parms) {
  on = parms.on("cachedisk");
  every = std::max(1, int(parms.number("cacheevery")));
  trail = int(parms.number("cachetrail"));
}

bool save_frame(const std::string &path, const GU_Detail &state, uint64_t chain, Report &report) {
  GU_Detail copy;
  ooze_file *file = nullptr;
  ooze_message why = {""};
  int32 words[2];
  std::memcpy(words, &chain, sizeof words);
  copy.replaceWith(state);
  copy.addIntTuple(GA_ATTRIB_DETAIL, CHAIN, 2);
  GA_RWHandleI h(copy.findAttribute(GA_ATTRIB_DETAIL, CHAIN));
  for (int k = 0; k < 2; ++k) h.set(GA_Offset(0), k, words[k]);
  ooze_result r = ooze_file_create_alike(path.c_str(), &file, &why);
  if (r >= 0 && !copy.save(ooze_file_path(file), nullptr).success()) {
    ooze_file_discard(file);
    report.warn("%s could not be written", path.c_str());
    return false;
  }
  if (r >= 0) r = ooze_file_commit(file, 1, &why);
  if (r < 0) report.warn("%s", why.text);
  return r >= 0;
}

Loaded load_frame(const std::string &path, uint64_t chain, GU_Detail &out) {
  if (!ooze_file_exists(path.c_str())) return Loaded::NONE;
  out.clearAndDestroy();
  if (!out.load(path.c_str()).success()) return Loaded::DAMAGED;
  const GA_Attribute *a = out.findAttribute(GA_ATTRIB_DETAIL, CHAIN);
  GA_ROHandleI h(a);
  if (!h.isValid() || a->getTupleSize() != 2) return Loaded::STALE;
  const int32 words[2] = {h.get(GA_Offset(0), 0), h.get(GA_Offset(0), 1)};
  if (std::memcmp(words, &chain, sizeof words)) return Loaded::STALE;
  out.destroyAttribute(GA_ATTRIB_DETAIL, CHAIN);
  return Loaded::WHOLE;
}

void remove_frame(const std::string &path) {
  if (ooze_file_exists(path.c_str())) ooze_file_remove(path.c_str(), nullptr);
}

} // namespace oz
