import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { positional } from '../../../src/persistence/database/named-parameters.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { type Column, readStatements } from './statements.ts';

/** Statements whose text only a request completes; the most there may be. */
const COMPOSED = 24;

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
    const found: string[] = [];
    for (const { place, texts, parameters, columns } of statements) {
      for (const form of texts) {
        const { text } = positional(form, Object.fromEntries(parameters.map((name) => [name, null])));
        const described = await describeRows(client, text);
        if (described instanceof Error) found.push(`${place} is no statement: ${described.message}`);
        else if (columns !== null && !form.startsWith('fetch '))
          found.push(...differences(described, columns, kinds).map((what) => `${place} ${what}`));
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
    const column = (kind: string): Column => ({ kinds: new Set([kind]), isOptional: false });
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
