//! Several modelled devices on persistent host threads; one request is split by token rows.

use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::model::Model;
use super::{Call, Counts, DeviceFault, Product, Variant};
use crate::config::Overflow;
use crate::{RuntimeError, abi};

/// Rows of an HMX tile: shares of a request are multiples of it.
const STRIP_ROWS: u32 = 32;

/// HVX workers of a modelled device, unless said otherwise. They run one after another, so more cost nothing.
const HVX_WORKERS: u32 = 4;

struct Task {
    plan: abi::pf_plan,
    request: abi::pf_request,
}

struct Done {
    result: Result<(), DeviceFault>,
    counts: Counts,
}

struct Worker {
    tasks: Option<Sender<Task>>,
    done: Receiver<Done>,
    counts: Counts,
    thread: Option<JoinHandle<()>>,
}

/// The functional model on `threads` host threads, each with a device of its own. The number never changes a bit.
pub struct ModelPool {
    workers: Vec<Worker>,
}

impl ModelPool {
    /// Opens the devices.
    ///
    /// # Errors
    /// [`RuntimeError::DeviceOpen`], [`RuntimeError::Threads`].
    pub fn open(
        variant: Variant,
        threads: usize,
        vtcm_bytes: u32,
        overflow: Overflow,
    ) -> Result<ModelPool, RuntimeError> {
        ModelPool::with_workers(variant, threads, vtcm_bytes, overflow, HVX_WORKERS)
    }

    /// Opens devices of `workers` HVX workers each; outside 1 to 8 the nearest is taken. The number never changes a bit.
    ///
    /// # Errors
    /// As [`ModelPool::open`].
    pub fn with_workers(
        variant: Variant,
        threads: usize,
        vtcm_bytes: u32,
        overflow: Overflow,
        workers: u32,
    ) -> Result<ModelPool, RuntimeError> {
        let hvx_workers = workers.clamp(1, abi::PF_MOST_WORKERS);
        let workers = (0..threads.max(1))
            .map(|_| {
                let model = Model::open(variant, vtcm_bytes, overflow, hvx_workers)
                    .ok_or(RuntimeError::DeviceOpen { vtcm_bytes })?;
                Worker::start(model)
            })
            .collect::<Result<_, _>>()?;
        Ok(ModelPool { workers })
    }

    /// Computes one product.
    ///
    /// # Errors
    /// What the device says; the output rows are then unspecified.
    pub fn run(&mut self, mut product: Product<'_>) -> Result<(), DeviceFault> {
        let request = product.request()?;
        self.share(&product.plan.0, request)
    }

    /// Computes token rows `rows` of any kernel the devices know.
    ///
    /// # Errors
    /// What the device says; the output rows are then unspecified.
    pub fn call(&mut self, call: &mut Call, rows: Range<u32>) -> Result<(), DeviceFault> {
        let request = call.request(rows)?;
        self.share(&call.plan(), request)
    }

    /// Gives every worker its rows and waits for all of them: the addresses in `request` stay borrowed by the caller.
    fn share(&mut self, plan: &abi::pf_plan, request: abi::pf_request) -> Result<(), DeviceFault> {
        let (begin, end) = (request.row_begin, request.row_end);
        let strips = (end - begin).div_ceil(STRIP_ROWS);
        let share = strips.div_ceil(self.workers.len() as u32).max(1) * STRIP_ROWS;
        let mut busy = 0;
        let mut result = Ok(());
        let mut first = begin;
        for worker in &self.workers {
            if first >= end {
                break;
            }
            let last = end.min(first + share);
            let task = Task { plan: *plan, request: abi::pf_request { row_begin: first, row_end: last, ..request } };
            if !worker.send(task) {
                result = Err(lost());
                break;
            }
            busy += 1;
            first = last;
        }
        // Every share is waited for, also after an error: the caller keeps the request's addresses borrowed until then.
        for worker in &mut self.workers[..busy] {
            match worker.done.recv() {
                Ok(done) => {
                    worker.counts = done.counts;
                    result = result.and(done.result);
                }
                Err(_) => result = result.and(Err(lost())),
            }
        }
        result
    }

    /// Work of all devices since they were opened.
    pub fn counts(&self) -> Counts {
        let mut total = Counts::default();
        for worker in &self.workers {
            total.add(worker.counts);
        }
        total
    }
}

fn lost() -> DeviceFault {
    DeviceFault::Lost("a thread of the functional model ended; its panic message is above".to_owned())
}

impl Worker {
    fn start(mut model: Model) -> Result<Worker, RuntimeError> {
        let (tasks, todo) = channel::<Task>();
        let (answers, done) = channel();
        let run = move || {
            for task in todo {
                // SAFETY: `ModelPool::run` and `call` built the request from live borrows after checking their lengths,
                // keep them until every share is answered, and give each worker rows of its own.
                let result = unsafe { model.run(&task.plan, &task.request) };
                if answers.send(Done { result, counts: model.counts() }).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("permafrost-model".to_owned())
            .spawn(run)
            .map_err(|error| RuntimeError::Threads { reason: error.to_string() })?;
        Ok(Worker { tasks: Some(tasks), done, counts: Counts::default(), thread: Some(thread) })
    }

    fn send(&self, task: Task) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks.send(task).is_ok())
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.tasks.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has printed its message and was reported as a lost device.
            let _ = thread.join();
        }
    }
}
