import { beforeAll, describe, expect, it } from 'vitest';
import { describeTree, type ReleaseManifest, readReleases } from './manifest.ts';
import { type MigrationPlan, planMigrations, problemsOf } from './migration-rules.ts';

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

  it('lets processes of each release go on beside the migrations after it', () => {
    expect(problemsSinceFirst(releases, plans)).toEqual([]);
  });

  it('goes on checking a migration once a release has it', () => {
    const released = [releaseOf('0.1.0', ['Core']), releaseOf('0.2.0', ['Core', 'Less'])];
    const statements = ['drop table computer'];
    const planned = ['Core', 'Less'].map((name) => ({ name, statements, transactional: true }));
    expect(problemsSinceFirst(released, planned)).toEqual([expect.stringMatching(/^Less takes away/)]);
  });
});

/** Problems of every migration that came after the first release, released since or not. */
function problemsSinceFirst([first]: readonly ReleaseManifest[], all: readonly MigrationPlan[]): string[] {
  return all
    .filter(({ name }) => !Object.hasOwn(first!.migrations, name))
    .flatMap((plan) => problemsOf(plan).map((problem) => `${plan.name} ${problem}`));
}

function releaseOf(version: string, migrations: readonly string[]): ReleaseManifest {
  return { version, migrations: Object.fromEntries(migrations.map((name) => [name, ''])), histories: {} };
}

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
    "alter table computer add column site text not null, add column note text not null default ''",
    'alter table computer add column price numeric(10, 2) not null',
    'alter table computer add column price numeric(10, 2), drop column title',
    'alter table computer add site text not null',
    'alter table computer drop title',
    'alter table computer alter title type varchar(10)',
    'alter table computer alter column state drop default',
    'alter table computer add column site text not null, -- by default none\n add note text',
    'alter table computer drop constraint computer_title_key',
    'drop index computer_title',
    'drop index concurrently if exists computer_title cascade',
    'create index on computer (site)',
    'create table site (id int); drop table computer',
    'create table site (id int); alter table site add name text not null; alter table computer drop title',
    'do $$ begin alter table computer drop title; end $$',
  ])('must not %s', (statement) => {
    expect(problemsOf({ statements: [statement], transactional: false })).toHaveLength(1);
  });

  it('creates indexes concurrently outside a transaction', () => {
    // An attempt that was interrupted leaves an index that is not valid.
    const statements = [
      'drop index concurrently if exists computer_site',
      'create index concurrently computer_site on computer (site)',
    ];
    expect(problemsOf({ statements, transactional })).toHaveLength(1);
    expect(problemsOf({ statements, transactional: false })).toEqual([]);
  });

  it.each([
    [['alter table computer add column site text']],
    [["alter table computer add column site text not null default ''"]],
    [['create table site (id int primary key, name text not null)', 'create unique index site_name on site (name)']],
    [['create table site (id int)', 'alter table site add constraint site_known check (id > 0)']],
    [['create table site (id int); alter table site add name text not null; alter table site drop id']],
    [['alter table computer add column price numeric(10, 2) not null default 0, add note text']],
    [["alter table computer alter column type set default 'none', alter column title drop not null"]],
    [["insert into setting values ('drop table computer')"]],
    [["select 1 -- what isn't used; drop table computer"]],
  ])('may %j', (statements) => {
    expect(problemsOf({ statements, transactional })).toEqual([]);
  });
});
