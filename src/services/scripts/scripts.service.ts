import { archiveScript, createScript, patchScript, redactScript } from './changes.ts';
import type { ScriptsDeps } from './model.ts';
import { readFile, readScript, readScripts, readVersion, readVersions } from './reads.ts';
import { executeScript } from './runs.ts';

export type ScriptsService = ReturnType<typeof createScriptsService>;

/** Scripts that are not visible to the caller are reported as UnknownScript. @see docs/api-conventions.md#scripts */
export function createScriptsService(deps: ScriptsDeps) {
  return {
    list: readScripts.bind(null, deps),
    get: readScript.bind(null, deps.db),
    create: createScript.bind(null, deps),
    patch: patchScript.bind(null, deps),
    versions: readVersions.bind(null, deps),
    version: readVersion.bind(null, deps),
    attachment: readFile.bind(null, deps),
    archive: archiveScript.bind(null, deps),
    redact: redactScript.bind(null, deps),
    execute: executeScript.bind(null, deps),
  };
}
