import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { positional } from '../../../src/persistence/database/named-parameters.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { type Column, readStatements } from './statements.ts';

/** Statements whose text only a request completes; the most there may be. */
const COMPOSED = 25;

/** Columns whose statements leave out, or have just set, what may be null in their tables. */
const NEVER_NULL: ReadonlySet<string> = new Set([
  'src/persistence/activities/activities.sql.ts computer_id',
  'src/persistence/activities/activity-approval.sql.ts lane_id',
  'src/persistence/activities/activity-computers.sql.ts computer_id',
  'src/persistence/activities/activity-pages.sql.ts id',
  'src/persistence/activities/activity-repeats.sql.ts computer_id',
  'src/persistence/activities/activity-repeats.sql.ts reverts',
  'src/persistence/agents/enrolment.sql.ts madeAt',
  'src/persistence/agents/intervals.sql.ts at',
  'src/persistence/agents/sessions.sql.ts traceparent',
  'src/persistence/compliance/usg-reports.sql.ts modification_time',
  'src/persistence/compliance/usg-runs.sql.ts activity_id',
  'src/persistence/engine/operations.sql.ts deliver_at',
  'src/persistence/engine/prior-activities.sql.ts deliver_at',
  'src/persistence/events/webhooks.sql.ts next_attempt_at',
  'src/persistence/scripts/script-profile-runs.sql.ts due_at',
  'src/persistence/scripts/script-profiles.sql.ts activity_id',
  'src/persistence/scripts/scripts.sql.ts code',
]);

describe('the rows of statements', () => {
  const statements = readStatements();
  let database: TestDatabase;
  let client: pg.Client;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });

  afterAll(async () => {
    await client?.end();
    await database?.drop();
  });

  it('have the types that the code declares', async () => {
    const kinds = await readKinds(client);
    const nullable = await readNullable(client);
    const found: string[] = [];
    for (const { place, texts, parameters, columns } of statements) {
      for (const form of texts) {
        const { text } = positional(form, Object.fromEntries(parameters.map((name) => [name, null])));
        const described = await describeRows(client, text);
        if (described instanceof Error) found.push(`${place} is no statement: ${described.message}`);
        else if (columns !== null && !form.startsWith('fetch '))
          found.push(
            ...differences(described, columns, kinds).map((what) => `${place} ${what}`),
            ...nullsOf(described, columns, nullable)
              .filter((name) => !NEVER_NULL.has(`${place.replace(/:\d+$/, '')} ${name}`))
              .map((name) => `${place} declares ${name} without null`),
          );
      }
    }
    expect(found).toEqual([]);
  });

  it('are known before a request for nearly all of them', () => {
    expect(statements.length).toBeGreaterThan(300);
    const composed = statements.filter(({ texts }) => texts.length === 0).map(({ place }) => place);
    expect(composed.length, composed.join('\n')).toBeLessThanOrEqual(COMPOSED);
  });

  it('differ when a column is missing, of another type or not declared', async () => {
    const kinds = await readKinds(client);
    const described = await describeRows(client, 'select 1::int as id, now() as at, null::text as name');
    const column = (kind: string): Column => ({ kinds: new Set([kind]), isOptional: false, isNullable: false });
    const declared = new Map([
      ['id', column('string')],
      ['at', column('Date')],
      ['title', column('string')],
    ]);
    expect(differences(described as pg.FieldDef[], declared, kinds)).toEqual([
      'declares id as string, and it is number',
      'does not declare name',
      'declares title, which it lacks',
    ]);
  });
});

type Kinds = Map<number, string>;

/** What the driver makes of each type of PostgreSQL. */
async function readKinds(client: pg.Client): Promise<Kinds> {
  const { rows } = await client.query<{ oid: number; name: string; element: string | null }>(
    `select t.oid::int, t.typname as name, e.typname as element from pg_type t left join pg_type e on e.oid = t.typelem
     and t.typcategory = 'A'`,
  );
  return new Map(rows.map(({ oid, name, element }) => [oid, element ? `${kindOf(element)}[]` : kindOf(name)]));
}

/** Columns of tables that may be null, each as the numbers of table and column. */
async function readNullable(client: pg.Client): Promise<Set<string>> {
  const { rows } = await client.query<{ key: string }>(
    `select attrelid || '.' || attnum as key from pg_attribute join pg_class c on c.oid = attrelid
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and attnum > 0 and not attnotnull`,
  );
  return new Set(rows.map(({ key }) => key));
}

/** Plain columns that may be null and are declared without. */
function nullsOf(
  described: readonly pg.FieldDef[],
  declared: ReadonlyMap<string, Column>,
  nullable: ReadonlySet<string>,
): string[] {
  const isMissed = ({ name, tableID, columnID }: pg.FieldDef) =>
    declared.get(name)?.isNullable === false && nullable.has(`${tableID}.${columnID}`);
  return described.filter(isMissed).map(({ name }) => name);
}

function kindOf(type: string): string {
  if (/^(int\d|float\d|oid)$/.test(type)) return 'number';
  if (/^timestamp/.test(type)) return 'Date';
  if (/^jsonb?$/.test(type)) return 'any';
  return { bool: 'boolean', bytea: 'Buffer', void: 'any', date: 'Date' }[type] ?? 'string';
}

function differences(described: readonly pg.FieldDef[], declared: ReadonlyMap<string, Column>, kinds: Kinds): string[] {
  const found: string[] = [];
  for (const { name, dataTypeID } of described) {
    const column = declared.get(name);
    const kind = kinds.get(dataTypeID)!;
    if (column === undefined) found.push(`does not declare ${name}`);
    else if (!isKind(column, kind))
      found.push(`declares ${name} as ${[...column.kinds].join(' | ')}, and it is ${kind}`);
  }
  const names = new Set(described.map(({ name }) => name));
  return [
    ...found,
    ...[...declared.keys()]
      .filter((name) => !names.has(name) && !declared.get(name)!.isOptional)
      .map((name) => `declares ${name}, which it lacks`),
  ];
}

function isKind({ kinds }: Column, kind: string): boolean {
  return kind === 'any' || kinds.has('any') || kinds.size === 0 || (kinds.size === 1 && kinds.has(kind));
}

/** The columns of a statement as PostgreSQL describes them, without running it; the error of one that it cannot parse. */
function describeRows(client: pg.Client, text: string): Promise<pg.FieldDef[] | Error> {
  return new Promise((resolve) => {
    let result: pg.FieldDef[] = [];
    client.query({
      submit(connection: pg.Connection) {
        connection.parse({ text, name: '', types: [] } as never, true);
        connection.describe({ type: 'S', name: '' } as never, true);
        connection.sync();
      },
      handleRowDescription: ({ fields }: { fields: pg.FieldDef[] }) => {
        result = fields;
      },
      handleError: resolve,
      handleReadyForQuery: () => resolve(result),
    } as unknown as pg.Submittable);
  });
}
