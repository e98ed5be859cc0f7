import type { Migration } from "../Migration.ts"

/** Files that came with the questions of chats. */
export const migration: Migration = {
  id: 12,
  name: "uploads",
  statements: [
    `CREATE TABLE castellan.chat_uploads (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       chat_id uuid NOT NULL,
       path text COLLATE "C" NOT NULL,
       created_at timestamptz NOT NULL,
       document json NOT NULL,
       content bytea NOT NULL,
       PRIMARY KEY (organization_id, id),
       UNIQUE (organization_id, chat_id, path)
     )`,
    // Most files are compressed already, or are read once and as a whole.
    `ALTER TABLE castellan.chat_uploads ALTER COLUMN content SET STORAGE EXTERNAL`,
    `CALL castellan.keep_apart('chat_uploads')`
  ]
}
