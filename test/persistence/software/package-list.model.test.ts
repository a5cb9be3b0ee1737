import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGE_STATES } from '../../../src/domain/software/package-states.ts';
import type { Database, Sql } from '../../../src/persistence/database/sql.ts';
import {
  listPackages,
  type PackageFilter,
  type PackageRow,
  SHOWN_COMPUTERS,
} from '../../../src/persistence/software/packages.sql.ts';
import { createAccount, createGroup } from '../../../tools/harness/accounts.ts';
import { createRandom } from '../../../tools/simulator/random.ts';
import { insertComputer, insertPackage, type ReportedSets, reportPackages } from '../../support/computers/computers.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import fc, { seedOr } from '../../support/common/random.ts';

/** Seed of the rows; the requests differ from run to run. */
const WORLD = 20_261_122;
const COMPUTERS = 260;
const GROUPS = ['global', 'servers'];
/** How many computers hear of a name: all of them to hardly any. */
const SHARES = [1, 0.9, 0.5, 0.4, 0.1, 0.01];
const NAMES = Array.from({ length: 24 }, (_, i) => `${i % 2 ? 'lib' : ''}name-${i}`);
const [COMMON, RARE] = [NAMES[0]!, NAMES[5]!];

/** A computer and what it knows of each name, in order of ids. */
interface Computer {
  id: number;
  group: number;
  archived: boolean;
  known: Map<string, PackageRow[]>;
  /** Names of which it holds a version. */
  locked: Set<string>;
}

let database: TestDatabase;
let db: Database;
let accountId: number;
/** As the database orders them. */
let ordered: string[];
const packages: Array<{ id: number; name: string; version: string; summary: string; share: number }> = [];
const groups: number[] = [];
const computers: Computer[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  db = database.persistence.db;
  accountId = (await createAccount(db, 'packages')).accountId;
  await createGroup(db, accountId, 'servers');
  for (const name of GROUPS) {
    const [group] = await db.query<{ id: number }>('select id from access_group where account_id = $1 and name = $2', [
      accountId,
      name,
    ]);
    groups.push(group!.id);
  }
  ordered = (await db.query<{ n: string }>('select n from unnest($1::text[]) n order by n', [NAMES])).map(({ n }) => n);
  for (const version of ['1', '2', '3']) {
    for (const [place, name] of NAMES.entries()) {
      const [summary, share] = [`${name} of tests`, SHARES[place % SHARES.length]!];
      packages.push({ id: await insertPackage(db, name, version, summary), name, version, summary, share });
    }
  }
  for (let n = 0; n < COMPUTERS; n += 1) await addComputer(n);
});
afterAll(() => database?.drop());

async function addComputer(n: number): Promise<void> {
  const random = createRandom(WORLD, n);
  const [archived, group] = [random.chance(0.05), random.int(0, 1)];
  const id = await insertComputer(db, { accountId, archived, title: `c-${n}`, group: GROUPS[group]! });
  const heard = packages.filter(({ share }) => random.chance(share)).map((one) => one.id);
  const some = (share: number) => heard.filter(() => random.chance(share));
  const sets = {
    installed: some(0.4),
    available: some(0.6),
    upgrades: some(0.3),
    locked: some(0.2),
    security: some(0.3),
  };
  // Some have not reported yet.
  const reported = random.chance(0.9);
  if (reported) await reportPackages(db, id, sets);
  const locked = new Set(packages.filter((one) => reported && sets.locked.includes(one.id)).map(({ name }) => name));
  computers.push({ id, group: groups[group]!, archived, known: reported ? knownOf(id, sets) : new Map(), locked });
}

function knownOf(computer: number, sets: Required<ReportedSets>): Computer['known'] {
  const rows = packages.map(({ id, name, version, summary }) => {
    const [installed, upgrade, held] = [sets.installed, sets.upgrades, sets.locked].map((ids) => ids.includes(id)) as [
      boolean,
      boolean,
      boolean,
    ];
    const states = { installed, upgrade, held, available: upgrade || sets.available.includes(id) };
    return {
      computer_id: computer,
      id,
      name,
      version,
      summary,
      ...states,
      security: upgrade && sets.security.includes(id),
    };
  });
  return Map.groupBy(
    rows.filter(({ installed, available }) => installed || available),
    ({ name }) => name,
  );
}

/** What the list has to be, by looking at every package of every computer. */
function naive(filter: PackageFilter, page: { limit: number; offset: number }) {
  const scope = computers.filter(
    ({ id, group, archived }) =>
      (filter.groups?.includes(group) ?? true) && (filter.computers?.includes(id) ?? !archived),
  );
  // A newer version of what is installed: that the package is installed, and not merely available, follows from it.
  const { installed, available, held, ...others } = filter.states;
  const areNewer = others.upgrade === true || others.security === true;
  const states = {
    ...others,
    ...(installed !== undefined && !(areNewer && installed) && { installed }),
    ...(available !== undefined && !(areNewer && !available) && { available }),
  };
  const fits = (row: PackageRow) =>
    (Object.keys(states) as Array<keyof typeof states>).every((state) => states[state] === row[state]);
  const having = (name: string) =>
    scope
      .map(({ known, locked }) => ({ versions: known.get(name) ?? [], isHeld: locked.has(name) }))
      .filter(({ versions, isHeld }) =>
        versions.some((row) => fits(row) && (held === undefined || held === (areNewer ? isHeld : row.held))),
      )
      .map(({ versions }) => versions);
  const found = ordered.filter(
    (name) =>
      `${name} of tests`.includes(filter.search) && (filter.names?.includes(name) ?? true) && having(name).length > 0,
  );
  const names = found.slice(page.offset, page.offset + page.limit);
  const rows = names.flatMap((name) => having(name).slice(0, SHOWN_COMPUTERS).flat());
  return {
    response: { count: found.length, names, rows },
    isCut: names.some((name) => having(name).length > SHOWN_COMPUTERS),
  };
}

/** Draws a request; access groups and computers by their place. */
const aQuestion = fc.record({
  groups: fc.option(fc.subarray([0, 1]), { freq: 2 }),
  computers: fc.option(fc.uniqueArray(fc.nat(COMPUTERS - 1), { maxLength: COMPUTERS, size: 'max' }), { freq: 2 }),
  search: fc.constantFrom('', '', 'lib', 'name-1', 'nothing'),
  names: fc.option(fc.subarray(NAMES), { freq: 2 }),
  states: fc.dictionary(fc.constantFrom(...PACKAGE_STATES), fc.boolean(), { maxKeys: 3 }),
  page: fc.record({ limit: fc.integer({ min: 1, max: 30 }), offset: fc.nat(8) }),
  batch: fc.record({ first: fc.integer({ min: 1, max: 150 }), largest: fc.integer({ min: 10, max: 300 }) }),
});

describe('a list of packages', () => {
  it('equals every package of every computer, however many computers are read at once', async () => {
    let cut = 0;
    await fc.assert(
      fc.asyncProperty(aQuestion, async ({ page, batch, ...question }) => {
        const filter = {
          ...question,
          accountId,
          groups: question.groups?.map((place) => groups[place]!) ?? null,
          computers: question.computers?.map((place) => computers[place]!.id) ?? null,
        };
        const { response, isCut } = naive(filter, page);
        expect(await listPackages(db, filter, page, batch)).toEqual(response);
        cut += Number(isCut);
      }),
      { seed: seedOr(20_261_122), numRuns: 300 },
    );
    expect(cut).toBeGreaterThan(30);
  });

  it.each([
    ['no computer after those that are shown', [COMMON], 5],
    ['all computers for a rare name', [COMMON, RARE], 7],
    ['no computer where there is no name', ['nothing'], 3],
  ])('reads %s', async (_, names, statements) => {
    let count = 0;
    const watched: Sql = {
      ...db,
      query: (...args) => {
        count += 1;
        return db.query(...args);
      },
    };
    const filter = { accountId, groups: null, computers: null, search: '', names, states: {} };
    await listPackages(watched, filter, { limit: 10, offset: 0 }, { first: 150, largest: 150 });
    // Which computers, which packages, their names, and twice one for each batch.
    expect(count).toBe(statements);
  });
});
