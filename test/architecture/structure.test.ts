import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ReadSource, readSources } from '../../tools/docs/read-sources.ts';
import { layerOf, renderStructure } from '../../tools/docs/render-structure.ts';
import { replaceSection } from '../../tools/docs/section.ts';
import { AREAS, DIVIDED, LAYERS, MAX_FILES, RECORDS } from '../../tools/docs/structure.ts';

let sources: ReadSource[];

beforeAll(async () => {
  sources = await readSources();
});

function packagesBelow(folder: string): Array<{ path: string; name: string }> {
  return sources
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .flatMap(({ path, packages }) => packages.map((name) => ({ path, name })));
}

function isAllowedByLayer(from: string, to: string): boolean {
  const layer = LAYERS.find(({ path }) => path === layerOf(from));
  if (!layer) return false;
  return [layer.path, ...layer.mayUse].some((path) => to === path || to.startsWith(`${path}/`));
}

/** The area of a file in one layer, or nothing. */
function areaOf(layer: string, path: string): string | undefined {
  return path.startsWith(`${layer}/`) ? path.slice(layer.length + 1).split('/')[0] : undefined;
}

/** Every import from one area of a layer to another. */
function usesIn(layer: string): Array<{ from: string; to: string; text: string }> {
  return sources.flatMap(({ path, imports }) => {
    const from = areaOf(layer, path);
    return imports.flatMap((target) => {
      const to = areaOf(layer, target);
      return from === undefined || to === undefined || from === to ? [] : [{ from, to, text: `${path} -> ${target}` }];
    });
  });
}

describe('layers', () => {
  it('hold every file', () => {
    expect(sources.length).toBeGreaterThan(500);
    expect(sources.map(({ path }) => path).filter((path) => layerOf(path) === undefined)).toEqual([]);
  });

  it('import only in the allowed directions', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports.filter((to) => !isAllowedByLayer(path, to)).map((to) => `${path} -> ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it('have no import cycle', () => {
    expect(sources.filter(({ isInCycle }) => isInCycle).map(({ path }) => path)).toEqual([]);
  });
});

describe.each(DIVIDED)('areas of %s', (layer) => {
  const known = new Map(AREAS.map(({ name, mayUse }) => [name, mayUse]));

  it('hold every file', () => {
    const files = sources.map(({ path }) => path).filter((path) => path.startsWith(`${layer}/`));
    expect(files.filter((path) => dirname(path) === layer || !known.has(areaOf(layer, path)!))).toEqual([]);
  });

  it('use only what they may', () => {
    const wrong = usesIn(layer).filter(({ from, to }) => !known.get(from)?.includes(to));
    expect(wrong.map(({ text }) => text)).toEqual([]);
  });

  it('do not use each other', () => {
    const uses = usesIn(layer);
    const pairs = new Set(uses.map(({ from, to }) => `${from} ${to}`));
    expect(uses.filter(({ from, to }) => pairs.has(`${to} ${from}`)).map(({ text }) => text)).toEqual([]);
  });
});

/** The contract of all Temporal activities, whose types each implementation names. */
const TYPES = 'workflows/contracts/activities.ts';

/** Files of workers, with those that they load. */
function loadedInWorkers(files: readonly string[]): string[] {
  const found = new Set(files);
  for (const file of found) {
    const loads = sources.find(({ path }) => path === file)?.loads ?? [];
    for (const to of loads) if (to.startsWith('workers/')) found.add(to);
  }
  return [...found];
}

function usersOfPersistence(files: readonly string[]): string[] {
  const users = sources.filter(({ imports }) => imports.some((to) => to.startsWith('src/persistence/')));
  return users.map(({ path }) => path).filter((path) => files.includes(path));
}

describe('Temporal activities', () => {
  it('are in workers/activities', () => {
    const files = sources.filter(({ path, imports }) => path.startsWith('workers/') && imports.includes(TYPES));
    expect(files.length).toBeGreaterThan(5);
    const elsewhere = files.map(({ path }) => path).filter((path) => !path.startsWith('workers/activities/'));
    expect(elsewhere).toEqual([]);
  });

  it('call services, not repositories, whichever files of workers they go through', () => {
    const activities = sources.map(({ path }) => path).filter((path) => path.startsWith('workers/activities/'));
    const files = loadedInWorkers(activities);
    expect(files).toEqual(
      expect.arrayContaining(['workers/reconciler/visibility.ts', 'workers/dispatcher/starter.ts']),
    );
    expect(usersOfPersistence(files)).toEqual([]);
    expect(usersOfPersistence(loadedInWorkers(['workers/main.ts']))).toContain('workers/dispatcher/outbox.ts');
  });
});

describe('SQL', () => {
  const STATEMENT =
    /\.query(<[^(]*>)?\(\s*[`'"]|[`'"]\s*(select|insert into|update|delete from|with)\s[^`'"]*\b(from|set|values|as)\b/;

  it('stays in src/persistence', () => {
    const files = globSync('{src,workers,workflows,temporal}/**/*.ts').filter(
      (file) => !file.startsWith('src/persistence/') && !file.endsWith('.generated.ts'),
    );
    expect(files.length).toBeGreaterThan(300);
    expect(files.filter((file) => STATEMENT.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  it('of an area is in its files named sql', () => {
    const files = globSync('src/persistence/*/*.ts').filter((file) => !/\/(database|orm)\//.test(file));
    const callers = files.filter((file) => /\b(tx|sql|db)\.query\b/.test(readFileSync(file, 'utf8')));
    expect(callers.length).toBeGreaterThan(40);
    expect(callers.filter((file) => !file.endsWith('.sql.ts'))).toEqual([]);
  });
});

describe('tests', () => {
  const parts = LAYERS.map(({ path }) => basename(path));
  const subjects: ReadonlySet<string | undefined> = new Set([...AREAS.map(({ name }) => name), ...parts, 'web']);
  /** Folders that are divided by what is tested; the first two hold tests of whole stacks and shared parts of tests. */
  const divided = ['e2e', 'support', 'api', 'gateway', 'persistence', 'workflows'];
  const others = ['architecture', 'bad-inputs', 'released', 'replay', 'schemathesis', 'web'];
  const isSource = (folder: string) => ['', 'src/', 'tools/'].some((root) => existsSync(`${root}${folder}`));

  it('lie in folders with the names of what they test', () => {
    const isWrong = (folder: string) => {
      const [, top = '', ...rest] = folder.split('/');
      if (top === 'unit') {
        const source = rest.join('/');
        return source === '' || !isSource(source) || DIVIDED.some((layer) => layer === `src/${source}`);
      }
      if (divided.includes(top)) return !subjects.has(rest[0]) && !isSource(`${top}/${rest[0]}`);
      return !parts.includes(top) && !others.includes(top);
    };
    const folders = new Set(globSync('test/**/*.ts').map((file) => dirname(file)));
    expect(folders.size).toBeGreaterThan(60);
    expect([...folders].filter(isWrong)).toEqual([]);
  });
});

describe('folders', () => {
  it(`hold at most ${MAX_FILES} files`, () => {
    const counts = new Map<string, number>();
    for (const file of globSync('{src,temporal,workflows,workers,packages,web,tools,test,docs}/**/*.*', {
      exclude: ['**/node_modules'],
    })) {
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    expect([...counts].filter(([folder, count]) => count > MAX_FILES && !RECORDS.includes(folder))).toEqual([]);
  });
});

describe('packages', () => {
  it('of Temporal stay out of src', () => {
    expect(packagesBelow('src').filter(({ name }) => name.startsWith('@temporalio/'))).toEqual([]);
  });

  it('and Node built-ins stay out of the domain', () => {
    expect(packagesBelow('src/domain')).toEqual([]);
  });

  it('named rrule are called for one year at a time', () => {
    const importers = sources.filter(({ packages }) => packages.includes('rrule')).map(({ path }) => path);
    expect(importers).toEqual(['src/services/schedules/year-days.ts']);
  });

  it('of workflow code are the workflow SDK and its interceptors alone', () => {
    const interceptors = '@temporalio/interceptors-opentelemetry/lib/workflow/index.js';
    const allowed = ['@temporalio/workflow', '@temporalio/common', interceptors];
    expect(packagesBelow('workflows').filter(({ name }) => !allowed.includes(name))).toEqual([]);
  });

  it('do not include the workflow bundle, whose entry only the bundler names', () => {
    expect(sources.filter(({ imports }) => imports.includes('workflows/index.ts')).map(({ path }) => path)).toEqual([]);
  });
});

describe('environment variables', () => {
  // What drivers and tests start inherits theirs.
  const inheriting = ['tools/harness/stack-programs.ts', 'tools/harness/test-log.ts'];
  const readers = globSync('{src,temporal,workflows,workers,packages,tools}/**/*.{ts,mjs}', {
    exclude: ['**/node_modules'],
  })
    .map((path) => ({ path, reads: readFileSync(path, 'utf8').split('process.env').length - 1 }))
    .filter(({ path, reads }) => reads > 0 && !inheriting.includes(path));

  it('are read by programs alone, which pass them on', () => {
    const modules = new Set(sources.flatMap(({ imports }) => imports));
    const paths = readers.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['src/server/main.ts', 'tools/bench/main.ts']));
    expect(paths.filter((path) => modules.has(path))).toEqual([]);
  });

  it('are read once in a program', () => {
    // Modules that are loaded before a program change them for it.
    const before = [
      'src/process/require-node.mjs',
      'packages/cli/bin/flotilla.mjs',
      'tools/stack/join-main.ts',
      'tools/faults/inside/preload.ts',
    ];
    expect(readers.filter(({ path, reads }) => reads > 1 && !before.includes(path))).toEqual([]);
  });
});

describe('variables of modules', () => {
  it('are constants', () => {
    const files = globSync('{src,temporal,workflows,workers,packages}/**/*.ts');
    const changeable = files.filter((path) => /^(export )?(let|var) /m.test(readFileSync(path, 'utf8')));
    expect(changeable.sort()).toEqual([]);
  });

  it('hold no state but the logging context and results that depend on nothing else', () => {
    const state =
      /^(?:export )?const (\w+) = new (?:(?:Weak)?(?:Map|Set)|LRUCache|AsyncLocalStorage)(?:<.*>)?\((?:\)|\{$)/gm;
    const found = globSync('{src,temporal,workflows,workers,packages}/**/*.ts').flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(state)].map(([, name]) => `${path}: ${name}`),
    );
    expect(found.sort()).toEqual([
      'src/domain/common/time-zone.ts: clocks',
      'src/domain/schedules/calendar-dates.ts: times',
      'src/persistence/database/named-parameters.ts: cache',
      'src/process/log-fields.ts: fields',
      'src/services/schedules/cron-dates.ts: cache',
    ]);
  });
});

describe('docs/architecture.md', () => {
  it('shows this structure; npm run generate brings it up to date', () => {
    const page = readFileSync('docs/architecture.md', 'utf8');
    expect(replaceSection(page, 'structure', renderStructure(sources))).toBe(page);
  });
});
