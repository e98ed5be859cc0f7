/**
 * The examples of sandcastles, changes and folder policies.
 */
import type * as Schema from "effect/Schema"
import { chatId } from "./ChatExamples.ts"
import { memberId, roleId } from "./IdentityExamples.ts"

/** The sandcastle of the examples. */
export const sandcastleId = "sb_01980c80"
/** The change of the examples. */
export const changeId = "01980c80-4d00-7c30-8e00-3b4c5d6e7f01"
const executionId = "01980c80-4d00-7c30-8e00-3b4c5d6e7f10"
const gitRef = "3f786850e387550fdab836ed7e6dc881de23001b"
const made = "2026-03-02T09:30:00.000Z"
const changed = "2026-03-02T09:41:00.000Z"

const Sandcastle = {
  sandbox_id: sandcastleId,
  status: "running",
  member_id: memberId,
  chat_id: chatId,
  started_at: made
}
const Dataframe = { name: "flights_by_carrier", num_rows: 3, num_cols: 2, memory_usage: 4096 }
const Execution = {
  id: executionId,
  kind: "python",
  source: "platform_api",
  input: "flights_by_carrier.head()",
  output_preview: "  carrier  flights\n0      WN    88751",
  duration_ms: 12,
  created_at: made
}
const ExecutionFile = {
  name: "outputs/carriers.png",
  url: `/v2/sandcastles/${sandcastleId}/files/outputs%2Fcarriers.png`,
  mime_type: "image/png"
}
const SandcastleFile = { name: "carriers.csv", path: "uploads/carriers.csv", type: "file", size: 2_048 }

const ResultColumn = { name: "carrier", type: "text" }
const RejectedEdit = { path: "notes/link", reason: "is a link" }

const Diff = {
  name: "docs/carriers.md",
  old_path: "docs/carriers.md",
  new_path: "docs/carriers.md",
  additions: 1,
  deletions: 1,
  is_new: false,
  is_delete: false,
  is_rename: false,
  is_binary: false
}
const rawDiff = [
  "diff --git a/docs/carriers.md b/docs/carriers.md",
  "index 9daeafb..3b18e51 100644",
  "--- a/docs/carriers.md",
  "+++ b/docs/carriers.md",
  "@@ -1 +1 @@",
  "-WN: Southwest",
  "+WN: Southwest Airlines",
  ""
].join("\n")

const LibraryChange = {
  change_id: changeId,
  change_number: 17,
  status: "open",
  git_ref: gitRef,
  has_conflicts: false,
  auto_approved: false,
  diffs: [Diff],
  raw_diff: rawDiff
}

const ChangeCapabilities = { can_approve: true, can_deny: true, can_restore: false, caller_approved: false }
const Change = {
  id: changeId,
  number: 17,
  author_id: memberId,
  author_email: "ada@example.com",
  author_name: "Ada",
  title: "Full names of carriers",
  description: "People ask for them.",
  status: "open",
  git_ref: gitRef,
  revision: 1,
  ai_generated: false,
  chat_id: chatId,
  approval_count: 0,
  required_approvals: 1,
  auto_approved: false,
  created_at: made,
  updated_at: changed,
  diffs: [Diff],
  raw_diff: rawDiff,
  capabilities: ChangeCapabilities
}
const ChangeCounts = { draft: 0, open: 1, reserved: 0, approved: 16, denied: 0 }

const AutoApproval = { author_role_ids: [roleId], path_globs: ["docs/**/*.md"] }
const SaveFolderPolicyRequest = {
  path: "docs",
  owners: [{ role_id: roleId }],
  inherit_owners: true,
  required_approvals: 1,
  distinct_approvers: true,
  author_role_ids: [],
  auto_approve: [AutoApproval]
}
const FolderPolicy = { ...SaveFolderPolicyRequest, updated_at: changed }

/** An example of each schema of sandcastles, changes and folder policies. */
export const libraryExamples: Readonly<Record<string, Schema.Json>> = {
  Approval: { merged: true, approval_count: 1, required_approvals: 1, already_approved: false },
  AutoApproval,
  AutoApprovalRequest: AutoApproval,
  Change,
  ChangeCapabilities,
  ChangeCounts,
  ChangeList: { changes: [Change], next_page_token: "bmV4dA", counts: ChangeCounts },
  CreateLibraryChangeRequest: { title: "Full names of carriers", description: "People ask for them.", draft: false },
  Dataframe,
  Diff,
  ExecRequest: { command: "wc -l uploads/carriers.csv", kind: "bash", env: { LC_ALL: "C" } },
  ExecResponse: { stdout: "15 uploads/carriers.csv\n", stderr: "", exit_code: 0, execution_id: executionId },
  ExecuteRequest: { code: "flights_by_carrier.head()" },
  ExecuteResponse: {
    output: ["  carrier  flights", "0      WN    88751"],
    execution_time_ms: 12,
    files: [ExecutionFile],
    dataframes: [Dataframe],
    execution_id: executionId
  },
  Execution,
  ExecutionFile,
  ExecutionList: { executions: [Execution], next_cursor: "bmV4dA" },
  FolderPolicy,
  FolderPolicyDeletion: { path: "docs", success: true },
  FolderPolicyList: { folder_policies: [FolderPolicy] },
  LibraryChange,
  LibraryDiff: { has_changes: true, diffs: [Diff], raw_diff: rawDiff, rejected: [RejectedEdit] },
  MovedChange: { success: true, change: Change },
  Owner: { role_id: roleId },
  OwnerRequest: { role_id: roleId },
  QueryRequest: {
    connector_id: 1,
    query: "SELECT carrier, COUNT(*) AS flights FROM flights GROUP BY 1",
    dataframe_name: "flights_by_carrier"
  },
  QueryResponse: {
    preview: "| carrier | flights |\n| --- | ---: |\n| WN | 88751 |",
    dataframe_name: "flights_by_carrier",
    num_rows: 3,
    num_cols: 2,
    columns: [ResultColumn],
    truncated: false,
    execution_id: executionId
  },
  RejectedEdit,
  ResultColumn,
  ReviewRequest: { expected_git_ref: gitRef },
  Sandcastle,
  SandcastleFile,
  SandcastleFileList: { files: [SandcastleFile] },
  SandcastleList: { sandboxes: [Sandcastle], next_cursor: "bmV4dA" },
  SandcastleStatus: { status: "running", memory_usage: 91_226_112, dataframes: [Dataframe] },
  SaveFolderPolicyRequest,
  StartSandcastleRequest: { sandbox_id: sandcastleId },
  StartedSandcastle: { sandbox_id: sandcastleId, created_at: made },
  UploadForm: { path: "uploads/carriers.csv", file: "carrier,name\nWN,Southwest Airlines\n" }
}
