import { describe, expect, it } from 'vitest';
import { findCycles, readSources, type SourceFile } from './imports.ts';

/** What each layer may import of ours, longest prefix first. A layer may always import itself. */
const LAYERS: ReadonlyArray<{ layer: string; may: readonly string[] }> = [
  { layer: 'src/domain/', may: [] },
  { layer: 'src/protocol/', may: [] },
  { layer: 'src/persistence/', may: ['src/domain/', 'process'] },
  { layer: 'src/services/', may: ['src/domain/', 'src/persistence/', 'process'] },
  { layer: 'src/api/', may: ['src/services/', 'src/domain/', 'process'] },
  { layer: 'src/gateway/', may: ['src/services/', 'src/persistence/', 'src/domain/', 'src/protocol/', 'process'] },
  { layer: 'src/fleet/', may: ['src/protocol/', 'process'] },
  {
    layer: 'src/stack/',
    may: ['src/services/', 'src/persistence/', 'src/domain/', 'temporal/', 'process'],
  },
  {
    layer: 'src/main.ts',
    may: ['src/api/', 'src/gateway/', 'src/services/', 'src/persistence/', 'temporal/', 'process'],
  },
  { layer: 'workflows/', may: ['src/domain/'] },
  { layer: 'temporal/', may: ['workflows/contracts/', 'src/services/ports.ts', 'src/domain/', 'process'] },
  {
    layer: 'workers/',
    may: ['workflows/', 'temporal/', 'src/services/', 'src/persistence/', 'src/domain/', 'process'],
  },
];

/** Facilities of every process, below all layers. */
const PROCESS_FILES = [
  'src/config.ts',
  'src/identity-settings.ts',
  'src/setting-reader.ts',
  'src/secret-files.ts',
  'src/one-shot.ts',
  'src/health-check.ts',
  'src/http-answers.ts',
  'src/body-budget.ts',
  'src/logger.ts',
  'src/log-fields.ts',
  'src/log-sink.ts',
  'src/lifecycle.ts',
  'src/logged-process.ts',
  'src/metrics.ts',
  'src/span-budget.ts',
  'src/tracing.ts',
  'src/tracing-exporter.ts',
  'src/require-node.mjs',
];

const sources = readSources(process.cwd(), ['src', 'temporal', 'workflows', 'workers']);

function layerOf(path: string) {
  return LAYERS.find(({ layer }) => path.startsWith(layer));
}

function isAllowed(from: SourceFile, target: string): boolean {
  const rule = layerOf(from.path);
  if (!rule) return PROCESS_FILES.includes(from.path) && PROCESS_FILES.includes(target);
  if (layerOf(target) === rule) return true;
  if (PROCESS_FILES.includes(target)) return rule.may.includes('process');
  return rule.may.some((prefix) => target.startsWith(prefix));
}

function packagesOf(prefix: string): Array<{ path: string; name: string }> {
  return sources
    .filter(({ path }) => path.startsWith(prefix))
    .flatMap(({ path, packages }) => packages.map((name) => ({ path, name })));
}

describe('layers', () => {
  it('puts every file in a layer', () => {
    expect(sources.length).toBeGreaterThan(20);
    expect(sources.map((s) => s.path).filter((p) => !layerOf(p) && !PROCESS_FILES.includes(p))).toEqual([]);
  });

  it('imports only in the allowed directions', () => {
    const wrong = sources.flatMap((from) =>
      from.files.filter((to) => !isAllowed(from, to)).map((to) => `${from.path} -> ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it('has no import cycle', () => {
    expect(findCycles(sources).map((cycle) => cycle.join(' -> '))).toEqual([]);
  });

  it('keeps Temporal packages out of src', () => {
    expect(packagesOf('src/').filter(({ name }) => name.startsWith('@temporalio/'))).toEqual([]);
  });

  it('keeps the domain free of packages and Node built-ins', () => {
    expect(packagesOf('src/domain/')).toEqual([]);
  });

  it('keeps the rrule library where it is called for one year at a time', () => {
    const importers = sources.filter(({ packages }) => packages.includes('rrule')).map(({ path }) => path);
    expect(importers).toEqual(['src/services/schedule/year-days.ts']);
  });

  it('lets workflow code import the workflow SDK alone', () => {
    const allowed = ['@temporalio/workflow', '@temporalio/common'];
    expect(packagesOf('workflows/').filter(({ name }) => !allowed.includes(name))).toEqual([]);
  });

  it('names the workflow bundle entry only where bundles are made', () => {
    const importers = sources.filter(({ files }) => files.includes('workflows/index.ts')).map(({ path }) => path);
    expect(importers).toEqual([]);
  });
});

describe('findCycles', () => {
  it('finds a ring and nothing in a tree', () => {
    const file = (path: string, ...files: string[]): SourceFile => ({ path, files, packages: [] });
    expect(findCycles([file('a', 'b', 'c'), file('b', 'c'), file('c')])).toEqual([]);
    expect(findCycles([file('a', 'b'), file('b', 'c'), file('c', 'a')])).toEqual([['a', 'b', 'c', 'a']]);
  });
});
