import { computersText } from '../../domain/activities/summary.ts';
import { DomainError } from '../../domain/common/errors.ts';
import {
  addTags,
  annotate,
  changeAccessGroup,
  removeAnnotation,
  removeTags,
} from '../../persistence/computers/computer-bulk.sql.ts';
import { recordEvent } from '../../persistence/events/events.sql.ts';
import { lockFleetShared } from '../../persistence/computers/targets.sql.ts';
import { lockRights } from '../../persistence/identity/rights.repository.ts';
import type { Database, Sql } from '../../persistence/database/sql.ts';
import {
  MAX_ANNOTATIONS,
  MAX_TAGS,
  MOVE_PERMISSIONS,
  readAnnotationKey,
  readAnnotationValue,
  readTags,
} from '../common/tag-fields.ts';
import { type ActingQuery, resolveComputerQuery } from '../query/computer-queries.ts';
import { requireAccessGroup } from '../identity/resolve-names.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { requireTargets } from '../activities/targets.ts';

interface Change {
  apply(tx: Sql, computers: readonly number[]): Promise<void>;
  done: string;
  to: 'to' | 'from' | 'of';
}

/**
 * Acts on all visible matches except archived ones, in one transaction. Idempotent. Returns all matching ids,
 * ascending. @throws {DomainError} InvalidQueryError, SavedSearchChanged, InvalidParameter, Forbidden
 * @see docs/api-conventions.md#changing-computers
 */
export function createComputerBulkService(deps: { db: Database; clock: Clock }) {
  const inTransaction = (caller: Caller, query: ActingQuery, change: Change) =>
    deps.db.transaction((tx) => changeAll(tx, deps.clock, caller, query, change));
  return {
    async addTags(caller: Caller, query: ActingQuery, given: readonly string[]) {
      const tags = readTags('body.tags', given);
      return inTransaction(caller, query, {
        apply: async (tx, ids) => rejectOverLimit(await addTags(tx, ids, tags, MAX_TAGS), `${MAX_TAGS} tags`),
        done: `Added ${tagNames(tags)}`,
        to: 'to',
      });
    },
    removeTags: (caller: Caller, query: ActingQuery, tags: readonly string[]) =>
      inTransaction(caller, query, {
        apply: (tx, ids) => removeTags(tx, ids, tags),
        done: `Removed ${tagNames(tags)}`,
        to: 'from',
      }),
    async annotate(caller: Caller, query: ActingQuery, given: { key: string; value: string }) {
      const key = readAnnotationKey('body.key', given.key);
      const annotation = { key, value: readAnnotationValue('body.value', given.value) };
      const limit = `${MAX_ANNOTATIONS} annotations`;
      return inTransaction(caller, query, {
        apply: async (tx, ids) => rejectOverLimit(await annotate(tx, ids, annotation, MAX_ANNOTATIONS), limit),
        done: `Set the annotation ${key}`,
        to: 'of',
      });
    },
    removeAnnotation: (caller: Caller, query: ActingQuery, key: string) =>
      inTransaction(caller, query, {
        apply: (tx, ids) => removeAnnotation(tx, ids, key),
        done: `Removed the annotation ${shortened(key)}`,
        to: 'from',
      }),
    /** @throws {DomainError} UnknownAccessGroup (400); also Forbidden when the caller may not manage computers there */
    changeAccessGroup: (caller: Caller, query: ActingQuery, accessGroup: string) =>
      deps.db.transaction(async (tx) => {
        // Prevents removal of the access group between the lookup and the move.
        await lockRights(tx, caller.accountId);
        const groupId = await requireAccessGroup(tx, caller, accessGroup, MOVE_PERMISSIONS);
        return changeAll(tx, deps.clock, caller, query, {
          apply: (inner, ids) => changeAccessGroup(inner, ids, groupId),
          done: `Changed the access group (now ${accessGroup})`,
          to: 'of',
        });
      }),
  };
}

async function changeAll(tx: Sql, clock: Clock, caller: Caller, query: ActingQuery, change: Change): Promise<number[]> {
  // Before the search, so that no matching computer is removed meanwhile.
  await lockFleetShared(tx, caller.accountId);
  const ids = await resolveComputerQuery({ db: tx, clock }, caller, query);
  if (ids.length === 0) return ids;
  await requireTargets(tx, caller, ids, 'ManageComputer');
  await change.apply(tx, ids);
  const computers = computersText(ids.length);
  await recordEvent(tx, caller, {
    entityType: 'Computer',
    entityId: ids.length === 1 ? ids[0]! : null,
    entityName: computers,
    message: `${change.done} ${change.to} ${computers} found by the query ${JSON.stringify(shortened(query.text))}`,
  });
  return ids;
}

function rejectOverLimit(computers: readonly number[], limit: string): void {
  if (computers.length === 0) return;
  const details = computers.map((id) => ({ id, message: `would have more than ${limit}` }));
  throw new DomainError('InvalidParameter', `Computer ${computers[0]} would have more than ${limit}`, { details });
}

function tagNames(tags: readonly string[]): string {
  return shortened(`the ${tags.length === 1 ? 'tag' : 'tags'} ${tags.join(', ')}`);
}

const MAX_SHOWN = 200;

function shortened(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}...` : text;
}
