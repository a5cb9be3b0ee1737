import type { Sql } from '../../persistence/database/sql.ts';
import { type Reported, saveFacts } from '../facts/saving/save-facts.ts';
import { keepSnapsHandedOut, needsSnapsBefore } from '../facts/saving/snaps-before.ts';
import { type Doubt, recordDoubts } from './doubts.ts';
import { saveResyncs } from './resync.ts';
import type { ResyncState } from './session.ts';
import { type SessionWrite, type SessionWritten, writeSessions } from './session-writer.ts';

/** Everything one exchange writes. */
export interface ExchangeWrite extends SessionWrite {
  secureIdHash: Buffer;
  /** Null when there is nothing but counters, hand-outs and results. */
  reported: Reported | null;
  /** What the agent is to report afresh, where that changes. */
  resync: ResyncState | null;
  /** Why it may be that of a second machine. */
  doubt: Doubt | null;
}

/** Whether one statement writes all there is. */
export function isPlain(write: ExchangeWrite): boolean {
  const { session, reported, resync, doubt } = write;
  const isMore = reported !== null || resync !== null || doubt !== null || snapOperations(write).length > 0;
  return session.inNext !== null && !isMore;
}

/** Operations handed out for the first time whose undoing takes knowing how the snaps stood. */
function snapOperations({ change: { claims } }: ExchangeWrite): number[] {
  return claims.flatMap(({ activityId, messageType }) => (needsSnapsBefore(messageType) ? [activityId] : []));
}

/** Operations that the agent never got, and whose computer has told of other snaps since they were handed out. */
function foundAnew({ change: { resent }, reported }: ExchangeWrite): readonly number[] {
  return reported === null || reported.facts.snaps === null ? [] : resent;
}

/**
 * Writes exchanges of different computers: counters, hand-outs, results and facts.
 *
 * @returns null, with nothing written, in place of each that another exchange of its computer came before
 * @remarks Part of the caller's transaction, unless all are plain.
 */
export async function writeExchanges(
  tx: Sql,
  writes: readonly ExchangeWrite[],
  save: (tx: Sql, reports: readonly Reported[]) => Promise<Set<number>> = saveFacts,
): Promise<Array<SessionWritten | null>> {
  const written = await writeSessions(tx, writes);
  const done = writes.filter((_, i) => written[i] !== null);
  const doubts = done.flatMap(({ doubt }) => doubt ?? []);
  if (doubts.length > 0) await recordDoubts(tx, doubts);
  await settleIdentities(
    tx,
    done.filter(({ session }) => session.inNext === null),
  );
  const resyncs = done.flatMap(({ session, resync }) => (resync ? [{ computerId: session.computerId, resync }] : []));
  if (resyncs.length > 0) await saveResyncs(tx, resyncs);
  const reports = done.flatMap(({ reported }) => (reported === null ? [] : [reported]));
  if (reports.length > 0) await wantResync(tx, await save(tx, reports));
  const handedOut = done.flatMap((write) => [...snapOperations(write), ...foundAnew(write)]);
  if (handedOut.length > 0) await keepSnapsHandedOut(tx, handedOut);
  return written;
}

/** An identity is in use: whoever else was given one for its computer, by a repeated registration, needs another computer. */
async function settleIdentities(tx: Sql, firsts: readonly ExchangeWrite[]): Promise<void> {
  if (firsts.length === 0) return;
  const values = [firsts.map(({ session }) => session.computerId), firsts.map(({ secureIdHash }) => secureIdHash)];
  await tx.query(SETTLE_IDENTITIES, values, 'gateway-settle-identities');
}

async function wantResync(tx: Sql, apart: ReadonlySet<number>): Promise<void> {
  if (apart.size === 0) return;
  const wanted = 'update agent set resync_wanted = true where computer_id = any($1::int[]) and not resync_wanted';
  await tx.query(wanted, [[...apart]]);
}

const SETTLE_IDENTITIES = `
  with others as (
    delete from agent_identity i using unnest($1::int[], $2::bytea[]) v(computer_id, hash)
    where i.computer_id = v.computer_id and i.secure_id_hash <> v.hash
    returning i.secure_id_hash, i.computer_id
  ), forgotten as (
    delete from agent_spare_identity
    where computer_id = any($1::int[]) and created_at < now() - interval '1 week'
  )
  insert into agent_spare_identity (secure_id_hash, computer_id) select secure_id_hash, computer_id from others
  on conflict (secure_id_hash) do nothing`;
