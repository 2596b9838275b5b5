// SPDX-License-Identifier: Apache-2.0
#include "visual.h"

#include <GA/GA_Handle.h>
#include <UT/UT_Vector3.h>

#include <vector>

namespace oz {

void colour(const Parms &parms, GU_Detail &gdp, Report &report) {
  static const char *const names[5] = {"v", "conform", "stress", "temperature", "material"};
  const int choice = int(parms.number("visualize")) - 1; // 0 is none
  const GA_Size n = gdp.getNumPoints();
  if (choice < 0 || n == 0) return;
  const int width = int(ooze_visual_components(uint32_t(choice)));
  const GA_Attribute *a = gdp.findPointAttribute(names[choice]);
  GA_ROHandleF from(a);
  if (choice == OOZE_VISUAL_STRESS && !from.isValid())
    report.warn("the particles have no stress to show; switch on Stress in the Output folder");
  if (choice != OOZE_VISUAL_MATERIAL && (!from.isValid() || a->getTupleSize() < width)) return;
  std::vector<float> values(size_t(n) * size_t(width), 0.0f), colours(3 * size_t(n));
  for (int k = 0; k < width && from.isValid(); ++k)
    from.getBlockFromIndices(GA_Index(0), n, values.data() + k, width, k);
  const float range[2] = {parms.real("vismin"), parms.real("vismax")};
  ooze_visual(uint32_t(choice), values.data(), uint32_t(n), range, colours.data());
  gdp.addFloatTuple(GA_ATTRIB_POINT, "Cd", 3);
  GA_Attribute *cd = gdp.findPointAttribute("Cd");
  cd->setTypeInfo(GA_TYPE_COLOR);
  GA_RWHandleV3(cd).setBlockFromIndices(GA_Index(0), n,
                                        reinterpret_cast<const UT_Vector3 *>(colours.data()));
  cd->bumpDataId();
}

} // namespace oz
