import { MAP_LEGENDS, type MapColor, type MapGrouping } from '../../domain/computers/map-colors.ts';
import { MAX_INT4 } from '../../domain/common/integers.ts';
import { findActivities } from '../../persistence/activities/activities.sql.ts';
import { type MapGroupRow, readComputerMap } from '../../persistence/computers/computer-map.sql.ts';
import type { Sql } from '../../persistence/database/sql.ts';
import { groupsOf } from '../../persistence/query/group-scope.ts';
import { scopeOf, unknownActivities } from '../activities/activity-rights.ts';
import { fieldError } from '../common/fields.ts';
import type { Caller, Clock } from '../common/ports.ts';
import { prepareComputerQuery } from '../query/computer-queries.ts';

/** Computers may have many tags, and a cell for each of them. */
const MAX_CELLS = 1_000_000;

interface MapQuery {
  query: string;
  rootOnly: boolean;
  /** As in the address: a colour, with the id of the activity after a colon where it is one. */
  color: string;
  grouping: MapGrouping;
}

/** A state of every computer that a query finds, in few bytes. @see docs/api-conventions.md#map-of-computers */
export function createComputerMapService(deps: { db: Sql; clock: Clock }) {
  return {
    /** JSON text. @throws {DomainError} InvalidQueryError, UnknownActivity, InvalidParameter for too many cells */
    async read(caller: Caller, { query, rootOnly, color: text, grouping }: MapQuery) {
      const { accountId } = caller;
      const { color, activityId } = readColor(text);
      const selection = await prepareComputerQuery(deps, accountId, query);
      if (activityId !== null) await requireVisibleActivity(deps, caller, activityId);
      const groups = groupsOf(caller.groups('ViewComputer'));
      const scope = { accountId, groups, selection, rootOnly, most: MAX_CELLS + 1 };
      const rows = await readComputerMap(deps.db, { ...scope, color, activityId, grouping });
      if (sum(rows, ({ cells }) => cells) > MAX_CELLS) {
        throw fieldError('query.query', `must find fewer computers: a map has up to ${MAX_CELLS} cells`);
      }
      return { json: toJson(color, rows), deprecated: selection.deprecated };
    },
  };
}

function readColor(text: string): { color: MapColor; activityId: number | null } {
  const [color, id] = text.split(':') as [MapColor, string | undefined];
  return { color, activityId: id === undefined ? null : Number(id) };
}

async function requireVisibleActivity({ db, clock }: { db: Sql; clock: Clock }, caller: Caller, id: number) {
  const found = id > MAX_INT4 ? [] : await findActivities(db, scopeOf(caller), [id], clock.now());
  if (found.length === 0) throw unknownActivities([id]);
}

// Ids and digits come from the database as text: as objects, 100,000 of them would take longer than their query.
function toJson(color: MapColor, rows: readonly MapGroupRow[]): string {
  const head = JSON.stringify({
    count: sum(rows, ({ computers }) => computers),
    legend: MAP_LEGENDS[color],
    groups: rows.map(({ name, title, cells }) => ({ name, title, cells })),
    values: rows.map(({ digits }) => digits).join(''),
  });
  return `${head.slice(0, -1)},"ids":[${rows.map(({ ids }) => ids).join(',')}]}`;
}

function sum(rows: readonly MapGroupRow[], countOf: (row: MapGroupRow) => number): number {
  return rows.reduce((total, row) => total + countOf(row), 0);
}
