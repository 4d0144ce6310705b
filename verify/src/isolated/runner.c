/* The program a compiled kernel runs in: one request after the other from stdin, one answer each to stdout.
 *
 *   runner THREADS SECONDS
 *
 * A request is a struct runner_head, the exponents and the bytes of the operands; an answer a struct runner_answer, the bytes of
 * the output operand and the flags. What the kernel prints goes to stderr.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { MOST_THREADS = 8, HVX_WORKERS = 4, OVERFLOWS = 3 };

struct runner_head {
    uint32_t overflow, output, operand_count, vtcm_bytes;
    struct pf_plan plan;
    struct pf_request request;
};

/* Why the process ends behind an answer. */
enum { RUNNER_GOES_ON = 0, RUNNER_CRASHED = 1, RUNNER_HUNG = 2 };

struct runner_answer {
    int32_t status;
    uint32_t ending;
    char fault[512];
};

static volatile sig_atomic_t ending;

/* SECONDS of processor time; a kernel that waits for something uses none, so the clock counts as well, ten times as long. */
static void limit(unsigned seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &timer, NULL);
    alarm(10 * seconds);
}

#if defined(PF_MODEL_CHECKED)

static pf_device *running;

/* The checked model knows where the kernel stands: what ends it is said like a broken rule. The process ends with the answer,
 * because nobody knows what it has written. */
static void stop(int number)
{
    if (!running)
        _exit(3);
    const char *why = number == SIGSEGV || number == SIGBUS ? "the C crashed (SIGSEGV): an access to memory that is not there"
                      : number == SIGFPE                    ? "the C crashed (SIGFPE): an integer divided by zero"
                      : number == SIGABRT                   ? "the C called abort"
                      : number == SIGILL                    ? "the C crashed (SIGILL): an undefined instruction"
                                                            : "the C does not end: stopped at the time limit";
    ending = number == SIGPROF || number == SIGALRM ? RUNNER_HUNG : RUNNER_CRASHED;
    pf_trap(running, why, NULL, 0);
}

/* Room to handle a stack that is full. */
static char signal_stack[1 << 16];

static void catch_signals(void)
{
    stack_t stack = {.ss_sp = signal_stack, .ss_size = sizeof signal_stack};
    sigaltstack(&stack, NULL);
    /* The handler leaves by longjmp, so its signal stays open. */
    struct sigaction action = {.sa_handler = stop, .sa_flags = SA_NODEFER | SA_ONSTACK};
    const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL, SIGPROF, SIGALRM};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &action, NULL);
}

#else

static void catch_signals(void) {}

#endif

struct share {
    pf_device *dev;
    const struct pf_plan *plan;
    struct pf_request request;
    int status;
};

static void *run_share(void *argument)
{
    struct share *share = argument;
    share->status = pf_model_loaded.run(share->dev, share->plan->kernel, share->plan, &share->request);
    return NULL;
}

/* The rows in `threads` shares of whole strips, each on a device of its own. */
static int run(pf_device **devices, uint32_t threads, const struct runner_head *head)
{
    const struct pf_request *request = &head->request;
    uint32_t strips = pf_tiles_for(request->row_end - request->row_begin);
    uint32_t rows = (strips + threads - 1) / threads * PF_TILE;
    struct share shares[MOST_THREADS];
    pthread_t started[MOST_THREADS];
    uint32_t count = 0;
    for (uint32_t row = request->row_begin; row < request->row_end; row += rows, count++) {
        shares[count] = (struct share){devices[count], &head->plan, *request, PF_OK};
        shares[count].request.row_begin = row;
        shares[count].request.row_end = pf_smaller(row + rows, request->row_end);
    }
    for (uint32_t i = 1; i < count; i++)
        if (pthread_create(&started[i], NULL, run_share, &shares[i]))
            _exit(4);
    if (count)
        run_share(&shares[0]);
    int status = count ? shares[0].status : PF_OK;
    for (uint32_t i = 1; i < count; i++) {
        pthread_join(started[i], NULL);
        if (status == PF_OK)
            status = shares[i].status;
    }
    return status;
}

/* Whole or not at all: 0 at the end of the stream. */
static int get(void *to, size_t bytes)
{
    uint8_t *at = to;
    while (bytes) {
        ssize_t got = read(0, at, bytes);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        at += got;
        bytes -= (size_t)got;
    }
    return 1;
}

static void put(int file, const void *from, size_t bytes)
{
    const uint8_t *at = from;
    while (bytes) {
        ssize_t written = write(file, at, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            _exit(5);
        at += written;
        bytes -= (size_t)written;
    }
}

/* On a vector boundary, as DDR operands are; filled from stdin if there is something to fill it with. */
static void *memory(size_t bytes, int filled)
{
    size_t room = (bytes + PF_VECTOR_BYTES) / PF_VECTOR_BYTES * PF_VECTOR_BYTES;
    void *made = aligned_alloc(PF_VECTOR_BYTES, room);
    if (!made)
        _exit(4);
    memset(made, 0, room);
    if (filled && !get(made, bytes))
        _exit(0);
    return made;
}

int main(int count, char **arguments)
{
    uint32_t threads = count > 1 ? (uint32_t)atoi(arguments[1]) : 1;
    unsigned seconds = count > 2 ? (unsigned)atoi(arguments[2]) : 10;
    pf_device *devices[OVERFLOWS][MOST_THREADS] = {{NULL}};
    int answers = dup(1);
    if (answers < 0 || dup2(2, 1) < 0 || !threads || threads > MOST_THREADS)
        return 2;
    catch_signals();
    struct runner_head head;
    while (get(&head, sizeof head)) {
        if (head.overflow >= OVERFLOWS || head.operand_count > PF_MAX_OPERANDS || head.output >= head.operand_count)
            return 2;
        for (uint32_t i = 0; i < threads; i++) {
            pf_device **dev = &devices[head.overflow][i];
            if (!*dev && !(*dev = pf_model_loaded.open(head.vtcm_bytes, head.overflow, HVX_WORKERS)))
                return 4;
        }
        struct pf_request *request = &head.request;
        void *exponents = memory(4u * (size_t)request->axes[0], 1), *flags = memory(request->axes[0], 0);
        void *operands[PF_MAX_OPERANDS] = {NULL};
        for (uint32_t i = 0; i < head.operand_count; i++) {
            operands[i] = memory(request->operands[i].bytes, 1);
            request->operands[i].address = (uint64_t)(uintptr_t)operands[i];
        }
        request->row_exponents = (uint64_t)(uintptr_t)exponents;
        request->row_flags = (uint64_t)(uintptr_t)flags;

        pf_device **used = devices[head.overflow];
        limit(seconds);
#if defined(PF_MODEL_CHECKED)
        running = used[0];
#endif
        struct runner_answer answer = {.status = run(used, threads, &head)};
#if defined(PF_MODEL_CHECKED)
        running = NULL;
#endif
        limit(0);
        answer.ending = (uint32_t)ending;
        snprintf(answer.fault, sizeof answer.fault, "%s", pf_model_loaded.fault(used[0]));
        put(answers, &answer, sizeof answer);
        put(answers, operands[head.output], request->operands[head.output].bytes);
        put(answers, flags, request->axes[0]);
        if (ending)
            _exit(3);
        free(exponents);
        free(flags);
        for (uint32_t i = 0; i < head.operand_count; i++)
            free(operands[i]);
    }
    return 0;
}
