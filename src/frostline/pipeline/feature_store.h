#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "frostline/accel/backend.h"
#include "frostline/core/file.h"
#include "frostline/core/fingerprint.h"
#include "frostline/core/tensor.h"
#include "frostline/pipeline/batch_plan.h"

namespace frostline::pipeline {

/// What makes stored features valid; a changed part changes the fingerprint, which then never hits.
struct FeatureKey {
  Fingerprint artefact;
  std::string runtime_identity;
  Fingerprint dataset;
  std::string decoder;  ///< Version of what turns stored frames into pixels.
  std::string camera;
  std::int64_t stride = 1;
  std::vector<std::int64_t> episodes;

  Fingerprint fingerprint() const;
};

/// Boundary tensors of every anchor of a data set, mapped into memory. Immutable; thread-safe.
///
/// On disk: a folder `<cache>/<fingerprint>/` with `features.bin` (anchors in the sampler's data
/// set order, each holding its tensors one after another) and `store.json`, written last.
class FeatureStore {
 public:
  /// Errors: `kIo` when there is no store; `kData` naming file, size and remedy when it is damaged
  /// or of another key.
  FeatureStore(const std::filesystem::path& folder, const Fingerprint& key);

  /// Specs of one anchor's tensors (without a batch dimension).
  const std::vector<TensorSpec>& spec() const { return spec_; }

  std::int64_t num_anchors() const { return num_anchors_; }

  /// All tensors of one anchor.
  std::span<const std::byte> anchor(std::int64_t index) const;
  /// Checks the content against its stored SHA-256. Errors: `kData` naming file and remedy.
  void verify() const;

 private:
  std::filesystem::path folder_;
  std::vector<TensorSpec> spec_;
  std::int64_t num_anchors_ = 0;
  std::size_t anchor_bytes_ = 0;
  std::string sha256_;
  MappedFile file_;
};

/// What building a store did.
struct BuildResult {
  std::filesystem::path folder;
  bool was_present = false;
  std::int64_t num_anchors = 0;
  double duration_s = 0;
};

/// Makes sure that `cache/<key>` holds the features of all anchors of `plan`, encoding whatever is
/// missing. A killed build leaves no store and is begun again. A damaged store is named in a
/// warning and rebuilt.
BuildResult build_feature_store(const std::filesystem::path& cache,
                                const FeatureKey& key,
                                const BatchPlan& plan,
                                accel::EncoderSession& session,
                                const std::function<void(std::int64_t)>& on_progress);

}  // namespace frostline::pipeline
