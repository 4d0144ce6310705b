//! The service thread: executes one request at a time while the caller does CPU work.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::request_buffer::RequestBuffer;
use crate::{Counters, Direction, RuntimeError};

struct Job {
    projection: usize,
    direction: Direction,
    buffer: RequestBuffer,
}

/// A finished request; the buffer travels back for reuse.
pub(crate) struct Answer {
    pub buffer: RequestBuffer,
    pub result: Result<(), RuntimeError>,
    pub counters: Counters,
    pub device_time: Duration,
    pub session_requests: Vec<u64>,
    /// When the thread took the request up, and when it was done.
    pub started: Instant,
    pub ended: Instant,
}

/// Handle of the thread; dropping it ends the thread after the request in flight.
pub(crate) struct Service {
    jobs: Option<Sender<Job>>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
}

impl Service {
    pub fn start(mut engine: Engine) -> Result<Service, RuntimeError> {
        let (jobs, todo) = channel::<Job>();
        let (done, answers) = channel();
        let run = move || {
            for mut job in todo {
                let started = Instant::now();
                let result = engine.answer(job.projection, job.direction, &mut job.buffer);
                let (counters, device_time) = (engine.counters, engine.device_time);
                let session_requests = engine.session_requests.clone();
                let (buffer, ended) = (job.buffer, Instant::now());
                let answer = Answer { buffer, result, counters, device_time, session_requests, started, ended };
                if done.send(answer).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("permafrost-npu".to_owned())
            .spawn(run)
            .map_err(|error| RuntimeError::Threads { reason: error.to_string() })?;
        Ok(Service { jobs: Some(jobs), answers, thread: Some(thread) })
    }

    pub fn send(&self, projection: usize, direction: Direction, buffer: RequestBuffer) -> Result<(), RuntimeError> {
        let jobs = self.jobs.as_ref().ok_or(RuntimeError::ServiceStopped)?;
        jobs.send(Job { projection, direction, buffer }).map_err(|_| RuntimeError::ServiceStopped)
    }

    pub fn receive(&self) -> Result<Answer, RuntimeError> {
        self.answers.recv().map_err(|_| RuntimeError::ServiceStopped)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has printed its message and was reported as ServiceStopped.
            let _ = thread.join();
        }
    }
}
