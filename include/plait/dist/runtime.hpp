// SPDX-License-Identifier: BSL-1.0
#pragma once

#include <plait/base/box.hpp>
#include <plait/base/compose.hpp>
#include <plait/base/topology.hpp>
#include <plait/dist/environment.hpp>
#include <plait/dist/exit_guard.hpp>
#include <plait/dist/node.hpp>
#include <plait/dist/statistics_gather.hpp>
#include <plait/dist/statistics_text.hpp>
#include <plait/dist/tracing.hpp>
#include <plait/net/solo.hpp>
#include <plait/task/named.hpp>
#include <plait/task/spawn.hpp>
#if PLAIT_WITH_MPI
#include <plait/net/mpi_exception.hpp>
#include <plait/net/mpi_transport.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

PLAIT_INTERFACE

namespace plait {
inline namespace PLAIT_DIST {

namespace dist {

/// The connections of a runtime, and what of MPI it must keep.
class connection {
 public:
  static base::box<connection> alone() {
    base::box c(new connection);
    c->own_ = base::box<net::transport>(new net::solo_transport);
    c->transport_ = c->own_.get();
    return c;
  }
  static base::box<connection> over(net::transport& transport) {
    base::box c(new connection);
    c->transport_ = &transport;
    return c;
  }
#if PLAIT_WITH_MPI
  static base::box<connection> over_mpi(int* argc, char*** argv) {
    base::box c(new connection);
    c->session_ = base::box<net::mpi_session>(new net::mpi_session(argc, argv, dist::patience_at_start()));
    c->join(MPI_COMM_WORLD);
    return c;
  }
  static base::box<connection> over(MPI_Comm comm) {
    base::box c(new connection);
    c->session_ = base::box<net::mpi_session>(new net::mpi_session);
    c->join(comm);
    return c;
  }

  /// The communicator of spmd bodies: MPI_COMM_NULL where there is no MPI, or before prepare_native.
  MPI_Comm native() const noexcept { return native_.get(); }
  /// Collective, once: makes the communicator of spmd bodies.
  void prepare_native() {
    if (has_mpi_) native_ = net::communicator::duplicate(mpi_comm_, "plait spmd");
  }
#endif

  std::exception_ptr refusal;  ///< why this rank can take part in no more than the agreement

  net::transport& transport() noexcept { return *transport_; }
  thread_level level() const noexcept { return level_; }
  bool has_mpi() const noexcept { return has_mpi_; }

 private:
#if PLAIT_WITH_MPI
  void join(MPI_Comm comm) {
    level_ = net::current_thread_level();
    if (level_ <= thread_level::funneled && !net::is_mpi_thread()) {
      throw error(base::compose({"plait: MPI was initialised with thread level ", to_string(level_),
                                 ", so the runtime must be made in the thread that initialised it"}));
    }
    auto own = net::communicator::duplicate(comm, "plait", std::chrono::seconds(10));
    mpi_comm_ = own.get();
    own_ = base::box<net::transport>(new net::mpi_transport(std::move(own)));
    transport_ = own_.get();
    has_mpi_ = true;
  }

  // In the order of their making: what is destroyed first comes last.
  base::box<net::mpi_session> session_;
  MPI_Comm mpi_comm_ = MPI_COMM_NULL;
  net::communicator native_;
#endif
  base::box<net::transport> own_;
  net::transport* transport_ = nullptr;
  bool has_mpi_ = false;
  thread_level level_ = thread_level::multiple;
};

/// A task that makes the task, so that what the making throws ends the run on all ranks.
template <class T>
task<T> made_by(function_ref<task<T>()> make) {
  co_return co_await make();
}

inline options with_workers(options o, net::transport& transport, thread_level level) {
  if (o.workers != 0) return o;
  if (level == thread_level::single) {
    o.workers = 1;
    return o;
  }
  int on_host = 0;
  for (int r = 0; r < transport.size(); ++r)
    on_host += transport.host_of(r) == transport.host_of(transport.rank()) ? 1 : 0;
  const auto processors = static_cast<int>(base::usable_processors());
  // A launcher that binds each rank to its share leaves a mask that is smaller than the machine.
  const bool bound = processors < static_cast<int>(base::online_processors());
  const int share = on_host > 0 ? processors / on_host : processors;
  o.workers = bound ? processors : share > 0 ? share : 1;
  return o;
}

}  // namespace dist

/// All ranks of a job, or of a communicator, as one machine for tasks. Making and destroying it is collective, and so
/// is each run. Between runs it makes no MPI call. Not thread-safe: the thread that makes it calls its functions.
class runtime {
 public:
  /// Over MPI_COMM_WORLD. Initialises MPI if nobody has, asking for MPI_THREAD_MULTIPLE, and finalises it then at the
  /// end. Without MPI, or with PLAIT_MPI=0 in the environment: one rank. Throws plait::error if MPI was finalised or
  /// the environment holds a value that can't be used, registry_mismatch if the ranks run different programs,
  /// mpi_error.
  runtime(int& argc, char**& argv, options o = {}) : runtime(connect(&argc, &argv), o) {}
  explicit runtime(options o = {}) : runtime(connect(nullptr, nullptr), o) {}
#if PLAIT_WITH_MPI
  /// Over the ranks of `comm`, of which it makes a duplicate. MPI stays as it is.
  explicit runtime(MPI_Comm comm, options o = {}) : runtime(dist::connection::over(comm), o) {}
#endif
  /// Over a transport of the caller's, which must outlive it: for ranks inside one process.
  explicit runtime(net::transport& transport, options o = {}) : runtime(dist::connection::over(transport), o) {}

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  ~runtime() { leave(); }

  /// This rank's number, from 0.
  int rank() const noexcept { return node_->rank(); }
  /// The number of ranks.
  int size() const noexcept { return node_->size(); }
  /// What MPI allows the process's threads, multiple where there is no MPI.
  plait::thread_level thread_level() const noexcept { return node_->level(); }

  /// Collective. Rank 0 executes the task and gives its result; the others serve, and give nullopt (false for void).
  /// Returns when the task, all that came of it on all ranks, and all callbacks have ended. If the task throws: its
  /// exception on rank 0, remote_error on the others.
  template <class T>
  auto run(task<T> t) {
    static_assert(!std::is_reference_v<T>, "plait: run can't give a reference: the others' ranks have no such object");
    if (rank() != 0) {
      return serve<T>();
    }
    return run_root<T>(std::move(t));
  }

  /// The same; the callable makes the task on rank 0 only.
  template <class F>
    requires std::is_invocable_v<F> && plait::detail::is_task<std::invoke_result_t<F>>
  auto run(F&& make) {
    using T = plait::detail::awaited_t<std::invoke_result_t<F>>;
    static_assert(!std::is_reference_v<T>, "plait: run can't give a reference: the others' ranks have no such object");
    if (rank() != 0) return serve<T>();
    return run_root<T>(named("the root task", dist::made_by<T>(make)));
  }

  /// Collective. Each rank executes its own task and gives its result; idle ranks take tasks from busy ones. Returns
  /// when all of all ranks have ended. If tasks throw: the exception of the lowest rank whose task threw, on all ranks.
  template <class T>
  T run_all(task<T> t) {
    auto own = work_through(std::move(t));
    const auto& failure = node_->lowest_failure();
    if (failure.rank >= 0 && failure.rank != rank()) {
      own.give_up();
      rethrow(failure, false);
    }
    return own.get();
  }

  /// What this rank's workers have done since the runtime began. Any thread, at any time.
  template <class Statistics = worker_statistics>  // templates: only programs that use them pay for them
  base::copyable_array<Statistics> local_statistics() const {
    return dist::statistics_here(*node_, nullptr, began_).workers;
  }
  /// Collective, between runs: what all workers of all ranks have done since the runtime began. Times of tasks are
  /// there where the options ask for statistics (PLAIT_STATS). For what one run did: the difference of two.
  template <class Statistics = plait::statistics>
  Statistics statistics() const {
    return dist::gather_statistics(connection_->transport(), dist::statistics_here(*node_, recorders_.get(), began_));
  }

  // ---- for the other parts of this layer ----

  dist::node& node() const noexcept { return *node_; }
  dist::connection& connection() const noexcept { return *connection_; }

 private:
  runtime(base::box<dist::connection> c, const options& o) : connection_(std::move(c)) {
    const auto level = connection_->level();
    options resolved;
    auto refusal = connection_->refusal;
    try {
      if (!refusal) resolved = dist::with_workers(dist::resolve(o), connection_->transport(), level);
    } catch (...) {  // the others must not wait for this rank
      refusal = std::current_exception();
    }
    exceptions_before_ = std::uncaught_exceptions();
    abort_after_ = resolved.abort_after;
    auto& transport = connection_->transport();
    auto ids = dist::agree_on_callables(transport);
    dist::worker_numbers numbers(transport, resolved.workers, refusal);
    try {
      node_ = base::box<dist::node>(new dist::node(transport, resolved, level, std::move(ids), std::move(numbers),
                                                   connection_->has_mpi() ? &abort_job : nullptr));
    } catch (...) {
      refusal = std::current_exception();
    }
    // All ranks stand, or none; and what is collective at the end of a run is for rank 0 to say.
    const auto statistics = dist::gather_unless_refused(transport, resolved.stats, refusal)[0];
    print_statistics_ = statistics == 1;
    const bool trace = dist::gather_unless_refused(
                           transport, resolved.trace != nullptr || resolved.graph != nullptr ? 1 : 0, {})[0] != 0;
    if (statistics != 0 || trace) watch_tasks(resolved, trace);
    if (resolved.stats_file != nullptr) statistics_file_ = resolved.stats_file;
    node_->set_owner(this);
#if PLAIT_WITH_MPI
    if (connection_->has_mpi()) guard_.emplace(dist::exit_guard::scope::runtime, size(), &abort_job);
    node_->set_spmd_preparation([](runtime& r) { r.connection_->prepare_native(); });
#endif
  }

  /// Collective. From here on the times of tasks are taken, and a trace is written if rank 0 wants one. No task has run
  /// yet.
  void watch_tasks(const options& o, bool trace) {
    auto& workers = node_->pool();
    recorders_ = std::make_unique<obs::recorder[]>(workers.size());
    if (trace) start_trace(o);
    for (unsigned i = 0; i < workers.size(); ++i) {
      if (tracing_.get() != nullptr) tracing_->watch(recorders_[i], i);
      workers.at(i).watch(&recorders_[i]);
    }
  }
  void start_trace(const options& o) {
    auto& transport = connection_->transport();
    const auto from_rank_0 = [&](const char* own) {
      std::string text = own == nullptr ? "" : own;
      std::vector<std::byte> bytes(reinterpret_cast<const std::byte*>(text.data()),
                                   reinterpret_cast<const std::byte*>(text.data() + text.size()));
      transport.broadcast(bytes, 0);
      return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    dist::tracing::names files;
    files.trace = from_rank_0(o.trace);
    files.graph = from_rank_0(o.graph);
    std::exception_ptr refusal;
    try {
      std::uint64_t records = 16;
      while (records < static_cast<std::uint64_t>(o.trace_ring)) records *= 2;
      tracing_ = base::box<dist::tracing>(new dist::tracing(std::move(files), *node_, records));
    } catch (...) {
      refusal = std::current_exception();
    }
    static_cast<void>(dist::gather_unless_refused(transport, 0, refusal));
    tracing_->align_clocks(transport);
  }

  /// Collective: rank 0 prints what has been done since a moment, or writes it to a file.
  void report_statistics(const plait::statistics& before) {
    const auto all = dist::gather_statistics(connection_->transport(),
                                             dist::statistics_here(*node_, recorders_.get(), began_) - before);
    if (rank() != 0) return;
    if (statistics_file_.empty()) {
      std::fputs(all.table().c_str(), stderr);
      return;
    }
    std::FILE* out = std::fopen(statistics_file_.c_str(), "w");
    const bool written = out != nullptr && std::fputs(all.json().c_str(), out) >= 0;
    if (out == nullptr || std::fclose(out) != 0 || !written)
      std::fprintf(stderr, "plait: statistics could not be written to %s\n", statistics_file_.c_str());
  }

  static base::box<dist::connection> connect([[maybe_unused]] int* argc, [[maybe_unused]] char*** argv) {
#if PLAIT_WITH_MPI
    std::exception_ptr refusal;
    try {
      if (!dist::mpi_is_wanted()) return dist::connection::alone();
    } catch (...) {  // the others, who may have another environment, must not wait for this rank
      refusal = std::current_exception();
    }
    auto c = dist::connection::over_mpi(argc, argv);
    c->refusal = std::move(refusal);
    return c;
#else
    return dist::connection::alone();
#endif
  }

  /// A root task of this rank, and what came of it.
  template <class T>
  struct root {
    std::optional<future<T>> result;
    std::exception_ptr refusal;  ///< why it could not be started

    T get() {
      if (refusal) std::rethrow_exception(refusal);
      return result->get();
    }
    /// The exception of a lower rank counts.
    void give_up() const {
      if (!refusal) static_cast<void>(result->exception());  // seen
    }
  };

  /// Works through a run with this task as the rank's root. One that can't be started fails as one that throws: the
  /// other ranks have begun the run.
  template <class T>
  root<T> work_through(task<T> t) {
    root<T> own;
    work([&](sched::family& parent, dist::run_context& context) -> const sched::unit* {
      try {
        return start_root(std::move(t), parent, context, own.result);
      } catch (...) {
        own.refusal = std::current_exception();
        context.home->root_failed(own.refusal);
        return nullptr;
      }
    });
    return own;
  }

  template <class T>
  static const sched::unit* start_root(task<T> t, sched::family& parent, dist::run_context& context,
                                       std::optional<future<T>>& f) {
    auto& p = plait::detail::prepare_spawn(t, context.home->pool(), parent, &context);
    f.emplace(plait::detail::make_future<T>(p));
    f->add_done_callback([home = context.home](const future<T>& done) {
      if (auto e = done.exception()) home->root_failed(e);
    });
    context.home->pool().post_to(0, &p);
    return &p;
  }

  void work(function_ref<const sched::unit*(sched::family&, dist::run_context&)> start) {
    const dist::exit_guard guard(dist::exit_guard::scope::run, size(), connection_->has_mpi() ? &abort_job : nullptr);
    from_run_ = false;
    plait::statistics before;
    if (print_statistics_) before = dist::statistics_here(*node_, recorders_.get(), began_);
    node_->work(start);
    node_->objects().run_ended();
    from_run_ = node_->lowest_failure().rank >= 0;
    if (print_statistics_) report_statistics(before);
  }

  static void abort_job() {
#if PLAIT_WITH_MPI
    MPI_Abort(MPI_COMM_WORLD, 1);
#endif
  }

  template <class T>
  using run_result =
      std::conditional_t<std::is_void_v<T>, bool, std::optional<std::conditional_t<std::is_void_v<T>, int, T>>>;

  template <class T>
  run_result<T> run_root(task<T> t) {
    auto own = work_through(std::move(t));
    if constexpr (std::is_void_v<T>) {
      own.get();
      return true;
    } else {
      return own.get();
    }
  }

  template <class T>
  run_result<T> serve() {
    work([](sched::family&, dist::run_context&) -> const sched::unit* { return nullptr; });
    if (const auto& failure = node_->lowest_failure(); failure.rank >= 0) rethrow(failure, true);
    return {};
  }

  [[noreturn]] void rethrow(const dist::termination::failure& failure, bool as_remote) const {
    if (failure.exception.empty()) {
      throw remote_error(failure.rank, "unknown host", "the root task", "an exception",
                         "there was no memory to say which");
    }
    wire::reader in(failure.exception);
    try {
      std::rethrow_exception(wire::decode_exception(in));
    } catch (const remote_error&) {
      throw;
    } catch (...) {
      if (!as_remote) throw;
      wire::reader again(failure.exception);
      throw wire::decode_remote_error(again);
    }
  }

  /// The end: all ranks together, or, if an exception that not all have takes this rank out, not at all.
  void leave() noexcept {
    if (node_.get() == nullptr) return;
    node_.reset();
    auto& transport = connection_->transport();
    if (transport.size() == 1) return end_trace();
    if (std::uncaught_exceptions() <= exceptions_before_) {
      transport.barrier();
      return end_trace();
    }
    // After a run that threw everywhere all ranks unwind, but not at the same moment; and this may be another
    // exception.
    const double seconds = from_run_ && abort_after_ < 60 ? 60 : abort_after_;
    const auto limit = base::nanoseconds_of(seconds);
    if (transport.try_barrier(limit)) return end_trace();
    std::fprintf(
        stderr,
        "plait: rank %d: an exception leaves the scope of a runtime, and the other ranks do not end theirs: they would "
        "wait for ever, so the job is aborted\n",
        transport.rank());
    if (connection_->has_mpi()) abort_job();
    std::abort();
  }

  void end_trace() noexcept {
    if (tracing_.get() != nullptr) tracing_->merge(connection_->transport());
  }

  base::box<dist::connection> connection_;
  // Of the workers, where statistics or a trace are wanted; they outlive the pool.
  base::box<dist::tracing> tracing_;
  std::unique_ptr<obs::recorder[]> recorders_;
  base::box<dist::node> node_;
  std::optional<dist::exit_guard> guard_;
  int exceptions_before_ = 0;
  double abort_after_ = 2;
  bool print_statistics_ = false;
  std::string statistics_file_;
  std::chrono::steady_clock::time_point began_ = base::now();
  bool from_run_ = false;  ///< the last run threw on all ranks, so all unwind
};

}  // namespace PLAIT_DIST
}  // namespace plait
