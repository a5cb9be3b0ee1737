import { archiveProfile, executeProfile, patchProfile, previewChangedDates } from './changes.ts';
import { createProfile, previewDates } from './create.ts';
import { listAudits, listDates, listRuns, readCompliance } from './history.ts';
import type { UsgProfilesDeps } from './model.ts';
import { listProfiles, readProfile, readTaggedProfile } from './reads.ts';

export type UsgProfilesService = ReturnType<typeof createUsgProfilesService>;

/** @see docs/api-conventions.md#usg-profiles */
export function createUsgProfilesService(deps: UsgProfilesDeps) {
  return {
    list: listProfiles.bind(null, deps),
    get: readProfile.bind(null, deps),
    read: readTaggedProfile.bind(null, deps),
    create: createProfile.bind(null, deps),
    patch: patchProfile.bind(null, deps),
    archive: archiveProfile.bind(null, deps),
    execute: executeProfile.bind(null, deps),
    compliance: readCompliance.bind(null, deps),
    runs: listRuns.bind(null, deps),
    audits: listAudits.bind(null, deps),
    dates: listDates.bind(null, deps),
    previewDates: previewDates.bind(null, deps),
    previewChangedDates: previewChangedDates.bind(null, deps),
  };
}
