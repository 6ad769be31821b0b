#include "frostline/accel/run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace frostline::accel {

std::vector<HostTensor> run(EncoderSession& session,
                            const HostTensor& images,
                            std::chrono::milliseconds deadline) {
  const TensorSpec& input = session.input();
  FROSTLINE_REQUIRE(images.dtype() == input.dtype && images.shape() == input.shape,
                    ErrorCode::kUsage,
                    "images are of another type than the encoder's input",
                    fmt::format("expected={}{} given={}{}",
                                to_string(input.dtype),
                                to_string(input.shape),
                                to_string(images.dtype()),
                                to_string(images.shape())));
  std::vector<HostTensor> outputs;
  std::vector<std::span<std::byte>> views;
  outputs.reserve(session.outputs().size());
  views.reserve(session.outputs().size());
  for (const TensorSpec& spec : session.outputs()) {
    outputs.emplace_back(spec.dtype, spec.shape);
  }
  for (HostTensor& output : outputs) {
    views.push_back(output.bytes());
  }
  const Slot slot = session.borrow();
  std::ranges::copy(images.bytes(), slot.input.begin());
  session.wait(session.submit(slot), views, deadline);
  return outputs;
}

Compiler session_compiler(std::string backend_and_device, CompileOptions options) {
  return [name = std::move(backend_and_device), options](const Artefact& artefact) -> Runner {
    const std::shared_ptr<EncoderSession> session = open_session(name, artefact, options);
    return [session](const HostTensor& images) { return run(*session, images); };
  };
}

}  // namespace frostline::accel
