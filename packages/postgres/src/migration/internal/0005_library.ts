import type { Migration } from "../Migration.ts"

/** Libraries, changes, folder policies and ontologies. */
export const migration: Migration = {
  id: 5,
  name: "library",
  statements: [
    `CREATE TABLE castellan.library_heads (
       organization_id uuid NOT NULL PRIMARY KEY,
       commit_id text COLLATE "C" NOT NULL
     )`,
    `CREATE TABLE castellan.library_commits (
       organization_id uuid NOT NULL,
       id text COLLATE "C" NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    // Each folder as git writes it, and beside that the folders in it, by which a tree is read in one statement.
    `CREATE TABLE castellan.library_folders (
       organization_id uuid NOT NULL,
       id text COLLATE "C" NOT NULL,
       object bytea NOT NULL,
       folders text[] COLLATE "C" NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE TABLE castellan.library_blobs (
       organization_id uuid NOT NULL,
       id text COLLATE "C" NOT NULL,
       content bytea NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE TABLE castellan.changes (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       number integer NOT NULL,
       -- The status, or "auto_approved" for what a folder's own exception approved.
       kind text COLLATE "C" NOT NULL,
       git_ref text COLLATE "C" NOT NULL,
       approvals integer NOT NULL,
       revisions integer NOT NULL,
       author_id uuid,
       -- The end user that the author's key spoke for; null where it spoke for none.
       author_client text COLLATE "C",
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id),
       UNIQUE (organization_id, number)
     )`,
    // A page is the newest of each kind that is asked for, merged.
    `CREATE INDEX changes_by_kind ON castellan.changes (organization_id, kind, created_at DESC, id DESC)`,
    `CREATE INDEX changes_by_author ON castellan.changes (organization_id, author_id)`,
    // Revisions are never changed: approving a change does not write its patches again.
    `CREATE TABLE castellan.changesets (
       organization_id uuid NOT NULL,
       change_id uuid NOT NULL,
       revision integer NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, change_id, revision)
     )`,
    // The paths of the latest revisions, from the root and with a slash at the end: what lies in a folder is one range.
    `CREATE TABLE castellan.change_paths (
       organization_id uuid NOT NULL,
       path text COLLATE "C" NOT NULL,
       change_id uuid NOT NULL,
       PRIMARY KEY (organization_id, path, change_id)
     )`,
    `CREATE INDEX change_paths_by_change ON castellan.change_paths (organization_id, change_id)`,
    // The last number, and how many changes there are of each kind, so that nobody counts them.
    `CREATE TABLE castellan.change_totals (
       organization_id uuid NOT NULL PRIMARY KEY,
       last_number integer NOT NULL,
       draft integer NOT NULL,
       open integer NOT NULL,
       reserved integer NOT NULL,
       approved integer NOT NULL,
       auto_approved integer NOT NULL,
       denied integer NOT NULL
     )`,
    `CREATE TABLE castellan.folder_policies (
       organization_id uuid NOT NULL,
       path text COLLATE "C" NOT NULL,
       updated_at timestamptz NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, path)
     )`,
    // A sequence gives no number twice, whatever transaction is undone.
    `CREATE SEQUENCE castellan.folder_policy_version`,
    `GRANT USAGE ON SEQUENCE castellan.folder_policy_version TO castellan_application`,
    `CREATE TABLE castellan.folder_policy_versions (
       organization_id uuid NOT NULL PRIMARY KEY,
       version bigint NOT NULL
     )`,
    // All files of an organization's ontology, which are read and replaced together.
    `CREATE TABLE castellan.ontologies (
       organization_id uuid NOT NULL PRIMARY KEY,
       document json NOT NULL
     )`,
    ...[
      "library_heads",
      "library_commits",
      "library_folders",
      "library_blobs",
      "changes",
      "changesets",
      "change_paths",
      "change_totals",
      "folder_policies",
      "folder_policy_versions",
      "ontologies"
    ].map((table) => `CALL castellan.keep_apart('${table}')`)
  ]
}
