# SPDX-License-Identifier: Apache-2.0
# standin_headers(FOLDER): headers of the HDK's names in FOLDER, each of which is one of ours.
set(STANDIN_FOLDER "${CMAKE_CURRENT_LIST_DIR}")
function(standin_headers folder)
  set(names
      dso:UT/UT_DSOVersion.h
      ut:UT/UT_Cache.h,UT/UT_HDKVersion.h,UT/UT_Error.h,UT/UT_ErrorLog.h,UT/UT_Interrupt.h,UT/UT_ParallelUtil.h,UT/UT_String.h,UT/UT_StringHolder.h,UT/UT_Vector3.h,UT/UT_Matrix4.h,SYS/SYS_Version.h,SYS/SYS_Visibility.h,SYS/SYS_Types.h,SYS/SYS_AtomicInt.h
      ga:GA/GA_AttributeDict.h,GA/GA_Handle.h,GA/GA_Types.h,GA/GA_ElementGroup.h,GU/GU_Detail.h,GU/GU_DetailHandle.h,GA/GA_Iterator.h
      geo:UT/UT_Assert.h,GEO/GEO_Primitive.h,GEO/GEO_PrimPoly.h,GEO/GEO_PolyCounts.h,GU/GU_PrimPoly.h,GU/GU_PrimPacked.h
      vdb:GU/GU_PrimVDB.h,GEO/GEO_PrimVolume.h,GEO/GEO_VolumeOptions.h,UT/UT_VoxelArray.h,GU/GU_ConvertParms.h
      op:OP/OP_Operator.h,OP/OP_AutoLockInputs.h,OP/OP_Context.h,OP/OP_NodeInfoParms.h,PRM/PRM_ParmList.h,PRM/PRM_Callback.h,OP/OP_OperatorTable.h,OP/OP_Director.h,CH/CH_Manager.h,PRM/PRM_Include.h,PRM/PRM_TemplateBuilder.h,SOP/SOP_Node.h,SOP/SOP_NodeVerb.h,SOP/SOP_NodeParmsOptions.h,DEP/DEP_MicroNode.h
      sim:GAS/GAS_SubSolver.h,SIM/SIM_DopDescription.h,SIM/SIM_GeometryCopy.h,SIM/SIM_Object.h,SIM/SIM_Options.h,SIM/SIM_ObjectArray.h,SIM/SIM_Position.h,SIM/SIM_Utils.h,SIM/SIM_Engine.h)
  foreach(entry IN LISTS names)
    string(REGEX MATCH "^[a-z]+" ours "${entry}")
    string(REGEX REPLACE "^[a-z]+:" "" theirs "${entry}")
    string(REPLACE "," ";" theirs "${theirs}")
    foreach(header IN LISTS theirs)
      file(CONFIGURE OUTPUT "${folder}/${header}" CONTENT
          "#include \"${STANDIN_FOLDER}/${ours}.h\"\n")
    endforeach()
  endforeach()
endfunction()
