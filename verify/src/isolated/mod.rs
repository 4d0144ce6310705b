//! Compiled kernels in a process of their own.
//!
//! The C of a kernel may hold a body of its author's, which can crash, end the process or never return. It therefore runs in a
//! small C program, compiled with the kernels and their model, that takes requests from a pipe. That was chosen over a fork of
//! the test process, which has threads whose locks a fork would copy, and over running the test binary again, which an author's
//! crate would have to lend itself to: the program needs no word of `unsafe` here, links every name the C uses, starts in a
//! millisecond and serves one case after the other.

use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use hexagon_runtime::Overflow;
use hexagon_runtime::device::{Call, CompileError, Compiled, DeviceFault};

/// The program's text; it stands behind the kernels and `model_table.h`.
const RUNNER: &str = include_str!("runner.c");
const FAULT_BYTES: usize = 512;

/// A compiled kernel library behind a pipe.
pub struct Isolated {
    program: Compiled,
    model: &'static str,
    threads: u32,
    vtcm_bytes: u32,
    limit: Duration,
    process: Option<Process>,
}

struct Process {
    child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
}

/// Why a call was not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// A device refused it, or the C broke a rule of the checked model.
    Device(DeviceFault),
    /// The process ended: a crash, or a call that ends processes.
    Ended(String),
    /// The kernel did not end in time.
    Hung(String),
}

impl Isolated {
    /// Compiles the text of an emitted library for the checked or the fast model. Token rows are shared out over `threads`
    /// devices of `vtcm_bytes`; a call may take `limit` of processor time, in whole seconds.
    ///
    /// # Errors
    /// [`CompileError`].
    pub fn new(
        library: &str,
        checked: bool,
        threads: u32,
        vtcm_bytes: u32,
        limit: Duration,
    ) -> Result<Isolated, CompileError> {
        let model = if checked { "checked" } else { "fast" };
        let program = Compiled::program(library, checked, RUNNER)?;
        Ok(Isolated { program, model, threads, vtcm_bytes, limit, process: None })
    }

    /// Processor time a call may take.
    pub fn set_limit(&mut self, limit: Duration) {
        self.limit = limit;
        self.process = None;
    }

    /// Computes token rows `rows`; bytes of operand `output` and the flags are what the kernel wrote.
    ///
    /// # Errors
    /// [`Unanswered`]; the next call starts a new process where this one has ended.
    pub fn call(
        &mut self,
        call: &mut Call,
        output: usize,
        overflow: Overflow,
        rows: Range<u32>,
    ) -> Result<(), Unanswered> {
        let message = call.message(rows).map_err(Unanswered::Device)?;
        let overflow = Overflow::ALL.iter().position(|&o| o == overflow).unwrap_or(0);
        let head = [overflow as u32, output as u32, call.operands().len() as u32, self.vtcm_bytes];
        let mut process = match self.process.take() {
            Some(process) => process,
            None => {
                self.start().map_err(|error| Unanswered::Ended(format!("the kernel cannot be started: {error}")))?
            }
        };
        let answered = process.ask(&head, &message).and_then(|()| process.answer(call, output));
        match answered {
            Ok((status, ending, fault)) => {
                if ending == 0 {
                    self.process = Some(process);
                } else {
                    process.wait();
                }
                let result = DeviceFault::of_status(status, || fault.clone()).map_err(Unanswered::Device);
                if ending == 2 { Err(Unanswered::Hung(fault)) } else { result }
            }
            Err(error) => Err(match process.wait() {
                Some(status) => self.ended(status),
                None => Unanswered::Ended(format!("the process of the kernel is lost: {error}")),
            }),
        }
    }

    fn start(&self) -> io::Result<Process> {
        let mut child = Command::new(self.program.path())
            .arg(self.threads.to_string())
            .arg(self.limit.as_secs().max(1).to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(requests), Some(answers)) => Ok(Process { child, requests, answers }),
            _ => Err(io::Error::other("a process without pipes")),
        }
    }

    fn ended(&self, status: ExitStatus) -> Unanswered {
        // The numbers are those of Linux on every architecture a model is built for.
        let what = match status.signal() {
            Some(11 | 7) => "crashed (SIGSEGV): an access to memory that is not there".to_owned(),
            Some(8) => "crashed (SIGFPE): an integer divided by zero".to_owned(),
            Some(6) => "called abort".to_owned(),
            Some(14 | 27) => {
                let seconds = self.limit.as_secs().max(1);
                return Unanswered::Hung(format!(
                    "the C does not end on the {} model: stopped after {seconds} s of processor time",
                    self.model
                ));
            }
            Some(signal) => format!("was ended by signal {signal}"),
            None => format!(
                "ended its process with exit code {}: a kernel returns to its caller",
                status.code().unwrap_or_default()
            ),
        };
        Unanswered::Ended(format!("on the {} model the C {what}", self.model))
    }
}

impl Process {
    fn ask(&mut self, head: &[u32], message: &[u8]) -> io::Result<()> {
        let head: Vec<u8> = head.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.requests.write_all(&head)?;
        self.requests.write_all(message)?;
        self.requests.flush()
    }

    /// Status, why the process ends, and the rule broken.
    fn answer(&mut self, call: &mut Call, output: usize) -> io::Result<(i32, u32, String)> {
        let mut head = [0; 8 + FAULT_BYTES];
        self.answers.read_exact(&mut head)?;
        let word = |at: usize| [head[at], head[at + 1], head[at + 2], head[at + 3]];
        let fault = head[8..].split(|&byte| byte == 0).next().unwrap_or_default();
        let fault = String::from_utf8_lossy(fault).into_owned();
        self.answers.read_exact(call.operands_mut()[output].bytes_mut())?;
        self.answers.read_exact(call.flags_mut())?;
        Ok((i32::from_ne_bytes(word(0)), u32::from_ne_bytes(word(4)), fault))
    }

    /// How a process ended that answers no more.
    fn wait(&mut self) -> Option<ExitStatus> {
        self.child.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It has ended, or waits for a request that will not come.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
