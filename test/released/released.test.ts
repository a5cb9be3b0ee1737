import { beforeAll, describe, expect, it } from 'vitest';
import { type MigrationPlan, planMigrations, problemsOf } from '../support/migration-rules.ts';
import { describeTree, type ReleaseManifest, readReleases } from './manifest.ts';

let releases: ReleaseManifest[];
let tree: ReleaseManifest;
let plans: MigrationPlan[];

beforeAll(async () => {
  [releases, tree, plans] = await Promise.all([readReleases(), describeTree('tree'), planMigrations()]);
});

describe('what was released stays', () => {
  it('has a release to compare with', () => {
    expect(releases.length).toBeGreaterThan(0);
    for (const release of releases) {
      expect(Object.keys(release.migrations).length).toBeGreaterThan(0);
      expect(Object.keys(release.histories).length).toBeGreaterThan(0);
    }
  });

  it('keeps every migration, unedited and in its place', () => {
    for (const { version, migrations } of releases) {
      const here = Object.entries(tree.migrations).slice(0, Object.keys(migrations).length);
      expect(here, `migrations of ${version}`).toEqual(Object.entries(migrations));
    }
  });

  // test/replay replays each of them.
  it('keeps every recorded history, unedited', () => {
    for (const { version, histories } of releases) {
      const here = Object.keys(histories).map((file) => [file, tree.histories[file]]);
      expect(Object.fromEntries(here), `histories of ${version}`).toEqual(histories);
    }
  });

  it('lets processes of the last release go on beside each migration since', () => {
    const released = new Set(Object.keys(releases.at(-1)!.migrations));
    const problems = plans
      .filter(({ name }) => !released.has(name))
      .flatMap((plan) => problemsOf(plan).map((problem) => `${plan.name} ${problem}`));
    expect(problems).toEqual([]);
  });
});

describe('a migration beside running processes', () => {
  const transactional = true;

  it.each([
    'drop table computer',
    'alter table computer drop column title',
    'alter table computer rename column title to name',
    'alter table computer alter column title type varchar(10)',
    'alter table computer alter column title set not null',
    'alter table computer add column site text not null',
    "alter table computer add constraint site_known check (site <> '')",
    'create index computer_site on computer (site)',
    'create unique index concurrently computer_site on computer (site)',
    'truncate computer',
  ])('must not %s', (statement) => {
    expect(problemsOf({ statements: [statement], transactional: false })).toHaveLength(1);
  });

  it('creates indexes concurrently outside a transaction', () => {
    const statements = ['create index concurrently computer_site on computer (site)'];
    expect(problemsOf({ statements, transactional })).toHaveLength(1);
    expect(problemsOf({ statements, transactional: false })).toEqual([]);
  });

  it.each([
    [['alter table computer add column site text']],
    [["alter table computer add column site text not null default ''"]],
    [['create table site (id int primary key, name text not null)', 'create unique index site_name on site (name)']],
    [['create table site (id int)', 'alter table site add constraint site_known check (id > 0)']],
    [["insert into setting values ('drop table computer')"]],
  ])('may %j', (statements) => {
    expect(problemsOf({ statements, transactional })).toEqual([]);
  });
});
