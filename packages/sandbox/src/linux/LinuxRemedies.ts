/**
 * What keeps the Linux tier from starting, in words, and what mends it: a command, a setting or a profile.
 *
 * The causes are told apart by what bubblewrap, the fork-server and the kernel say, and by the settings of the system
 * that are known to have that effect.
 */
import { LinuxUnavailable } from "./LinuxUnavailable.ts"

/** The profile for AppArmor that lets bubblewrap make namespaces where the system lets nobody else. */
export const appArmorProfile = `# /etc/apparmor.d/bwrap: lets bubblewrap make user namespaces, as Ubuntu's own profile does.
abi <abi/4.0>,
include <tunables/global>

profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,

  include if exists <local/bwrap>
}
`

/** What the host's system says of itself, as far as it bears on namespaces. */
export interface SystemFacts {
  /** Contents of settings below `/proc/sys`; empty where the system has none of that name. */
  readonly settings: Readonly<Record<string, string>>
  /** Whether the host runs in a container. */
  readonly inContainer: boolean
}

/** Settings that forbid namespaces, the value by which they do so, and what changes them. */
export const restrictingSettings = {
  "kernel/unprivileged_userns_clone": { forbids: "0", remedy: "sysctl -w kernel.unprivileged_userns_clone=1" },
  "user/max_user_namespaces": { forbids: "0", remedy: "sysctl -w user.max_user_namespaces=15000" },
  "kernel/apparmor_restrict_unprivileged_userns": {
    forbids: "1",
    remedy: `put this into /etc/apparmor.d/bwrap and run: apparmor_parser -r /etc/apparmor.d/bwrap\n\n${appArmorProfile}`
  }
} as const

const containerRemedy =
  "let the container make namespaces: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined " +
  "--security-opt systempaths=unconfined, or run the host outside of a container"

/** There is no bubblewrap. */
export const withoutBubblewrap = (looked: ReadonlyArray<string>): LinuxUnavailable =>
  new LinuxUnavailable({
    promise: "bubblewrap",
    message: `no bubblewrap was found (looked for ${looked.join(", ")})`,
    remedy: "apt-get install bubblewrap, dnf install bubblewrap, or apk add bubblewrap"
  })

/** It is another system, processor or version. */
export const wrongPlatform = (message: string): LinuxUnavailable =>
  new LinuxUnavailable({ promise: "platform", message, remedy: "use the embedded or the remote tier here" })

/** It cannot run as somebody who is not root. */
export const noOtherUser = (message: string): LinuxUnavailable =>
  new LinuxUnavailable({
    promise: "user",
    message,
    remedy: "run the host as an ordinary user, or as root of a machine or container that has the user with that number"
  })

const cannotStart = "the outer sandbox does not start"

/** Explains why bubblewrap or the fork-server ended before it was ready, by what it wrote to standard error. */
export const whyItEnded = (errors: string, facts: SystemFacts): LinuxUnavailable => {
  const said = errors.trim() === "" ? "it said nothing" : errors.trim()
  const message = `${cannotStart}: ${said}`
  if (/^bwrap: execvp|^Traceback|error while loading shared libraries/m.test(errors)) {
    return new LinuxUnavailable({
      promise: "python",
      message: `Python does not start in the sandbox: ${said}`,
      remedy:
        "apt-get install python3 (and python3-numpy python3-pandas python3-matplotlib for those packages), or give a " +
        "root that has Python 3.11 or newer"
    })
  }
  const hiding = /^bwrap: Can't find source path (.+): Permission denied$/m.exec(errors)?.[1]
  if (hiding !== undefined) {
    return new LinuxUnavailable({
      promise: "folder",
      message: `the user of the sandbox may not go through the folders above ${hiding}: ${said}`,
      remedy:
        "give a folder (option `folder`, or TMPDIR) of which every part may be gone through by others, as after chmod o+x"
    })
  }
  if (/proc/i.test(errors) && /mount|permission|permitted/i.test(errors)) {
    return new LinuxUnavailable({
      promise: "procfs",
      message,
      remedy: facts.inContainer ? containerRemedy : "let processes that are not root mount proc in namespaces of theirs"
    })
  }
  for (const [name, { forbids, remedy }] of Object.entries(restrictingSettings)) {
    if (facts.settings[name] === forbids) {
      return new LinuxUnavailable({
        promise: "namespaces",
        message: `${cannotStart}, since /proc/sys/${name} is ${forbids}: ${said}`,
        remedy
      })
    }
  }
  if (/namespace|uid map|RTM_NEWADDR|permission denied|not permitted|No space left/i.test(errors)) {
    return new LinuxUnavailable({
      promise: "namespaces",
      message,
      remedy: facts.inContainer
        ? containerRemedy
        : "let processes that are not root make user namespaces; where AppArmor restricts them, with its profile:\n\n" +
          appArmorProfile
    })
  }
  return new LinuxUnavailable({ promise: "bubblewrap", message, remedy: "" })
}

/** A session's walls did not come up, at this step. */
export const whyNoWalls = (step: string, reason: string, facts: SystemFacts): LinuxUnavailable => {
  const message = `a session's walls do not come up: ${step}: ${reason}`
  if (step.endsWith("proc")) {
    return new LinuxUnavailable({ promise: "procfs", message, remedy: facts.inContainer ? containerRemedy : "" })
  }
  if (step.includes("control-groups")) {
    return new LinuxUnavailable({
      promise: "control_groups",
      message,
      remedy: "give a control group that the user of the sandbox owns, with the processes' own group inside of it"
    })
  }
  return new LinuxUnavailable({
    promise: "namespaces",
    message,
    remedy: facts.inContainer ? containerRemedy : restrictingSettings["user/max_user_namespaces"].remedy
  })
}

/** What a session takes of the open files that its host may have, in words. */
const descriptorsRemedy =
  "allow more open files: ulimit -n 4096, or LimitNOFILE=4096 of a systemd unit (a session takes two of its fork-server " +
  "and one of the host)"

/** A session was not opened, though others are: at this step, for this reason. */
export const whyNotOpened = (step: string, reason: string): LinuxUnavailable =>
  step === "file descriptors" || /EMFILE|ENFILE|Too many open files/.test(reason)
    ? new LinuxUnavailable({
        promise: "descriptors",
        message: `there are no file descriptors left for another session: ${reason}`,
        remedy: descriptorsRemedy
      })
    : new LinuxUnavailable({ promise: "namespaces", message: `${step}: ${reason}`, remedy: "" })
