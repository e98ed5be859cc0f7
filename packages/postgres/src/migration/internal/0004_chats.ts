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

    // How many chats an audience has, in all and of each day, as changes that are added up: who opens a chat waits for
    // nobody else who does. Kept by the database itself, whichever statement changes a chat.
    `CREATE TABLE castellan.chat_tallies (
       organization_id uuid NOT NULL,
       audience_id uuid NOT NULL,
       kind text COLLATE "C" NOT NULL,
       day date NOT NULL,
       id bigint GENERATED ALWAYS AS IDENTITY,
       chats integer NOT NULL,
       PRIMARY KEY (organization_id, audience_id, kind, day, id)
     )`,
    `CALL castellan.keep_apart('chat_tallies')`,
    `CREATE FUNCTION castellan.day(moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
       SELECT (moment AT TIME ZONE 'UTC')::date
     $$`,
    `CREATE FUNCTION castellan.tally_opened_chats() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO castellan.chat_tallies (organization_id, audience_id, kind, day, chats)
       SELECT organization_id, audience_id, counted.kind, counted.day, count(*)
       FROM opened CROSS JOIN LATERAL (VALUES
         ('all', 'epoch'::date), ('created_at', castellan.day(created_at)), ('updated_at', castellan.day(updated_at))
       ) AS counted (kind, day)
       GROUP BY 1, 2, 3, 4;
       RETURN NULL;
     END $$`,
    `CREATE FUNCTION castellan.tally_removed_chats() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO castellan.chat_tallies (organization_id, audience_id, kind, day, chats)
       SELECT organization_id, audience_id, counted.kind, counted.day, -count(*)
       FROM removed CROSS JOIN LATERAL (VALUES
         ('all', 'epoch'::date), ('created_at', castellan.day(created_at)), ('updated_at', castellan.day(updated_at))
       ) AS counted (kind, day)
       GROUP BY 1, 2, 3, 4;
       RETURN NULL;
     END $$`,
    `CREATE FUNCTION castellan.tally_changed_chat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO castellan.chat_tallies (organization_id, audience_id, kind, day, chats)
       SELECT organization_id, audience_id, kind, day, sum(chats)
       FROM (VALUES
         (OLD.organization_id, OLD.audience_id, 'all', 'epoch'::date, -1),
         (OLD.organization_id, OLD.audience_id, 'created_at', castellan.day(OLD.created_at), -1),
         (OLD.organization_id, OLD.audience_id, 'updated_at', castellan.day(OLD.updated_at), -1),
         (NEW.organization_id, NEW.audience_id, 'all', 'epoch'::date, 1),
         (NEW.organization_id, NEW.audience_id, 'created_at', castellan.day(NEW.created_at), 1),
         (NEW.organization_id, NEW.audience_id, 'updated_at', castellan.day(NEW.updated_at), 1)
       ) AS change (organization_id, audience_id, kind, day, chats)
       GROUP BY 1, 2, 3, 4 HAVING sum(chats) <> 0;
       RETURN NULL;
     END $$`,
    `CREATE TRIGGER tally_opened AFTER INSERT ON castellan.chats REFERENCING NEW TABLE AS opened
       FOR EACH STATEMENT EXECUTE FUNCTION castellan.tally_opened_chats()`,
    `CREATE TRIGGER tally_removed AFTER DELETE ON castellan.chats REFERENCING OLD TABLE AS removed
       FOR EACH STATEMENT EXECUTE FUNCTION castellan.tally_removed_chats()`,
    `CREATE TRIGGER tally_changed AFTER UPDATE ON castellan.chats FOR EACH ROW
       WHEN (OLD.audience_id <> NEW.audience_id OR castellan.day(OLD.created_at) <> castellan.day(NEW.created_at)
         OR castellan.day(OLD.updated_at) <> castellan.day(NEW.updated_at))
       EXECUTE FUNCTION castellan.tally_changed_chat()`,

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
