#include "tests/conformance/encoder_backend_suite.h"

#include <algorithm>
#include <future>

#include "frostline/accel/run.h"
#include "frostline/core/clock.h"
#include "tests/support/tiny_artefact.h"

namespace frostline::test {

namespace {

using accel::EncoderSession;
using accel::Slot;
using accel::Ticket;

/// Memory for one result.
class Result {
 public:
  explicit Result(const EncoderSession& session) {
    for (const TensorSpec& spec : session.outputs()) {
      tensors_.emplace_back(spec.dtype, spec.shape);
    }
    for (HostTensor& tensor : tensors_) {
      views_.push_back(tensor.bytes());
    }
  }

  std::span<const std::span<std::byte>> views() const { return views_; }

  const std::vector<HostTensor>& tensors() const { return tensors_; }

 private:
  std::vector<HostTensor> tensors_;
  std::vector<std::span<std::byte>> views_;
};

bool are_same(const std::vector<HostTensor>& a, const std::vector<HostTensor>& b) {
  return std::ranges::equal(a, b, [](const HostTensor& left, const HostTensor& right) {
    return std::ranges::equal(left.bytes(), right.bytes());
  });
}

Ticket submit(EncoderSession& session, const HostTensor& images) {
  const Slot slot = session.borrow();
  std::ranges::copy(images.bytes(), slot.input.begin());
  return session.submit(slot);
}

template <class Call>
ErrorCode code_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()), "");
    return e.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::kInternal;
}

}  // namespace

void EncoderBackendSuite::SetUp() {
  if (!GetParam().skip_reason.empty()) {
    GTEST_SKIP() << GetParam().skip_reason;
  }
  artefact_ = tiny_coded_artefact(kBatch);
}

std::unique_ptr<EncoderSession> EncoderBackendSuite::open(int num_slots) const {
  return GetParam().make()->compile(artefact_, GetParam().device, {num_slots, 1});
}

TEST_P(EncoderBackendSuite, ListsItsDeviceAsUsable) {
  const auto backend = GetParam().make();
  const auto devices = backend->devices();
  ASSERT_FALSE(devices.empty());
  bool is_found = false;
  for (const accel::DeviceInfo& info : devices) {
    EXPECT_EQ(info.backend, backend->name());
    EXPECT_EQ(info.is_usable, info.reason.empty());
    is_found = is_found ||
               (info.device == GetParam().device && info.is_usable && !info.precisions.empty());
  }
  EXPECT_TRUE(is_found);
}

TEST_P(EncoderBackendSuite, RefusesAnUnknownDeviceByName) {
  try {
    GetParam().make()->compile(artefact_, "TOASTER", {1, 1});
    FAIL() << "no error was thrown";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(e.what()).find("TOASTER"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find(GetParam().device), std::string::npos) << e.what();
  }
}

TEST_P(EncoderBackendSuite, RefusesZeroSlots) {
  EXPECT_EQ(code_of([&] { open(0); }), ErrorCode::kUsage);
}

TEST_P(EncoderBackendSuite, HasTheArtefactsTypes) {
  const auto session = open(2);
  EXPECT_EQ(session->input(), artefact_.input);
  EXPECT_EQ(session->outputs(), artefact_.outputs);
  EXPECT_EQ(session->num_slots(), 2);
  EXPECT_NE(session->runtime_identity().find(artefact_.precision), std::string::npos);
}

TEST_P(EncoderBackendSuite, GivesTheSameBytesForTheSameImages) {
  const auto session = open(2);
  const HostTensor images = tiny_frames(kBatch, 1);
  const HostTensor others = tiny_frames(kBatch, 2);
  const auto first = accel::run(*session, images);
  const auto other = accel::run(*session, others);
  EXPECT_TRUE(are_same(first, accel::run(*session, images)));
  EXPECT_FALSE(are_same(first, other));
  EXPECT_TRUE(are_same(first, accel::run(*open(1), images)));
}

TEST_P(EncoderBackendSuite, CodesOfAnImageDoNotDependOnTheBatch) {
  const HostTensor images = tiny_frames(kBatch, 3);
  const auto together = accel::run(*open(1), images);
  const auto single =
      GetParam().make()->compile(accel::with_batch(artefact_, 1), GetParam().device, {1, 1});
  const auto parts = quantise::batches_of(images, 1);
  for (std::size_t b = 0; b < parts.size(); ++b) {
    const auto alone = accel::run(*single, parts[b]);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const std::size_t size = alone[i].bytes().size();
      EXPECT_TRUE(std::ranges::equal(alone[i].bytes(), together[i].bytes().subspan(b * size, size)))
          << "output " << i << " image " << b;
    }
  }
}

TEST_P(EncoderBackendSuite, TicketsMayBeWaitedForInAnyOrder) {
  const auto session = open(3);
  std::vector<std::vector<HostTensor>> expected;
  std::vector<Ticket> tickets;
  for (std::uint64_t i = 0; i < 3; ++i) {
    expected.push_back(accel::run(*session, tiny_frames(kBatch, 10 + i)));
  }
  for (std::uint64_t i = 0; i < 3; ++i) {
    tickets.push_back(submit(*session, tiny_frames(kBatch, 10 + i)));
  }
  for (const std::size_t i : {2U, 0U, 1U}) {
    const Result result(*session);
    session->wait(tickets[i], result.views(), kDeadline);
    EXPECT_TRUE(are_same(result.tensors(), expected[i])) << "ticket " << i;
  }
}

TEST_P(EncoderBackendSuite, BorrowWaitsForAFreeSlot) {
  const auto session = open(1);
  const Ticket ticket = submit(*session, tiny_frames(kBatch, 4));
  auto next = std::async(std::launch::async, [&] { return session->borrow(); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  const Result result(*session);
  session->wait(ticket, result.views(), kDeadline);
  ASSERT_EQ(next.wait_for(kDeadline), std::future_status::ready);
  EXPECT_EQ(next.get().index, 0);
}

TEST_P(EncoderBackendSuite, RefusesAWrongTicketSlotOrSpan) {
  const auto session = open(1);
  const Result result(*session);
  const auto wait = [&](Ticket ticket, std::span<const std::span<std::byte>> views) {
    return code_of([&] { session->wait(ticket, views, kDeadline); });
  };
  EXPECT_EQ(wait(Ticket{12345}, result.views()), ErrorCode::kUsage);
  EXPECT_EQ(code_of([&] { session->submit(Slot{0, {}}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([&] { session->submit(Slot{7, {}}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([&] { accel::run(*session, tiny_frames(kBatch + 1, 1)); }), ErrorCode::kUsage);

  const Ticket ticket = submit(*session, tiny_frames(kBatch, 5));
  EXPECT_EQ(wait(ticket, result.views().first(1)), ErrorCode::kUsage);
  session->wait(ticket, result.views(), kDeadline);
  EXPECT_EQ(wait(ticket, result.views()), ErrorCode::kUsage);
}

TEST_P(EncoderBackendSuite, DrainDropsResultsAndFreesTheirSlots) {
  const auto session = open(2);
  const Ticket first = submit(*session, tiny_frames(kBatch, 6));
  submit(*session, tiny_frames(kBatch, 7));
  session->drain();
  const Result result(*session);
  EXPECT_EQ(code_of([&] { session->wait(first, result.views(), kDeadline); }), ErrorCode::kUsage);
  const Slot a = session->borrow();
  const Slot b = session->borrow();
  EXPECT_NE(a.index, b.index);
  EXPECT_EQ(session->counters().completed, 2);
}

TEST_P(EncoderBackendSuite, TimesAndCountsRequests) {
  const auto session = open(1);
  const std::int64_t before = Clock::steady().now_ns();
  const Result result(*session);
  const Ticket ticket = submit(*session, tiny_frames(kBatch, 8));
  const accel::RequestTiming timing = session->wait(ticket, result.views(), kDeadline);
  EXPECT_LE(before, timing.begin_ns);
  EXPECT_LE(timing.begin_ns, timing.end_ns);
  EXPECT_LE(timing.end_ns, Clock::steady().now_ns());
  const accel::SessionCounters counters = session->counters();
  EXPECT_EQ(counters.submitted, 1);
  EXPECT_EQ(counters.completed, 1);
  EXPECT_EQ(counters.busy_ns, timing.end_ns - timing.begin_ns);
}

TEST_P(EncoderBackendSuite, ServesSeveralThreads) {
  const auto session = open(2);
  const HostTensor images = tiny_frames(kBatch, 9);
  const auto expected = accel::run(*session, images);
  std::vector<std::future<bool>> workers;
  for (int i = 0; i < 4; ++i) {
    workers.push_back(std::async(std::launch::async, [&] {
      bool is_right = true;
      for (int n = 0; n < 5; ++n) {
        is_right = is_right && are_same(accel::run(*session, images), expected);
      }
      return is_right;
    }));
  }
  for (auto& worker : workers) {
    EXPECT_TRUE(worker.get());
  }
  EXPECT_EQ(session->counters().completed, 21);
}

TEST_P(EncoderBackendSuite, MayBeDestroyedWithRequestsInFlight) {
  const auto session = open(2);
  submit(*session, tiny_frames(kBatch, 1));
  submit(*session, tiny_frames(kBatch, 2));
  EXPECT_EQ(session->counters().submitted, 2);
}

}  // namespace frostline::test
