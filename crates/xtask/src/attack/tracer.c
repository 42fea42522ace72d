/* Runs a command and puts one fault into it, by ptrace: it sees every system call of every process
 * the command ever starts, whatever library made it, and it knows who is left when the command is over.
 *
 *   tracer REPORT ROOT LIMIT_MS GRACE_MS SPEC COMMAND [ARGUMENT...]
 *
 * Counted are the calls that change something below ROOT (write, sync, rename, create, unlink, mkdir,
 * truncate, link), those that take a lock there (lock), those that make or end processes (process) or make
 * threads (thread), and the making of a file of the name attack-marker, by which a tool says that it runs
 * (marker).
 *
 *   SPEC   count                  only count
 *          CLASS:N:ACTION[:WHO[:hold]]
 *                                 at the N-th call (from 1) of this class ("any": of the file classes)
 *   ACTION enospc eio eagain      the call fails
 *          full                   it and every later one that needs space fails
 *          tear-full              half of it is written, then as full
 *          tear-kill              half of it is written, then WHO dies
 *          kill-before kill-after WHO dies, before or after the call
 *          meanwhile              the caller stands still while the script $ATTACK_MEANWHILE is run
 *   WHO    self rejoin supervisor agent all: who is not there cannot die, then it is self
 *   hold   the thread that met the fault is slowed down afterwards, so that whoever does not wait for it
 *          is seen not to
 *
 * REPORT gets lines: "op CLASS WHO CALL PATH" for each counted call, "synced SIZE PATH" for what a sync
 * covers, "moved FROM<tab>TO" for a rename or link, "hit …" where the fault was put,
 * "exit CODE" or "signal NUMBER" of the command, "stuck" if it was still running after LIMIT_MS,
 * "orphan PID COMMAND" for each process that is still there GRACE_MS after its end (they are killed).
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum class { NONE, WRITE, SYNC, RENAME, CREATE, UNLINK, MKDIR, TRUNCATE, LINK, LOCK, PROCESS, THREAD, MARKER,
             CLASSES };
static const char *const CLASS_NAMES[] = {"none", "write", "sync", "rename", "create", "unlink",
                                          "mkdir", "truncate", "link", "lock", "process", "thread", "marker"};

enum how { FD, PATH, AT, TWO_PATHS, TWO_AT, OPEN, OPENAT, FORK, CLONE_, CLONE3, NOTHING };

struct known {
    long nr;
    enum class class;
    enum how how;
    const char *name;
    int length_argument; /* of what is written, or -1 */
};

static const struct known KNOWN[] = {
    {__NR_write, WRITE, FD, "write", 2},
    {__NR_pwrite64, WRITE, FD, "pwrite", 2},
    {__NR_writev, WRITE, FD, "writev", -1},
    {__NR_pwritev, WRITE, FD, "pwritev", -1},
#ifdef __NR_pwritev2
    {__NR_pwritev2, WRITE, FD, "pwritev2", -1},
#endif
    {__NR_sendfile, WRITE, FD, "sendfile", 3},
#ifdef __NR_copy_file_range
    {__NR_copy_file_range, WRITE, FD, "copy_file_range", 4},
#endif
    {__NR_fallocate, WRITE, FD, "fallocate", -1},
    {__NR_fsync, SYNC, FD, "fsync", -1},
    {__NR_fdatasync, SYNC, FD, "fdatasync", -1},
    {__NR_ftruncate, TRUNCATE, FD, "ftruncate", -1},
    {__NR_truncate, TRUNCATE, PATH, "truncate", -1},
    {__NR_openat, CREATE, OPENAT, "openat", -1},
    {__NR_unlinkat, UNLINK, AT, "unlinkat", -1},
    {__NR_mkdirat, MKDIR, AT, "mkdirat", -1},
#ifdef __NR_renameat
    {__NR_renameat, RENAME, TWO_AT, "renameat", -1},
#endif
    {__NR_renameat2, RENAME, TWO_AT, "renameat2", -1},
    {__NR_linkat, LINK, TWO_AT, "linkat", -1},
    {__NR_symlinkat, LINK, AT, "symlinkat", -1},
#ifdef __x86_64__
    {__NR_open, CREATE, OPEN, "open", -1},
    {__NR_creat, CREATE, PATH, "creat", -1},
    {__NR_rename, RENAME, TWO_PATHS, "rename", -1},
    {__NR_unlink, UNLINK, PATH, "unlink", -1},
    {__NR_rmdir, UNLINK, PATH, "rmdir", -1},
    {__NR_mkdir, MKDIR, PATH, "mkdir", -1},
    {__NR_link, LINK, TWO_PATHS, "link", -1},
    {__NR_fork, PROCESS, FORK, "fork", -1},
    {__NR_vfork, PROCESS, FORK, "vfork", -1},
#endif
    {__NR_clone, PROCESS, CLONE_, "clone", -1},
#ifdef __NR_clone3
    {__NR_clone3, PROCESS, CLONE3, "clone3", -1},
#endif
    {__NR_execve, PROCESS, NOTHING, "execve", -1},
    {__NR_exit_group, PROCESS, NOTHING, "exit_group", -1},
    {__NR_kill, PROCESS, NOTHING, "kill", -1},
    {__NR_sendmsg, PROCESS, NOTHING, "sendmsg", -1},
    {__NR_flock, LOCK, FD, "flock", -1},
};
#define KNOWN_COUNT (sizeof KNOWN / sizeof KNOWN[0])

enum action { COUNT, ENOSPC_, EIO_, EAGAIN_, FULL, TEAR_FULL, TEAR_KILL, KILL_BEFORE, KILL_AFTER, MEANWHILE };
static const char *const ACTION_NAMES[] = {"count",     "enospc",    "eio",         "eagain",     "full",
                                           "tear-full", "tear-kill", "kill-before", "kill-after",
                                           "meanwhile"};
enum who { SELF, REJOIN, SUPERVISOR, AGENT, TOOL, ALL };
static const char *const WHO_NAMES[] = {"self", "rejoin", "supervisor", "agent", "tool", "all"};

static FILE *report;
static char root[PATH_MAX];
static size_t root_length;
static enum class wanted_class; /* NONE: any file class */
static long wanted_number;
static enum action action = COUNT;
static enum who target = SELF;
static long counts[CLASSES], any_count;
static int disk_full, was_hit;
static pid_t first;

/* How often, and for how long at a time, a thread is held after its fault. */
#define HOLDS 8
#define HOLD_MS 8
static int hold;

/* Threads we trace; `kill_after` waits for the end of a call, `holds` are still to come. */
static struct tracee {
    pid_t tid, tgid;
    int kill_after, holds;
    long held_until;
} *tracees;
static size_t tracee_count, tracee_room;

static void die(const char *what) {
    fprintf(stderr, "tracer: %s: %s\n", what, strerror(errno));
    exit(125);
}

static pid_t group_of(pid_t tid) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    FILE *file = fopen(path, "r");
    pid_t tgid = tid;
    if (!file) return tgid;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Tgid: %d", &tgid) == 1) break;
    fclose(file);
    return tgid;
}

static struct tracee *tracee_of(pid_t tid) {
    for (size_t i = 0; i < tracee_count; i++)
        if (tracees[i].tid == tid) return &tracees[i];
    if (tracee_count == tracee_room) {
        tracee_room = tracee_room ? tracee_room * 2 : 64;
        tracees = realloc(tracees, tracee_room * sizeof *tracees);
        if (!tracees) die("realloc");
    }
    tracees[tracee_count] = (struct tracee){tid, group_of(tid), 0, 0, 0};
    return &tracees[tracee_count++];
}

static void forget(pid_t tid) {
    for (size_t i = 0; i < tracee_count; i++)
        if (tracees[i].tid == tid) {
            tracees[i] = tracees[--tracee_count];
            return;
        }
}

/* The command line, words parted by blanks. */
static void command_of(pid_t pid, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, buffer, size - 1);
    if (fd >= 0) close(fd);
    if (got < 0) got = 0;
    buffer[got] = 0;
    for (ssize_t i = 0; i + 1 < got; i++)
        if ((unsigned char)buffer[i] < ' ') buffer[i] = ' ';
}

static enum who role_of(pid_t tgid) {
    char command[1024];
    if (tgid == first) return REJOIN;
    command_of(tgid, command, sizeof command);
    if (strstr(command, " __supervise")) return SUPERVISOR;
    if (strstr(command, " __demo-agent")) return AGENT;
    /* Between fork and exec a child looks like its parent: the first process is the command itself. */
    return TOOL;
}

static int is_alive(enum who who) {
    for (size_t i = 0; i < tracee_count; i++)
        if (role_of(tracees[i].tgid) == who) return 1;
    return 0;
}

static void kill_whom(pid_t self) {
    if (target != ALL && !is_alive(target)) target = SELF;
    for (size_t i = 0; i < tracee_count; i++) {
        pid_t tgid = tracees[i].tgid;
        int meant = target == ALL || (target == SELF ? tgid == self : role_of(tgid) == target);
        if (meant) kill(tgid, SIGKILL);
    }
}

static void read_string(pid_t pid, unsigned long at, char *buffer, size_t size) {
    size_t got = 0;
    while (got + 1 < size) {
        /* Never across a page at once: the next one may not be there. */
        size_t room = 4096 - ((at + got) & 4095);
        if (room > size - 1 - got) room = size - 1 - got;
        struct iovec local = {buffer + got, room}, remote = {(void *)(at + got), room};
        ssize_t count = process_vm_readv(pid, &local, 1, &remote, 1, 0);
        if (count <= 0) break;
        char *end = memchr(buffer + got, 0, count);
        if (end) return;
        got += count;
    }
    buffer[got] = 0;
}

static void link_of(pid_t pid, const char *what, char *buffer, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, what);
    ssize_t got = readlink(path, buffer, size - 1);
    buffer[got < 0 ? 0 : got] = 0;
}

static void path_of_fd(pid_t pid, int fd, char *buffer, size_t size) {
    char name[32];
    snprintf(name, sizeof name, "fd/%d", fd);
    link_of(pid, name, buffer, size);
}

static void path_at(pid_t pid, int directory, unsigned long at, char *buffer, size_t size) {
    char name[PATH_MAX];
    read_string(pid, at, name, sizeof name);
    if (name[0] == '/') {
        snprintf(buffer, size, "%s", name);
        return;
    }
    if (directory == AT_FDCWD)
        link_of(pid, "cwd", buffer, size);
    else
        path_of_fd(pid, directory, buffer, size);
    size_t length = strlen(buffer);
    snprintf(buffer + length, size - length, "/%s", name);
}

static int below_root(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || !path[root_length]);
}

static int is_marker(const char *path) {
    const char *name = strrchr(path, '/');
    return name && !strcmp(name, "/attack-marker");
}

struct call {
    const struct known *known;
    unsigned long arguments[6];
    char path[2 * PATH_MAX];
    char from[2 * PATH_MAX]; /* what is renamed or linked */
    int is_new; /* the file does not exist yet */
    int is_thread; /* a thread is made, not a process */
};

/* Whether a call counts; if so, what it is about. */
static int look_at(pid_t tid, struct call *call) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) < 0) return 0;
    call->known = NULL;
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        if ((unsigned long)KNOWN[i].nr == info.seccomp.nr) call->known = &KNOWN[i];
    if (!call->known) return 0;
    for (int i = 0; i < 6; i++) call->arguments[i] = info.seccomp.args[i];
    unsigned long *a = call->arguments;
    call->path[0] = 0;
    call->is_new = 0;
    call->is_thread = 0;
    switch (call->known->how) {
    case FD:
        path_of_fd(tid, call->known->nr == __NR_copy_file_range ? a[2] : a[0], call->path, PATH_MAX);
        break;
    case PATH:
        path_at(tid, AT_FDCWD, a[0], call->path, sizeof call->path);
        break;
    case AT:
        path_at(tid, call->known->nr == __NR_symlinkat ? a[1] : a[0],
                call->known->nr == __NR_symlinkat ? a[2] : a[1], call->path, sizeof call->path);
        break;
    case TWO_PATHS:
        path_at(tid, AT_FDCWD, a[0], call->from, sizeof call->from);
        path_at(tid, AT_FDCWD, a[1], call->path, sizeof call->path);
        break;
    case TWO_AT:
        path_at(tid, a[0], a[1], call->from, sizeof call->from);
        path_at(tid, a[2], a[3], call->path, sizeof call->path);
        break;
    case OPEN:
    case OPENAT: {
        unsigned long flags = call->known->how == OPEN ? a[1] : a[2];
        if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE) return 0;
        if (call->known->how == OPEN)
            path_at(tid, AT_FDCWD, a[0], call->path, sizeof call->path);
        else
            path_at(tid, a[0], a[1], call->path, sizeof call->path);
        call->is_new = access(call->path, F_OK) != 0;
        break;
    }
    case FORK:
    case NOTHING:
        return 1;
    case CLONE_:
        call->is_thread = (a[0] & CLONE_THREAD) != 0;
        return 1;
    case CLONE3: {
        uint64_t flags = 0;
        struct iovec local = {&flags, sizeof flags}, remote = {(void *)a[0], sizeof flags};
        process_vm_readv(tid, &local, 1, &remote, 1, 0);
        call->is_thread = (flags & CLONE_THREAD) != 0;
        return 1;
    }
    }
    return below_root(call->path);
}

static void skip_call(pid_t tid, long result) {
#if defined(__x86_64__)
    struct user_regs_struct regs;
    if (ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0) return;
    regs.orig_rax = -1;
    regs.rax = result;
    ptrace(PTRACE_SETREGS, tid, 0, &regs);
#elif defined(__aarch64__)
    struct user_regs_struct regs;
    struct iovec all = {&regs, sizeof regs};
    int none = -1;
    struct iovec number = {&none, sizeof none};
    ptrace(PTRACE_SETREGSET, tid, NT_ARM_SYSTEM_CALL, &number);
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &all) < 0) return;
    regs.regs[0] = result;
    ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &all);
#else
#error "the tracer knows x86_64 and aarch64"
#endif
}

static void set_argument(pid_t tid, int which, unsigned long value) {
    struct user_regs_struct regs;
    struct iovec all = {&regs, sizeof regs};
    if (ptrace(PTRACE_GETREGSET, tid, NT_PRSTATUS, &all) < 0) return;
#if defined(__x86_64__)
    switch (which) {
    case 2: regs.rdx = value; break;
    case 3: regs.r10 = value; break;
    case 4: regs.r8 = value; break;
    }
#else
    regs.regs[which] = value;
#endif
    ptrace(PTRACE_SETREGSET, tid, NT_PRSTATUS, &all);
}

/* Halves what is written; gives 0 if nothing of it can be. */
static int tear(pid_t tid, const struct call *call) {
    int at = call->known->length_argument;
    if (at < 0 || call->arguments[at] < 2) return 0;
    unsigned long half = call->arguments[at] / 2;
    /* A copy is asked for in gigabytes, whatever there is. */
    if (at != 2 && half > 100) half = 100;
    set_argument(tid, at, half);
    return 1;
}

static int needs_space(const struct call *call) {
    switch (call->known->class) {
    case WRITE:
    case MKDIR:
    case LINK:
        return 1;
    case CREATE:
        return call->is_new;
    default:
        return 0;
    }
}

/* What a loss of power would leave: told before the call, which nearly always succeeds. */
static void note_lasting(const struct call *call) {
    struct stat status;
    if (call->known->class == SYNC && stat(call->path, &status) == 0)
        fprintf(report, "synced %lld %s\n", (long long)status.st_size, call->path);
    if (call->known->how == TWO_PATHS || call->known->how == TWO_AT)
        fprintf(report, "moved %s\t%s\n", call->from, call->path);
}

/* Runs the script to its end; nobody traces it. */
static void run_meanwhile(void) {
    const char *script = getenv("ATTACK_MEANWHILE");
    if (!script) return;
    pid_t child = fork();
    if (child == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        execl("/bin/sh", "sh", script, (char *)NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

/* At the entry of a call that was filtered. Says how the thread goes on. */
static enum __ptrace_request enter(struct tracee *tracee) {
    static struct call call;
    pid_t tid = tracee->tid, tgid = tracee->tgid;
    if (!look_at(tid, &call)) return PTRACE_CONT;
    enum class class = call.known->class;
    if (class == CREATE && is_marker(call.path)) class = MARKER;
    if (call.is_thread) class = THREAD;
    counts[class]++;
    if (class < LOCK) any_count++;
    fprintf(report, "op %s %s %s %s\n", CLASS_NAMES[class], WHO_NAMES[role_of(tgid)], call.known->name,
            call.path);

    long number = wanted_class == NONE ? (class < LOCK ? any_count : -1)
                                       : (class == wanted_class ? counts[class] : -1);
    if (action == COUNT || was_hit || number != wanted_number) {
        if (disk_full && needs_space(&call)) {
            skip_call(tid, -ENOSPC);
        } else {
            note_lasting(&call);
        }
        return PTRACE_CONT;
    }
    if (action == KILL_AFTER) note_lasting(&call);
    was_hit = 1;
    fprintf(report, "hit %s %s %s %s %s %s\n", ACTION_NAMES[action], WHO_NAMES[target], CLASS_NAMES[class],
            WHO_NAMES[role_of(tgid)], call.known->name, call.path);
    fflush(report);
    if (hold) tracee->holds = HOLDS;
    switch (action) {
    case COUNT:
        break;
    case ENOSPC_:
        skip_call(tid, -ENOSPC);
        break;
    case EIO_:
        skip_call(tid, -EIO);
        break;
    case EAGAIN_:
        skip_call(tid, -EAGAIN);
        break;
    case FULL:
        disk_full = 1;
        if (needs_space(&call) || class == SYNC) skip_call(tid, -ENOSPC);
        break;
    case TEAR_FULL:
        disk_full = 1;
        if (class == WRITE ? !tear(tid, &call) : needs_space(&call)) skip_call(tid, -ENOSPC);
        break;
    case TEAR_KILL:
        if (class == WRITE && tear(tid, &call)) {
            tracee->kill_after = 1;
            return PTRACE_SYSCALL;
        }
        kill_whom(tgid);
        break;
    case KILL_BEFORE:
        kill_whom(tgid);
        break;
    case KILL_AFTER:
        tracee->kill_after = 1;
        return PTRACE_SYSCALL;
    case MEANWHILE:
        note_lasting(&call);
        run_meanwhile();
        break;
    }
    return PTRACE_CONT;
}

/* Only what is known stops; everything else runs at full speed. */
static void install_filter(void) {
    struct sock_filter filter[KNOWN_COUNT + 3];
    size_t at = 0;
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < KNOWN_COUNT; i++)
        filter[at++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, KNOWN[i].nr, KNOWN_COUNT - i, 0);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
    struct sock_fprog program = {at, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) die("no_new_privs");
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) die("seccomp");
}

static void parse_spec(char *spec) {
    if (!strcmp(spec, "count")) return;
    char *class = strtok(spec, ":"), *number = strtok(NULL, ":"), *what = strtok(NULL, ":");
    char *who = strtok(NULL, ":");
    int found = 0;
    if (!class || !number || !what) goto wrong;
    for (int i = 0; i < CLASSES; i++)
        if (!strcmp(CLASS_NAMES[i], class)) wanted_class = i, found++;
    if (!strcmp(class, "any")) wanted_class = NONE, found++;
    for (int i = 1; i <= MEANWHILE; i++)
        if (!strcmp(ACTION_NAMES[i], what)) action = i, found++;
    for (int i = 0; who && i <= ALL; i++)
        if (!strcmp(WHO_NAMES[i], who)) target = i;
    char *held = strtok(NULL, ":");
    hold = held && !strcmp(held, "hold");
    wanted_number = atol(number);
    if (found == 2 && wanted_number > 0) return;
wrong:
    fprintf(stderr, "tracer: what is %s?\n", spec);
    exit(125);
}

static long now_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void handle(pid_t tid, int status, int *ended) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
        if (tid == first) {
            *ended = 1;
            if (WIFEXITED(status))
                fprintf(report, "exit %d\n", WEXITSTATUS(status));
            else
                fprintf(report, "signal %d\n", WTERMSIG(status));
        }
        forget(tid);
        return;
    }
    if (!WIFSTOPPED(status)) return;
    struct tracee *tracee = tracee_of(tid);
    int signal = WSTOPSIG(status), event = status >> 16;
    enum __ptrace_request go_on = PTRACE_CONT;
    long deliver = 0;
    if (event == PTRACE_EVENT_SECCOMP) {
        go_on = enter(tracee);
    } else if (event == PTRACE_EVENT_EXEC) {
        tracee->tgid = group_of(tid);
    } else if (event == PTRACE_EVENT_STOP) {
        /* A group stop (SIGSTOP and the like) lasts; the first stop of a new thread does not. */
        if (signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU)
            go_on = PTRACE_LISTEN;
    } else if (event) {
        /* fork, vfork, clone: the new one is traced already, and may not have come to its first stop when
         * everything is to die. */
        unsigned long child;
        if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &child) == 0 && kill(child, 0) == 0) {
            tracee_of(child);
            tracee = tracee_of(tid); /* it may have moved */
        }
    } else if (signal == (SIGTRAP | 0x80)) {
        if (tracee->kill_after) {
            tracee->kill_after = 0;
            kill_whom(tracee->tgid);
        } else if (tracee->holds > 0) {
            tracee->holds--;
            tracee->held_until = now_ms() + HOLD_MS;
            return;
        }
    } else {
        deliver = signal;
    }
    if (go_on == PTRACE_CONT && tracee->holds > 0) go_on = PTRACE_SYSCALL;
    ptrace(go_on, tid, 0, deliver);
}

/* Lets go of threads that were held long enough; says how long the others still are, or -1. */
static long let_go(void) {
    long now = now_ms(), least = -1;
    for (size_t i = 0; i < tracee_count; i++) {
        struct tracee *tracee = &tracees[i];
        if (!tracee->held_until) continue;
        long left = tracee->held_until - now;
        if (left > 0) {
            if (least < 0 || left < least) least = left;
            continue;
        }
        tracee->held_until = 0;
        ptrace(tracee->holds > 0 ? PTRACE_SYSCALL : PTRACE_CONT, tracee->tid, 0, 0);
    }
    return least;
}

int main(int argc, char **argv) {
    if (argc < 7) {
        fprintf(stderr, "usage: tracer REPORT ROOT LIMIT_MS GRACE_MS SPEC COMMAND [ARGUMENT...]\n");
        return 125;
    }
    report = fopen(argv[1], "we");
    if (!report) die(argv[1]);
    if (!realpath(argv[2], root)) die(argv[2]);
    root_length = strlen(root);
    long limit = atol(argv[3]), grace = atol(argv[4]);
    parse_spec(argv[5]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);

    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);

    int gate[2];
    if (pipe2(gate, O_CLOEXEC) < 0) die("pipe");
    first = fork();
    if (first < 0) die("fork");
    if (first == 0) {
        char byte;
        sigprocmask(SIG_UNBLOCK, &children, NULL);
        close(gate[1]);
        if (read(gate[0], &byte, 1) != 1) _exit(125);
        install_filter();
        execvp(argv[6], argv + 6);
        die(argv[6]);
    }
    long options = PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK |
                   PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC;
    if (ptrace(PTRACE_SEIZE, first, 0, options) < 0) die("seize");
    tracee_of(first);
    if (write(gate[1], "x", 1) != 1) die("gate");
    close(gate[0]);
    close(gate[1]);

    long begun = now_ms(), over = 0;
    int ended = 0, given_up = 0;
    while (tracee_count) {
        int status;
        pid_t tid;
        while ((tid = waitpid(-1, &status, WNOHANG | __WALL)) > 0) {
            handle(tid, status, &ended);
            if (ended && !over) over = now_ms();
        }
        if (tid < 0 && errno == ECHILD) break;
        long now = now_ms();
        long left = ended ? over + grace - now : begun + limit - now;
        if (left <= 0 && !given_up) {
            given_up = 1;
            if (!ended) fprintf(report, "stuck\n");
            for (size_t i = 0; i < tracee_count; i++) {
                char command[512];
                if (tracees[i].tid != tracees[i].tgid) continue;
                command_of(tracees[i].tid, command, sizeof command);
                if (ended) fprintf(report, "orphan %d %s\n", tracees[i].tid, command);
            }
            for (size_t i = 0; i < tracee_count; i++) kill(tracees[i].tgid, SIGKILL);
        }
        if (given_up) left = 100;
        long held = let_go();
        if (held >= 0 && held < left) left = held;
        struct timespec pause = {left / 1000, left % 1000 * 1000000};
        sigtimedwait(&children, NULL, &pause);
    }
    fprintf(report, "end\n");
    fclose(report);
    return 0;
}
