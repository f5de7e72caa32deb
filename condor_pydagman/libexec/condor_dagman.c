/* The waiter: what a DAGMan is while it has nothing to do (see daemon/sleep.py).
 *
 * DAGMan execs this program in its own process, and this program execs DAGMan again as soon as
 * something has happened.  It decides nothing: whatever it does not understand wakes DAGMan.
 *
 * What it is to do stands in the descriptor that the environment variable PYDAGMAN_WAIT names, as
 * words that end with a NUL byte.  The signals are blocked, and stay so: DAGMan takes them.
 *
 *   until SECONDS           wake at this time of CLOCK_MONOTONIC
 *   look SECONDS            look at files and at the parent at least so often
 *   parent PID              wake, or leave, if another process is the parent
 *   poll FD                 wake if it can be read
 *   watch FD                an inotify descriptor: look if it can be read
 *   halt PATH 0|1           wake if it can be read (0), or can't any more (1)
 *   same PATH DEVICE INODE  wake if the name leads to another file
 *   log PATH OFFSET         wake if events are behind the offset, or the file is shorter
 *   skip NUMBER             but for whole events of this number
 *   out FD TEXT             the log of DAGMan, and its last line
 *   leave SIGNAL TEXT       append this line and the last one, and end with 3, if the signal has
 *                           come and SIGUSR1 has not; 0: if another process is the parent
 *   exec PROGRAM            execute it, with the command line of this program
 *
 * It ends with 3, so that the schedd starts DAGMan again, if the words make no sense, or if DAGMan
 * can't be executed for ten minutes (it is being replaced).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    START_AGAIN = 3,      /* exit code */
    MAX_POLLED = 16,      /* descriptors */
    MAX_SAME = 4,         /* files */
    MAX_LEAVE = 4,        /* signals */
    MAX_WAIT_S = 3600,    /* between two looks */
    MAX_NEWS = 65536,     /* bytes of the log that are read for events to skip */
    MAX_KINDS = 1000,     /* numbers of events have three digits */
    MAX_PAUSE_S = 30,     /* between two tries to execute DAGMan */
    GIVE_UP_S = 600,      /* of tries */
};

struct file {
    const char *path;
    unsigned long long device, inode;
};

struct leaving {
    int signal;
    const char *text;
};

static struct pollfd polled[MAX_POLLED];
static bool is_watch[MAX_POLLED];
static nfds_t polled_count;
static struct file same[MAX_SAME];
static int same_count;
static struct leaving leavings[MAX_LEAVE];
static int leaving_count, out = -1;
static const char *halt_path, *log_path, *last_line = "", *program;
static bool was_halted, skipped[MAX_KINDS];
static off_t log_offset;
static pid_t parent;
static double until = -1, look_s = 60;
static char **command, *next_word, *end_of_words;

static void give_up(void)
{
    _exit(START_AGAIN);
}

static char *word(void)
{
    char *found = next_word;
    char *end = memchr(found, '\0', (size_t)(end_of_words - found));
    if (end == NULL)
        give_up();
    next_word = end + 1;
    return found;
}

static unsigned long long number(void)
{
    char *rest;
    unsigned long long found = strtoull(word(), &rest, 10);
    if (*rest != '\0')
        give_up();
    return found;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void poll_also(int fd, bool watch)
{
    if (polled_count == MAX_POLLED)
        give_up();
    is_watch[polled_count] = watch;
    polled[polled_count++] = (struct pollfd){.fd = fd, .events = POLLIN};
}

static void obey(const char *what)
{
    if (strcmp(what, "until") == 0)
        until = strtod(word(), NULL);
    else if (strcmp(what, "look") == 0)
        look_s = strtod(word(), NULL);
    else if (strcmp(what, "parent") == 0)
        parent = (pid_t)number();
    else if (strcmp(what, "poll") == 0)
        poll_also((int)number(), false);
    else if (strcmp(what, "watch") == 0)
        poll_also((int)number(), true);
    else if (strcmp(what, "halt") == 0) {
        halt_path = word();
        was_halted = number() != 0;
    } else if (strcmp(what, "same") == 0 && same_count < MAX_SAME) {
        struct file *file = &same[same_count++];
        file->path = word();
        file->device = number();
        file->inode = number();
    } else if (strcmp(what, "out") == 0) {
        out = (int)number();
        last_line = word();
    } else if (strcmp(what, "leave") == 0 && leaving_count < MAX_LEAVE) {
        struct leaving *leaving = &leavings[leaving_count++];
        leaving->signal = (int)number();
        leaving->text = word();
    } else if (strcmp(what, "log") == 0) {
        log_path = word();
        unsigned long long offset = number();
        if (offset > INT64_MAX)
            give_up();
        log_offset = (off_t)offset;
    } else if (strcmp(what, "skip") == 0)
        skipped[number() % MAX_KINDS] = true;
    else if (strcmp(what, "exec") == 0)
        program = word();
    else
        give_up();
}

static void read_words(void)
{
    const char *name = getenv("PYDAGMAN_WAIT");
    int fd = name == NULL ? -1 : atoi(name);
    struct stat file;
    if (fd < 0 || fstat(fd, &file) != 0 || file.st_size <= 0)
        give_up();
    next_word = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (next_word == MAP_FAILED)
        give_up();
    end_of_words = next_word + file.st_size;
    while (program == NULL)
        obey(word());
    close(fd);
}

static bool is_digit(char character)
{
    return character >= '0' && character <= '9';
}

/* Whether the text begins with an event that DAGMan need not read now: "NNN (". */
static bool may_wait(const char *event)
{
    if (!is_digit(event[0]) || !is_digit(event[1]) || !is_digit(event[2]) || event[3] != ' ')
        return false;
    return skipped[(event[0] - '0') * 100 + (event[1] - '0') * 10 + event[2] - '0'];
}

static ssize_t read_news(char *text)
{
    int fd = open(log_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t count = pread(fd, text, MAX_NEWS, log_offset);
    close(fd);
    return count;
}

static bool log_has_news(void)
{
    static const char end_of_event[] = "\n...\n";
    static char text[MAX_NEWS + 1];
    struct stat file;
    if (stat(log_path, &file) != 0)
        return true;
    if (file.st_size == log_offset)
        return false;
    if (file.st_size < log_offset || file.st_size - log_offset > MAX_NEWS)
        return true;
    ssize_t count = read_news(text);
    if (count <= 0)
        return true;
    text[count] = '\0';
    for (const char *at = text; at < text + count;) {
        const char *end = may_wait(at) ? strstr(at, end_of_event) : NULL;
        if (end == NULL)
            return true;
        at = end + sizeof end_of_event - 1;
    }
    log_offset += count;
    return false;
}

static bool is_same(const struct file *file)
{
    struct stat now;
    return lstat(file->path, &now) == 0 && now.st_dev == file->device
        && now.st_ino == file->inode;
}

static bool is_orphan(void)
{
    return parent != 0 && getppid() != parent;
}

/* What has happened, by files and the parent; NULL if nothing has. */
static const char *news(void)
{
    if (is_orphan())
        return "end of the schedd";
    for (int i = 0; i < same_count; i++)
        if (!is_same(&same[i]))
            return "files gone";
    if (halt_path != NULL && (access(halt_path, R_OK) == 0) != was_halted)
        return "halt file";
    if (log_path != NULL && log_has_news())
        return "nodes log";
    return until >= 0 && seconds() >= until ? "deadline" : NULL;
}

static void wake(const char *reason)
{
    setenv("PYDAGMAN_WOKEN", reason, 1);
    unsigned pause = 1;
    for (unsigned waited = 0; waited < GIVE_UP_S; waited += pause) {
        execv(program, command);
        sleep(pause);
        pause = 2 * pause < MAX_PAUSE_S ? 2 * pause : MAX_PAUSE_S;
    }
    give_up();
}

static bool say(const char *line)
{
    time_t now = time(NULL);
    struct tm *at = localtime(&now);
    return at != NULL
        && dprintf(out, "%02d/%02d/%02d %02d:%02d:%02d %s\n", at->tm_mon + 1, at->tm_mday,
                   at->tm_year % 100, at->tm_hour, at->tm_min, at->tm_sec, line) > 0;
}

static void leave_if_told(void)
{
    sigset_t come;
    sigpending(&come);
    if (sigismember(&come, SIGUSR1))
        return;
    for (int i = 0; i < leaving_count; i++) {
        int signal = leavings[i].signal;
        bool told = signal == 0 ? is_orphan() : sigismember(&come, signal) == 1;
        if (told && say(leavings[i].text) && say(last_line))
            give_up();
    }
}

/* A descriptor that can be read when a signal waits for DAGMan; they are not taken. */
static void poll_signals(void)
{
    sigset_t meant;
    sigemptyset(&meant);
    sigaddset(&meant, SIGUSR1);
    sigaddset(&meant, SIGTERM);
    sigaddset(&meant, SIGQUIT);
    sigaddset(&meant, SIGINT);
    int fd = signalfd(-1, &meant, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd < 0)
        wake("no signals");
    poll_also(fd, false);
}

/* Where the kernel has it, the end of the parent is seen at once, otherwise at the next look. */
static void poll_parent(void)
{
#ifdef SYS_pidfd_open
    int fd = parent == 0 ? -1 : (int)syscall(SYS_pidfd_open, parent, 0);
    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        poll_also(fd, false);
    }
#endif
}

static void drain(int fd)
{
    char events[4096];
    for (int i = 0; i < 16 && read(fd, events, sizeof events) > 0; i++)
        continue;
}

static int milliseconds(void)
{
    double wait = look_s < MAX_WAIT_S ? look_s : MAX_WAIT_S; /* also if it is no number */
    if (until >= 0 && until - seconds() < wait)
        wait = until - seconds();
    return wait > 0 ? (int)(wait * 1000) + 1 : 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    command = argv;
    read_words();
    poll_signals();
    poll_parent();
    for (bool called = false;;) {
        leave_if_told();
        const char *reason = news();
        if (reason == NULL && called)
            reason = "request or signal";
        if (reason != NULL)
            wake(reason);
        int count = poll(polled, polled_count, milliseconds());
        called = count < 0;
        for (nfds_t i = 0; count > 0 && i < polled_count; i++) {
            if (is_watch[i] && polled[i].revents == POLLIN)
                drain(polled[i].fd);
            else if (polled[i].revents != 0)
                called = true;
        }
    }
}
