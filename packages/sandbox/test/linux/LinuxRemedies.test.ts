/** Whoever starts a host on which no sandbox can be is told what is missing, and what mends it. */
import { assert, describe, it } from "@effect/vitest"
import { type SystemFacts, whyItEnded, whyNoWalls } from "../../src/linux/LinuxRemedies.ts"

const plain: SystemFacts = { settings: {}, inContainer: false }
const container: SystemFacts = { ...plain, inContainer: true }
const appArmor: SystemFacts = { ...plain, settings: { "kernel/apparmor_restrict_unprivileged_userns": "1" } }
const none: SystemFacts = { ...plain, settings: { "user/max_user_namespaces": "0" } }
const debian: SystemFacts = { ...plain, settings: { "kernel/unprivileged_userns_clone": "0" } }

const rows = [
  ["bwrap: setting up uid map: Permission denied", appArmor, "namespaces", "apparmor_parser"],
  ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", appArmor, "namespaces", "userns,"],
  ["bwrap: Creating new namespace failed: No space left on device", none, "namespaces", "user.max_user_namespaces"],
  ["bwrap: No permissions to create a new namespace", debian, "namespaces", "unprivileged_userns_clone=1"],
  ["bwrap: Creating new namespace failed: Operation not permitted", container, "namespaces", "docker run"],
  ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", container, "procfs", "systempaths"],
  [
    "bwrap: Can't find source path /root/tmp/castellan-sandbox-1/python: Permission denied",
    container,
    "folder",
    "TMPDIR"
  ],
  ["bwrap: Can't find source path /home/a/proc/mounted: Permission denied", appArmor, "folder", "chmod o+x"],
  ["bwrap: execvp /usr/bin/python3: No such file or directory", plain, "python", "apt-get install python3"],
  ["Traceback (most recent call last):\nModuleNotFoundError: No module named 'x'", plain, "python", "python3"],
  ["bwrap: Unknown option --args", plain, "bubblewrap", ""]
] as const

describe("a fork-server that ends before it is ready", () => {
  for (const [errors, facts, promise, remedy] of rows) {
    it(`"${errors.split("\n")[0]}" is about ${promise}`, () => {
      const told = whyItEnded(`${errors}\n`, facts)
      assert.strictEqual(told.promise, promise)
      assert.include(told.remedy, remedy)
      assert.include(told.message, errors)
    })
  }
})

describe("walls that do not come up", () => {
  it("are told by the step at which they failed", () => {
    const step = (name: string) => whyNoWalls(name, "Operation not permitted", plain)
    assert.strictEqual(step("mount /stage/proc").promise, "procfs")
    assert.strictEqual(step("unshare namespaces").promise, "namespaces")
    assert.strictEqual(step("/control-groups/x/cgroup.procs").promise, "control_groups")
    assert.include(step("unshare namespaces").message, "unshare namespaces: Operation not permitted")
  })
})
