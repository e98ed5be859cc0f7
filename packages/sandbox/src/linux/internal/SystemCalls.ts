/**
 * The system calls that a session of the Linux tier is refused, as data.
 *
 * Everything else is allowed: what runs in a session is any program of the distribution. What is refused here widens
 * what code can reach of the kernel (namespaces, mounts, other processes' memory, keys, rings, programs in the kernel)
 * and is of no use to an analysis. It stands behind the other walls and does not replace them.
 *
 * Source: the kernel's `arch/x86/entry/syscalls/syscall_64.tbl` and `include/uapi/asm-generic/unistd.h`.
 */

/** A processor's architecture, as Node names it. */
export type Architecture = "x64" | "arm64"

/** A system call's number on x86-64 and on AArch64; absent where the architecture does not have it. */
export interface Numbers {
  readonly x64: number
  readonly arm64?: number
}

const both = (number: number): Numbers => ({ x64: number, arm64: number })

/** Refused with EPERM. */
export const refused: Readonly<Record<string, Numbers>> = {
  // Other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  process_madvise: both(440),
  process_mrelease: both(448),
  pidfd_getfd: both(438),
  kcmp: { x64: 312, arm64: 272 },
  migrate_pages: { x64: 256, arm64: 238 },
  move_pages: { x64: 279, arm64: 239 },
  // Keys, which no namespace separates.
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  keyctl: { x64: 250, arm64: 219 },
  // Memory that belongs to no process and to no disk with a quota: System V's segments, queues and semaphores, and
  // POSIX's queues.
  shmget: { x64: 29, arm64: 194 },
  msgget: { x64: 68, arm64: 186 },
  semget: { x64: 64, arm64: 190 },
  mq_open: { x64: 240, arm64: 180 },
  // Parts of the kernel in which most of the holes of the last years were.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
  fanotify_init: { x64: 300, arm64: 262 },
  fanotify_mark: { x64: 301, arm64: 263 },
  memfd_secret: both(447),
  // Pages that a pipe holds when their process has let go of them: nobody counts them.
  vmsplice: { x64: 278, arm64: 75 },
  // Namespaces, mounts and roots.
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  mount_setattr: both(442),
  move_mount: both(429),
  open_tree: both(428),
  open_tree_attr: both(467),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  name_to_handle_at: { x64: 303, arm64: 264 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  // The machine.
  acct: { x64: 163, arm64: 89 },
  adjtimex: { x64: 159, arm64: 171 },
  clock_adjtime: { x64: 305, arm64: 266 },
  clock_settime: { x64: 227, arm64: 112 },
  delete_module: { x64: 176, arm64: 106 },
  finit_module: { x64: 313, arm64: 273 },
  init_module: { x64: 175, arm64: 105 },
  ioperm: { x64: 173 },
  iopl: { x64: 172 },
  kexec_file_load: { x64: 320, arm64: 294 },
  kexec_load: { x64: 246, arm64: 104 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  modify_ldt: { x64: 154 },
  nfsservctl: { x64: 180, arm64: 42 },
  personality: { x64: 135, arm64: 92 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: both(443),
  reboot: { x64: 169, arm64: 142 },
  setdomainname: { x64: 171, arm64: 162 },
  sethostname: { x64: 170, arm64: 161 },
  settimeofday: { x64: 164, arm64: 170 },
  swapoff: { x64: 168, arm64: 225 },
  swapon: { x64: 167, arm64: 224 },
  sysfs: { x64: 139 },
  syslog: { x64: 103, arm64: 116 },
  uselib: { x64: 134 },
  ustat: { x64: 136 },
  vhangup: { x64: 153, arm64: 58 }
}

/** Refused with ENOSYS, for which programs have another way. */
export const absent: Readonly<Record<string, Numbers>> = {
  // Its flags are behind a pointer, where a filter cannot read them. C libraries go back to `clone`.
  clone3: both(435),
  // Watches, of which the kernel gives so many to each user: one session would take those of all the others, and of a host
  // that is not root, and with them a gigabyte that nobody counts. Programs use `poll` instead, or look again.
  epoll_create: { x64: 213 },
  epoll_create1: { x64: 291, arm64: 20 },
  inotify_init: { x64: 253 },
  inotify_init1: { x64: 294, arm64: 26 },
  // Files of memory that nothing bounds and nobody sees; `/dev/shm` has a quota.
  memfd_create: { x64: 319, arm64: 279 }
}

/** The last system call that was known when this table was written; newer ones do not exist for a session. */
export const newest = 469

/** Looked at by their arguments. */
export const inspected = {
  clone: { x64: 56, arm64: 220 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  setsockopt: { x64: 54, arm64: 208 },
  ioctl: { x64: 16, arm64: 29 }
} satisfies Readonly<Record<string, Numbers>>

/** Flags of `clone` that make a namespace: mounts, control groups, names, queues, users, processes, network. */
export const namespaceFlags = 0x7e020000

/** Families of sockets that there are: local ones and those of IP, which lead nowhere but to the session itself. */
export const families = { AF_UNIX: 1, AF_INET: 2, AF_INET6: 10 } as const

/** The level of `setsockopt` on which what all sockets have is set (`SOL_SOCKET`). */
export const socketLevel = 1

/**
 * Options by which a socket gets larger buffers: they are taken, and change nothing. What buffers hold is the kernel's
 * memory, which is counted by the number of sockets where there are no control groups.
 */
export const bufferOptions = { SO_SNDBUF: 7, SO_RCVBUF: 8 } as const

/** Requests of `ioctl` that put input into somebody's terminal. */
export const terminalRequests = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c } as const

/** What the kernel calls an architecture in the data of a filter (`AUDIT_ARCH_X86_64`, `AUDIT_ARCH_AARCH64`). */
export const auditArchitecture: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }

/** The bit of a number by which x86-64 calls its x32 variant. */
export const x32Bit = 0x40000000
