import { cruise, type ICruiseResult } from 'dependency-cruiser';
import type { Source } from './render-structure.ts';

/** A source with the packages and Node built-ins it imports. */
export interface ReadSource extends Source {
  packages: readonly string[];
  /** Those of its imports that are not `import type`. */
  loads: readonly string[];
  /** Whether an import leads back to the file itself. */
  isInCycle: boolean;
}

/** Every source file of the application and its tools with its imports, including type-only ones. */
export async function readSources(
  folders = ['src', 'packages', 'web/src', 'temporal', 'workflows', 'workers', 'tools'],
): Promise<ReadSource[]> {
  const { output } = await cruise(folders, {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    ruleSet: { forbidden: [{ name: 'no-cycle', from: {}, to: { circular: true } }] },
    validate: true,
  });
  return (output as ICruiseResult).modules
    .filter(({ source }) => folders.some((folder) => source.startsWith(`${folder}/`)))
    .map(({ source, dependencies }) => {
      // The packages of this repository are imported by their names.
      const local = dependencies.filter(
        ({ dependencyTypes, resolved }) =>
          dependencyTypes.includes('local') || /^packages\/[^/]+\/(?!node_modules\/)/.test(resolved),
      );
      return {
        path: source,
        imports: local.map((to) => to.resolved),
        loads: local.filter((to) => !to.dependencyTypes.includes('type-only')).map((to) => to.resolved),
        packages: dependencies.filter((to) => !local.includes(to)).map((to) => to.module),
        isInCycle: dependencies.some(({ circular }) => circular),
      };
    });
}
