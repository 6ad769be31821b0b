#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "frostline/accel/backend.h"

namespace frostline::accel {

/// Encodes one batch and waits for it. Shape: `images` as the session's input.
/// Errors: `kUsage` when `images` is of another type; as `EncoderSession::wait`.
std::vector<HostTensor> run(EncoderSession& session,
                            const HostTensor& images,
                            std::chrono::milliseconds deadline = std::chrono::minutes(10));

/// Runs one compiled artefact on a batch; returns its outputs in the artefact's order.
using Runner = std::function<std::vector<HostTensor>(const HostTensor& images)>;

/// Compiles an artefact; the runner owns what it needs.
using Compiler = std::function<Runner(const Artefact& artefact)>;

/// A compiler that opens a session for every artefact, for example on `openvino:CPU`.
Compiler session_compiler(std::string backend_and_device, CompileOptions options);

}  // namespace frostline::accel
