#pragma once

#include <string>
#include <vector>

#include <openvino/openvino.hpp>

#include "frostline/accel/backend.h"

namespace frostline::accel {

/// The process-wide OpenVINO core: loading its plug-ins takes longer than most compilations.
ov::Core& openvino_core();

/// Number formats that a device runs natively, as artefact precisions.
std::vector<std::string> openvino_precisions(const std::string& device);

/// Reads and compiles. Errors: `kUnsupported` when the device lacks the precision or an operator;
/// `kDevice` with OpenVINO's text otherwise.
ov::CompiledModel compile_openvino(const Artefact& artefact,
                                   const std::string& device,
                                   const CompileOptions& options);

/// Best vector instruction set for INT8 of the processor, for example `amx_int8`.
std::string instruction_set();

}  // namespace frostline::accel
