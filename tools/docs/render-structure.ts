import { AREAS, LAYERS } from './structure.ts';

/** A file and the project files that it imports, as paths from the root. */
export interface Source {
  path: string;
  imports: readonly string[];
}

/** The layer of a file, or nothing. */
export function layerOf(path: string): string | undefined {
  return LAYERS.find((layer) => path.startsWith(`${layer.path}/`))?.path;
}

/** The section of the architecture page: both tables, and a Mermaid graph of the layers' dependencies. */
export function renderStructure(sources: readonly Source[]): string {
  return [
    '| Layer | Holds | May use |',
    '|---|---|---|',
    ...LAYERS.map(
      ({ path, holds, mayUse }) => `| \`${path}\` | ${holds} | ${mayUse.map(code).join(', ') || 'nothing'} |`,
    ),
    '',
    '```mermaid',
    'flowchart BT',
    ...edgesOf(sources).map(([from, to]) => `  ${nodeOf(from)} --> ${nodeOf(to)}`),
    '```',
    '',
    '| Area | Holds | May use, in its layer |',
    '|---|---|---|',
    ...AREAS.map(
      ({ name, holds, mayUse }) => `| \`${name}\` | ${holds} | ${mayUse.map(code).join(', ') || 'nothing'} |`,
    ),
  ].join('\n');
}

function edgesOf(sources: readonly Source[]): Array<[string, string]> {
  const edges = sources.flatMap(({ path, imports }) =>
    imports.map((target) => `${layerOf(path)} ${layerOf(target)}`).filter((edge) => !edge.includes('undefined')),
  );
  return [...new Set(edges)]
    .sort()
    .map((edge) => edge.split(' ') as [string, string])
    .filter(([from, to]) => from !== to && !from.startsWith('tools/'));
}

function nodeOf(layer: string): string {
  return `${layer.replaceAll(/[^a-z]/g, '_')}["${layer}"]`;
}

function code(text: string): string {
  return `\`${text}\``;
}
