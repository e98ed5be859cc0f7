import type { Migration } from "../Migration.ts"

/** Chats, their runs, what runs tell, and what is thought of it. */
export const migration: Migration = {
  id: 4,
  name: "chats",
  statements: [
    // Chats that the same people may list are one audience. A list is the chats of a reader's audiences: ranges of one
    // index, in the order that was asked for.
    `CREATE TABLE castellan.chats (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       audience_id uuid NOT NULL,
       running_run_id uuid,
       created_at timestamptz NOT NULL,
       updated_at timestamptz NOT NULL,
       name text COLLATE "C" NOT NULL,
       searched_summary text COLLATE "C" NOT NULL,
       searched_question text COLLATE "C" NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX chats_created ON castellan.chats (organization_id, audience_id, created_at, id)`,
    `CREATE INDEX chats_updated ON castellan.chats (organization_id, audience_id, updated_at, id)`,
    `CREATE INDEX chats_name ON castellan.chats (organization_id, audience_id, name, id)`,
    `CALL castellan.keep_apart('chats')`,

    // Who belongs to an audience: "reader" is a role, a member, a key or everybody; "client" is the end user that
    // readers speak for. Who belongs to it for good does until infinity.
    `CREATE TABLE castellan.chat_audiences (
       organization_id uuid NOT NULL,
       client text COLLATE "C" NOT NULL,
       reader text COLLATE "C" NOT NULL,
       audience_id uuid NOT NULL,
       ends_at timestamptz NOT NULL,
       PRIMARY KEY (organization_id, client, reader, audience_id)
     )`,
    `CALL castellan.keep_apart('chat_audiences')`,

    // How many chats an audience has, as changes that are added up: who opens a chat waits for nobody else who does.
    `CREATE TABLE castellan.chat_tallies (
       organization_id uuid NOT NULL,
       audience_id uuid NOT NULL,
       id bigint GENERATED ALWAYS AS IDENTITY,
       chats integer NOT NULL,
       PRIMARY KEY (organization_id, audience_id, id)
     )`,
    `CALL castellan.keep_apart('chat_tallies')`,

    `CREATE TABLE castellan.runs (
       organization_id uuid NOT NULL,
       id uuid NOT NULL,
       chat_id uuid NOT NULL,
       place bigint GENERATED ALWAYS AS IDENTITY,
       document json NOT NULL,
       PRIMARY KEY (organization_id, id)
     )`,
    `CREATE INDEX runs_chat ON castellan.runs (organization_id, chat_id, place)`,
    `CALL castellan.keep_apart('runs')`,

    `CREATE TABLE castellan.chat_feedback (
       organization_id uuid NOT NULL,
       chat_id uuid NOT NULL,
       member_id uuid NOT NULL,
       document json NOT NULL,
       PRIMARY KEY (organization_id, chat_id, member_id)
     )`,
    `CALL castellan.keep_apart('chat_feedback')`,

    // The head of a log is written with every append: room on its page keeps the new version beside the old one.
    `CREATE TABLE castellan.run_logs (
       organization_id uuid NOT NULL,
       run_id uuid NOT NULL,
       length integer NOT NULL,
       is_ended boolean NOT NULL,
       PRIMARY KEY (organization_id, run_id)
     ) WITH (fillfactor = 50)`,
    `CALL castellan.keep_apart('run_logs')`,
    `CREATE TABLE castellan.run_events (
       organization_id uuid NOT NULL,
       run_id uuid NOT NULL,
       sequence integer NOT NULL,
       event json NOT NULL,
       PRIMARY KEY (organization_id, run_id, sequence)
     )`,
    `CALL castellan.keep_apart('run_events')`,

    `CREATE TABLE castellan.asset_bodies (
       organization_id uuid NOT NULL,
       asset_id uuid NOT NULL,
       format text COLLATE "C" NOT NULL,
       chat_id uuid NOT NULL,
       is_text boolean NOT NULL,
       content bytea NOT NULL,
       PRIMARY KEY (organization_id, asset_id, format)
     )`,
    `CREATE INDEX asset_bodies_chat ON castellan.asset_bodies (organization_id, chat_id)`,
    `CALL castellan.keep_apart('asset_bodies')`
  ]
}
